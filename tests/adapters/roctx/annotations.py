#!/usr/bin/env python3
"""Programs with ROCTX, observed by the command, with and without a real library: annotations.py ADAPTYST LINKED ALONE LIBRARY LATE ENGINE"""
import collections
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, LINKED, ALONE, LIBRARY, LATE, ENGINE = sys.argv[1:7]
failures = Failures()
profile_file = scratch() / "profile.json"
ANSWERS = "errno 77\n0 1 1 0 -1\n"


def check_counts(*program, more=()):
    """Runs the program under the command. Returns its output."""
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", "--overhead=none", f"--output={profile_file}", "--with=roctx", "--",
                           *program], capture_output=True, text=True, timeout=100, check=False)
    failures.equal((done.returncode, done.stderr), (0, ""), "the program ends as ever")
    profile = profiles.read(profile_file.read_text(encoding="utf-8"))
    counts = collections.Counter()
    for row in profile["regions"]:
        if row["count"] != 0:
            counts["/".join(row["path"])] += row["count"]
    expected = {"a": 1, "a/" + "n" * 127: 1, "crossed/own": 1, "unnamed range": 1, "twice": 1}
    for step in ("step 0", "step 1"):
        for path in ("", "/own", "/own/leaf", "/own/leaf/mark", "/transfer", "/overlapping"):
            expected[step + path] = 15
    expected.update(dict.fromkeys(more, 1))
    failures.equal(dict(counts), expected, "counts by path")
    account = profile["accounting"]
    # The crossed range is lost; its pop, the third pop and the second stop have no range to end.
    failures.equal((account["unmatched"], account["lost"], account["open"]), (4, {"unmatched": 1}, 0), "unmatched ends")
    return done.stdout


def case_with_a_real_library_every_call_is_passed_on():
    received = "marks 30 pushes 64 pops 65 starts 61 stops 61 unknown 0\n"
    failures.equal(check_counts(LINKED), ANSWERS + received, "what the program and the library get")


def case_without_a_real_library_the_adapter_answers():
    failures.equal(check_counts(ALONE, LIBRARY), ANSWERS, "what the program gets")


def case_a_real_library_that_is_loaded_later_gets_the_calls_after_it():
    """It gets no end of a range that began before."""
    received = "marks 30 pushes 64 pops 65 starts 61 stops 61 unknown 0\n"
    printed = check_counts(ALONE, LIBRARY, LATE, more=("early", "before", "before/started before"))
    failures.equal(printed, "0\n" + ANSWERS + received, "what the program and the library get")


def case_without_the_adapter():
    done = subprocess.run([LINKED], capture_output=True, text=True, timeout=100, check=False)
    failures.equal(done.stdout, ANSWERS + "marks 30 pushes 64 pops 65 starts 61 stops 62 unknown 0\n", "the program alone")


run_cases(dict(globals()), sys.argv[7:], failures)
