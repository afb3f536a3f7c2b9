#!/usr/bin/env python3
"""The made-up device of the page on adapters: fake_device.py PROGRAM ROOT [CASE …]. All its times are SIMULATED."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
failures = Failures()
work = scratch()
STEPS = 20


def case_its_work_is_booked_as_long_as_it_took():
    file = work / "profile.json"
    done = subprocess.run([PROGRAM], env={**os.environ, "ADAPTYST": f"engine=inline,output={file}"}, capture_output=True,
                          text=True, timeout=60, check=False)
    failures.equal(done.returncode, 0, "the example runs")
    failures.check("SIMULATED" in done.stdout, "it says what it is", done.stdout)
    failures.check("SIMULATED device" in done.stdout + done.stderr, "so does the report", done.stdout + done.stderr)
    profile = profiles.read(file.read_text())
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
    rows = {"/".join(region["path"]): region for region in profile["regions"]}
    # The fake device counts its own nanoseconds, of which it has 80 in a million too many.
    for name, length_us in (("interior", 900), ("boundary", 200)):
        row = rows[f"step/{name}"]
        failures.equal((row["count"], row["kind"]), (STEPS, "kernel"), name)
        expected = STEPS * length_us * 1000 / (1 + 80e-6)
        failures.check(abs(row["total_ns"] - expected) < STEPS * 1000, f"{name} lasts as long as it does", row["total_ns"])
    failures.equal(rows["step/wait for the fake device"]["kind"], "wait", "the host waits")
    device = next(entry for entry in profile["devices"] if entry["kind"] == "accelerator")
    both = rows["step/interior"]["total_ns"] + rows["step/boundary"]["total_ns"]
    failures.check(rows["step/interior"]["total_ns"] <= device["busy_ns"] < both - STEPS * 100_000, "two queues at once are busy once",
                   (device["busy_ns"], both))
    failures.check(abs(device["clock"]["drift_ppm"] + 80) < 40, "its clock's drift is found", device["clock"])
    failures.check(device["clock"]["sync_points"] >= 2, "from enough points", device["clock"])


def case_the_adapter_is_short_and_the_page_shows_it():
    adapter = (ROOT / "examples/fake_device/adapter.hpp").read_text()
    failures.check(len(adapter.splitlines()) < 100, "fewer than 100 lines")
    parts = re.findall(r" *// \[(\w+)\]\n(.*?) *// \[end\]\n", adapter, re.S)
    page = (ROOT / "docs/adding-a-device.md").read_text()
    blocks = re.findall(r"```cpp\n(.*?)```", page, re.S)
    for name, code in parts:
        failures.check(any(same(block, code) for block in blocks), f"the page has the part {name} as it is", code)
    failures.check(len(parts) >= 5, "the adapter has its parts")


def same(block, code):
    return [line.strip() for line in block.strip().splitlines()] == [line.strip() for line in code.strip().splitlines()]


run_cases(globals(), sys.argv[3:], failures)
