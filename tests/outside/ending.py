#!/usr/bin/env python3
"""What is said of programs that take events with them: ending.py ADAPTYST PROGRAM ENGINE [CASE …]

PROGRAM is abrupt_end."""
import json
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, PROGRAM, ENGINE = sys.argv[1:4]
STATUS = {"kill": -signal.SIGKILL, "_exit": 0, "abort": -signal.SIGABRT, "exec": 0, "exit": 0}
ABRUPT = [how for how in STATUS if how != "exit"]
LIMIT = 60  # seconds that nothing here comes near to
failures = Failures()
work = scratch()


def observe(how, milliseconds, *options):
    """What the program has counted, its account, and the table."""
    written = work / "profile.json"
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", f"--output={written}", *options, "--", PROGRAM, str(milliseconds), how],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, STATUS[how], f"{how}: the program's status")
    account = json.loads(written.read_text())["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), f"{how}: the account adds up")
    again = subprocess.run([ADAPTYST, "report", written], capture_output=True, text=True, timeout=LIMIT, check=True)
    for table in (done.stderr, again.stdout):
        failures.equal("ended without telling" in " ".join(table.split()), "unread" in account, f"{how}: the table says what the profile says")
    return int(done.stdout), account, done.stderr


def check_unread(how, account, table):
    failures.check(account["lost"].get("not_read", 0) > 0, f"{how}: it has lost events", account)
    unread = account.get("unread", {})
    failures.equal(unread.get("programs"), 1, f"{how}: one program")
    failures.check(0 < unread.get("up_to_ns", 0) < 10e9, f"{how}: since when", unread)
    failures.check(" 0 lost" not in table and "not_read" in table and "about" in table, f"{how}: the table says so", table)


def case_before_the_first_reading():
    for how in ABRUPT:
        _, account, table = observe(how, 400)
        check_unread(how, account, table)


def case_between_readings():
    for how in ABRUPT:
        truth, account, table = observe(how, 1550, "--interval=0.5")
        check_unread(how, account, table)
        failures.check(truth / 2 < account["begun"] < 2 * truth, f"{how}: about as many as there were", (truth, account))


def case_all_in_the_kernel():
    """There, all is read."""
    if ENGINE != "ebpf":
        return
    for how in ABRUPT:
        truth, account, _ = observe(how, 300, "--overhead=none")
        failures.equal((account["ended"] + account["open"], account["lost"], account.get("unread")), (truth, {}, None), f"{how}: every event")


def case_as_it_should():
    for options in ([], ["--overhead=none"]):
        truth, account, _ = observe("exit", 400, *options)
        failures.equal((account["lost"], account.get("unread")), ({}, None), "nothing is lost")
        if options:
            failures.equal(account["ended"], truth, "every event")


run_cases(globals(), sys.argv[4:], failures)
