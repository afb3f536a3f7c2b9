#!/usr/bin/env python3
"""Profiles of 1,024 simulated ranks, merged over SimGrid's SMPI: simulated.py SMPIRUN PROGRAM"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from compiling import Failures, scratch  # noqa: E402

SMPIRUN, PROGRAM = sys.argv[1:3]
LIMIT = 240  # seconds that nothing here comes near to
NODES, RANKS_PER_NODE = 64, 16
failures = Failures()
work = scratch()
platform = work / "platform.xml"
platform.write_text(f"""<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="simulated" prefix="n" suffix="" radical="0-{NODES - 1}" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
""")
hosts = work / "hosts"
hosts.write_text("".join(f"n{node}\n" * RANKS_PER_NODE for node in range(NODES)))
for ranks in (2, 3, 1000, NODES * RANKS_PER_NODE):
    done = subprocess.run([SMPIRUN, "-np", str(ranks), "-platform", platform, "-hostfile", hosts, "--cfg=smpi/privatization:no",
                           "--cfg=smpi/simulate-computation:no", PROGRAM], capture_output=True, text=True, timeout=LIMIT, check=False, cwd=work)
    failures.equal(done.returncode, 0, f"{ranks} ranks: status")
    failures.check(f"{ranks} ranks merged" in done.stdout, f"{ranks} ranks: the first has what all have", done.stdout[-2000:] + done.stderr[-2000:])
failures.exit(min_checks=8)
