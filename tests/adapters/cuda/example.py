#!/usr/bin/env python3
"""examples/cuda_copies on a stub of the CUDA runtime, which takes time and copies nothing: example.py PROGRAM"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

failures = Failures()
file = scratch() / "profile.json"
done = subprocess.run([sys.argv[1]], env={**os.environ, "ADAPTYST": f"engine=inline,output={file}"}, capture_output=True, text=True,
                      timeout=60, check=False)
failures.equal(done.returncode, 0, "the example runs")
profile = profiles.read(file.read_text())
rows = {"/".join(row["path"]): row for row in profile["regions"]}
COPY_NS = (32 << 20) / 10  # at the stub's 10 GB/s
for name, kind in (("upload", "copy_to"), ("download", "copy_from")):
    row = rows[f"step/{name}"]
    failures.equal((row["count"], row["kind"]), (20, kind), name)
    failures.equal(row["attributes"]["bytes"]["sum"], 20 * (32 << 20), f"bytes of {name}")
    failures.check(COPY_NS * 0.999 < row["total_ns"] / 20 < COPY_NS * 1.05, f"{name} lasts as long as it does", row["total_ns"] / 20)
gpu = next(device for device in profile["devices"] if device["kind"] == "gpu")
both = rows["step/upload"]["total_ns"] + rows["step/download"]["total_ns"]
failures.check(gpu["copy_ns"] < 0.7 * both, "two streams at once are busy once", (gpu["copy_ns"], both))
failures.equal(rows["step/wait for the copies"]["kind"], "wait", "the host waits")
failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
failures.exit(min_checks=8)
