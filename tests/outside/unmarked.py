#!/usr/bin/env python3
"""What is said of a program without markers: unmarked.py ADAPTYST UNMARKED MARKED [CASE …]

UNMARKED is unmarked_work, of which is known where it computes; MARKED is marked_program."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, UNMARKED, MARKED = sys.argv[1:4]
LIMIT = 60  # seconds that nothing here comes near to
failures = Failures()
profile_file = scratch() / "profile.json"


def run(*arguments, engine="auto"):
    done = subprocess.run([ADAPTYST, "run", f"--engine={engine}", f"--output={profile_file}", "--", *map(str, arguments)],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    return done, json.loads(profile_file.read_text())


def case_its_functions():
    for arguments in ([UNMARKED, 60], [UNMARKED, 60, "child"], ["sh", "-c", f"{UNMARKED} 60; true"]):
        done, profile = run(*arguments)
        failures.equal(done.returncode, 0, "the program's status")
        found = profile.get("functions", {})
        failures.check(found.get("work_long", 0) > found.get("work_short", 0) > 0, f"{arguments}: where it computes", found)
        failures.equal(max(found, key=found.get, default=None), "work_long", f"{arguments}: most of it")
        table = done.stderr
        failures.check("no markers" in table and "work_long" in table and "ADAPTYST_REGION" in table, "the table says so", table)
        failures.check("0 events" not in table and "0 ns" not in table and "device" not in table, "without zeros", table)
        again = subprocess.run([ADAPTYST, "report", profile_file], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
        failures.equal(again.split("no markers")[1], table.split("no markers")[1].rpartition("adaptyst: written")[0], "so does the report of its file")


def case_without_ebpf():
    done, profile = run(UNMARKED, 1, engine="inline")
    failures.check("no markers" in done.stderr and "doctor" in done.stderr, "what can be done", done.stderr)
    failures.check("functions" not in profile, "nothing is made up", profile)


def case_one_with_markers():
    for arguments in ([MARKED, 100], ["sh", "-c", f"{MARKED} 100; true"]):
        done, profile = run(*arguments)
        failures.check("no markers" not in done.stderr and "functions" not in profile, "has a report of its own", done.stderr)
        failures.check("samples" not in profile, "and no samples", profile.get("samples"))


run_cases(globals(), sys.argv[4:], failures)
