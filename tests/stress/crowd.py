#!/usr/bin/env python3
"""As many threads, processes, call paths and levels as a node has, and every event counted: crowd.py ADAPTYST PROGRAM COLLECTING ENGINE [CASE …]

PROGRAM and COLLECTING are crowd, which counts what it passes next to its markers; COLLECTING has a collector of its own."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, COLLECTING, ENGINE = sys.argv[1:5]
LIMIT = 500  # seconds that nothing here comes near to
failures = Failures()
work = scratch()


def passed(files):
    """By path, what the programs have counted themselves."""
    sums = collections.Counter()
    for file in files:
        counts = json.loads(file.read_text())
        for at, count in enumerate(counts["path"]):
            sums[(f"path {at}",)] += count
        for at, count in enumerate(counts["level"]):
            sums[("level",) * (at + 1)] += count
        sums[("outer",)] += counts["outer"][0]
        sums[("outer", "inner")] += counts["inner"][0]
    return +sums  # without those that are 0


def check(label, profiles, files):
    expected = passed(files)
    found = collections.Counter()
    for profile in profiles:
        account = profile["accounting"]
        failures.equal((account["lost"], account["open"], account["unmatched"], account.get("unread")), ({}, 0, 0, None), f"{label}: nothing is lost")
        failures.equal(account["begun"], account["ended"], f"{label}: all has ended")
        for row in profile["regions"]:
            found[tuple(row["path"])] += row["count"]
    wrong = {path[-1]: (found[path], count) for path, count in (expected | found).items() if not found[path] == expected[path]}
    failures.equal(len(found), len(expected), f"{label}: the call paths")
    failures.check(not wrong, f"{label}: every event of every call path", str(dict(list(wrong.items())[:5])))
    failures.equal(sum(profile["accounting"]["ended"] for profile in profiles), sum(expected.values()), f"{label}: all events")


def crowd(label, processes=1, threads=1, paths=1, rounds=1, levels=0, waves=0):
    """Both ways to look at it."""
    amounts = [str(amount) for amount in (processes, threads, paths, rounds, levels, waves)]
    folder = work / label.replace(" ", "_")
    folder.mkdir()
    began = time.monotonic()
    observed = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--overhead=none", "--context=none", f"--output={folder}/profile.json", "--",
                               PROGRAM, folder / "observed", *amounts], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(observed.returncode, 0, f"{label}: the program's status")
    files = list(folder.glob("observed.*"))
    failures.equal(len(files), processes, f"{label}: the processes")
    profile = profiles.read((folder / "profile.json").read_text())
    failures.equal(len(profile.get("processes", [0])), processes, f"{label}: the processes that were seen")
    check(f"{label}, observed", [profile], files)
    rows = {tuple(row["path"]): row for row in profile["regions"]}
    for path, each in ((("path 0",), rounds), (("level",) * levels, 1), (("outer",), 1)):
        if path in rows:
            failures.equal(rows[path]["threads"] * each, rows[path]["count"], f"{label}: the threads of {path[-1]}")
    table = " ".join(observed.stderr.split())
    total = sum(passed(files).values())
    shown = f"{total:,}" if total < 10_000_000 else ""  # else with three digits
    failures.check(f"{shown} events begun, 0 lost" in table, f"{label}: the table reports it", observed.stderr[-2000:])
    took = time.monotonic() - began

    began = time.monotonic()
    own = subprocess.run([COLLECTING, folder / "own", *amounts], env={**os.environ, "ADAPTYST": f"engine={ENGINE}"}, capture_output=True, text=True,
                         timeout=LIMIT, check=False)
    failures.equal(own.returncode, 0, f"{label}: the status of the one that collects")
    files = [file for file in folder.glob("own.*") if file.suffix != ".json"]
    failures.equal(len(files), processes, f"{label}: the processes that collect")
    check(f"{label}, collected", [profiles.read(file.read_text()) for file in folder.glob("own.*.json")], files)
    print(f"{label}: {total} events, {took:.1f} s observed, {time.monotonic() - began:.1f} s collected", flush=True)


def case_threads_with_thousands_of_call_paths():
    """What the kernel has room for is less."""
    crowd("64 threads with 5000 call paths", threads=64, paths=5000 if ENGINE == "inline" else 50, rounds=9)


def case_hundreds_of_threads():
    crowd("256 threads", threads=256, paths=500 if ENGINE == "inline" else 10, rounds=20)


def case_levels():
    crowd("1000 levels", threads=16, levels=1000)


def case_processes():
    crowd("64 processes", processes=64, threads=8, paths=200, rounds=10, levels=20, waves=2)


def case_short_lived_threads():
    """More than 16 bits can number."""
    crowd("66000 threads", threads=250, waves=264)


run_cases(globals(), sys.argv[5:], failures)
