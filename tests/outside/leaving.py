#!/usr/bin/env python3
"""A collector in main() reports once, however the program leaves: leaving.py PROGRAM ENGINE [CASE …]"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

PROGRAM, ENGINE = sys.argv[1:3]
LIMIT = 60  # seconds that nothing here comes near to
failures = Failures()
work = scratch()


def leave(how, reports=1):
    """The profile, and the text on standard error."""
    written = work / f"{how}.json"
    done = subprocess.run([PROGRAM, how], capture_output=True, text=True, timeout=LIMIT, check=False,
                          env=dict(os.environ, ADAPTYST=f"engine={ENGINE},overhead=none,output={written}"))
    failures.equal(done.returncode, 3, f"{how}: the program's status")
    failures.equal(done.stderr.count("events begun"), reports, f"{how}: reports")
    failures.equal(written.exists(), reports != 0, f"{how}: a file")
    if not written.exists():
        return None
    profile = profiles.read(written.read_text())
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), f"{how}: the account adds up")
    counts = {"/".join(region["path"]): region["count"] for region in profile["regions"]}
    failures.equal((counts.get("work"), account["lost"]), (10, {}), f"{how}: nothing is lost")
    return counts, account, done


def case_in_main():
    for how in ("return", "exit", "snapshot", "stopped", "leaked", "static"):
        _, account, done = leave(how)
        failures.equal(account["open"], 0, f"{how}: nothing is open")
        failures.check("left" in done.stdout, f"{how}: all else is destroyed as ever", done.stdout)


def case_in_a_region():
    counts, account, done = leave("region")
    failures.equal(account["open"], 2, "two regions are open")
    failures.check("2 open" in done.stderr, "and it is reported", done.stderr)
    failures.equal((counts.get("outer", 0), counts.get("outer/inner", 0)), (0, 0), "they have not ended")


def check_open(account, threads):
    """What others end while the kernel's rows are read is known to the program alone, and counts as open."""
    if ENGINE != "ebpf":
        failures.check(account["open"] <= threads, "one a thread is open at most", account)


def case_among_other_threads():
    counts, account, _ = leave("beside")
    failures.check(counts.get("beside", 0) > 10, "what the others did", counts)
    check_open(account, 3)
    counts, account, _ = leave("thread")
    check_open(account, 1)
    leave("read")


def case_children():
    for how in ("children", "children_and_exit"):
        counts, _, _ = leave(how)
        failures.check(counts.get("busy", 0) > 10, f"{how}: the parent's", counts)


def case_a_child_with_its_own():
    """It has not got the file's name itself, but its parent has it."""
    if ENGINE == "ebpf":  # the child's code holds the parent's probes
        return
    counts, _, done = leave("collecting_child", reports=2)
    failures.check("child" not in counts, "the parent's file is the parent's", counts)
    others = list(work.glob("collecting_child-*.json"))
    failures.equal(len(others), 1, "the child has one of its own")
    failures.check(all(str(file) in done.stderr for file in others), "which is reported", done.stderr)
    failures.check(all("child" in file.read_text() for file in others), "with its regions")


def case_a_program_that_runs_itself():
    """One after the other, while it goes on."""
    counts, _, done = leave("twice", reports=3)
    failures.equal(counts, {"work": 10}, "the first has the name")
    others = list(work.glob("twice-*.json"))
    failures.equal(len(others), 2, "a file for each of the others")
    for file in others:
        failures.check(f"{file}; another process writes {work}/twice.json" in " ".join(done.stderr.split()), "it is reported", done.stderr)
        failures.equal([region["count"] for region in json.loads(file.read_text())["regions"]], [10], "and all is in it")


def case_abruptly():
    for how in ("_exit", "quick_exit"):
        leave(how, reports=0)


run_cases(globals(), sys.argv[3:], failures)
