#!/usr/bin/env python3
"""Real runs, five a side and by turns, compared: comparing.py ADAPTYST TWO_PHASES [--gate ROUNDS]

One region does 10 % more work. Whether that is found depends on what else the machine does: so it is reported, and only
--gate, for a machine that is at rest, fails when it is missed, or when the program differs from itself."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
GATE = sys.argv[3:4] == ["--gate"]
ROUNDS = int(sys.argv[4]) if GATE else 1
RUNS, STEPS, LIMIT = 5, 300, 60
failures = Failures()
work = scratch()


def run(file, percent):
    subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", f"--output={file}", "--", PROGRAM, str(STEPS), str(percent)],
                   check=True, capture_output=True, timeout=LIMIT)
    return str(file)


def taken_by_turns(percent):
    sides = [], []
    for turn in range(RUNS):
        for side, longer in zip(sides, (0, percent)):
            side.append(run(work / f"{turn}-{longer}-{len(sides[0])}-{len(sides[1])}.json", longer))
    return sides


def compared(old, new):
    words = [ADAPTYST, "diff", "--fail-above=5%", "--format=json", *old, "--", *new]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.check(done.returncode in (0, 1), "a comparison", done.stderr)
    found = json.loads(done.stdout)
    return done.returncode, {row["path"][-1]: row for row in found["regions"]}


def check_report(label, status, rows):
    for name, row in rows.items():
        low, high = row["interval"]
        print(f"{label}: {name} {row['change_of_mean']:+.1%} ({low:+.1%} … {high:+.1%}), p {row['p']:.3f}: {row['verdict']}; status {status}")


def say_what_was_run():
    profile = json.loads(pathlib.Path(run(work / "one.json", 10)).read_text())
    failures.equal(profile["metadata"], {"longer by": "10"}, "what the program says of its run")
    failures.equal(profile["process"]["arguments"], [PROGRAM, str(STEPS), "10"], "how it was started")
    failures.check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", profile["date"]), "when", profile["date"])
    failures.check(re.fullmatch(r"\d+\.\d+\.\d+", profile["version"]), "by whom", profile["version"])
    table = subprocess.run([ADAPTYST, "report", work / "one.json"], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    failures.check("of longer by 10" in table, "the table says so", table)


say_what_was_run()
found = raised = single = 0
for _ in range(ROUNDS):
    old, new = taken_by_turns(10)
    status, rows = compared(old, new)
    check_report("10 % more work in flux", status, rows)
    failures.equal(sorted(rows), ["advance", "flux"], "the regions")
    failures.equal((rows["flux"]["before"]["runs"], rows["flux"]["after"]["runs"]), (RUNS, RUNS), "runs of each side")
    found += status == 1 and rows["flux"]["verdict"] == "slower"
    same, again = taken_by_turns(0)
    status, rows = compared(same, again)
    check_report("the same program", status, rows)
    raised += status == 1
    single += sum(compared([first], [other])[0] for first, other in zip(same, again))
print(f"found {found} of {ROUNDS}; the same program failed {raised} of {ROUNDS}, of single runs {single} of {ROUNDS * RUNS}")
if GATE:
    failures.check(found >= 0.8 * ROUNDS, "10 % is found")
    failures.check(raised <= 0.05 * ROUNDS, "a program is as fast as itself")
failures.exit(min_checks=3)
