#!/usr/bin/env python3
"""What is known of programs that end without goodbye: ending.py ADAPTYST PROGRAM ENGINE [CASE …]

PROGRAM is abrupt_end, which counts its regions itself. The observer holds the recorder of each process, and reads it when the
process is gone. Where a limit on the size of files forbids that, the recorder is the process's alone, and what was not read
goes with it. $ADAPTYST_KILLS: how many programs are ended at random moments (10)."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from abrupt_end import ABRUPT, STATUS, kill_all, make_counts, read_counts, short  # noqa: E402
from cases import run_cases  # noqa: E402
from compiling import AS_NOBODY, Failures, scratch  # noqa: E402
import profiles  # noqa: E402
from states import is_watched, until  # noqa: E402

ADAPTYST, PROGRAM, ENGINE = sys.argv[1:4]
ALONE = ["prlimit", "--fsize=65536:65536"]
KILLS = int(os.environ.get("ADAPTYST_KILLS", "10"))
LIMIT = 60  # seconds that nothing here comes near to
failures = Failures()
work = scratch()
work.chmod(0o777)


def observe(how, milliseconds, *options, before=(), threads=1, children=0, user=(), parent_last=False):
    """How many regions have been completed, and begun; the profile; the table."""
    written = work / f"{random.getrandbits(64):x}.json"
    file = work / "counts"
    make_counts(file, threads * (1 + children))
    with subprocess.Popen([*user, ADAPTYST, "run", f"--engine={ENGINE}", f"--output={written}", *options, "--", *before, PROGRAM,
                           str(milliseconds), how, file, str(threads), str(children)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as running:
        if how == "wait":
            kill_all(file, milliseconds / 1000, parent_last)
        _, table = running.communicate(timeout=LIMIT)
    failures.equal(running.returncode, STATUS[how], f"{how}: the program's status")
    profile = profiles.read(written.read_text())
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), f"{how}: the account adds up")
    again = subprocess.run([ADAPTYST, "report", written], capture_output=True, text=True, timeout=LIMIT, check=True)
    for text in (table, again.stdout):
        failures.equal("ended without telling" in " ".join(text.split()), "unread" in account, f"{how}: the table says what the profile says")
    counts = read_counts(file)
    return sum(count[2] for count in counts), sum(count[1] for count in counts), profile, table


def whatever():
    """A way to end, and a program."""
    return random.choice(ABRUPT + ["wait"] * 3), {"threads": random.choice([1, 3, 12]), "children": random.choice([0, 0, 3]),
                                                  "user": AS_NOBODY if ENGINE == "inline" and os.geteuid() == 0 and random.random() < 0.5 else ()}


def case_every_event():
    for at in range(KILLS):
        how, program = whatever()
        completed, begun, profile, table = observe(how, random.choice([random.uniform(1, 50), 300]) if how == "wait" else random.randrange(1, 300),
                                                   "--overhead=none", **program)
        account = profile["accounting"]
        label = f"{how}, {program}"
        failures.check(completed <= short(profile, failures)[0] <= begun, f"{label}: every event", (completed, profile["regions"], begun))
        undelivered = account["lost"].pop("not_delivered", 0) if ENGINE == "ebpf" and how == "wait" else 0  # killed at the probe
        failures.equal((account["lost"], account.get("unread")), ({}, None), f"{label}: nothing is lost")
        failures.check(undelivered <= program["threads"] * (1 + program["children"]), f"{label}: one a thread", undelivered)
        failures.check(f" {undelivered} lost" in table, f"{label}: the table reports it", table)


def case_devices():
    """The work on a device that threads had reported before they were killed, with and without a child."""
    os.environ["OPERATIONS"] = "1"
    for children in (0, 1) * max(1, KILLS // 4):
        completed, begun, profile, _ = observe("wait", random.randrange(100, 600), "--overhead=none", threads=3, children=children)
        device = profile["devices"][1]
        failures.check(completed <= device["operations"] <= begun, "every operation", (completed, begun, device))
        failures.equal((device["busy_ns"], device["work_ns"]), (10 * device["operations"],) * 2, "each of them once")
        failures.equal((device["late"], device["skipped"]), (0, 0), "none is late")
    del os.environ["OPERATIONS"]


def case_within_the_stated_error():
    """At five standard errors, since this is done often."""
    beyond = 0
    for at in range(KILLS):
        how, program = whatever()
        completed, begun, profile, _ = observe(how, random.randrange(150, 400), **program)
        account = profile["accounting"]
        label = f"{how}, {program}"
        failures.equal((account["lost"], account.get("unread")), ({}, None), f"{label}: nothing is lost")
        count, error = short(profile, failures)
        beyond += not completed - 3 * error <= count <= begun + 3 * error
        within = 5 * error + 100  # and what was left out in the end, before the first was taken
        failures.check(completed - within <= count <= begun + within, f"{label}: as many as there were",
                       (completed, begun, count, error))
    print(f"{beyond} of {KILLS} beyond three stated errors")


def case_in_the_middle():
    """Where each thread was when it was killed, and for how long."""
    began = time.monotonic()
    _, _, profile, table = observe("wait", 300, threads=3, children=1, parent_last=True)
    took = time.monotonic() - began
    processes = profile.get("processes", [profile["process"]])
    failures.equal(len(processes), 2, "two processes")
    for process, outer in zip(sorted(processes, key=lambda entry: entry["pid"]), (["work"], ["launch", "work"])):
        last = process.get("ended_in", [])
        failures.equal(sum(place["threads"] for place in last), 3, "three threads")
        # A thread that was forked with the others is in none of their regions.
        failures.check(all(row["path"] in (outer, outer + ["short"], ["work"], ["work", "short"]) for row in last), "where", last)
        failures.check(any(row["path"][:len(outer)] == outer for row in last), "the thread that has forked", last)
        for row in last:
            least, most = (0.3, took) if row["path"][-1] == "work" else (0, took)
            failures.check(least <= row["age_ns"] / 1e9 <= most, "for how long", last)
        for row in last:
            failures.check(f"pid {process['pid']} ended in {' > '.join(row['path'])}, " in " ".join(table.split()), "the table reports it", table)
    for how in ("exit", "kill"):
        _, _, profile, table = observe(how, 100)
        failures.check("ended_in" not in profile["process"] and "ended in" not in table, f"{how}: in no region", table)


def attach(how):
    """The profile of a program that is attached to while it runs, and the fewest and the most regions that may be in it."""
    written = work / "attached.json"
    file = work / "counts"
    make_counts(file, 3)
    program = subprocess.Popen([PROGRAM, "60000", how, file, "3"], stdout=subprocess.DEVNULL)
    try:
        until(lambda: all(begun for _, begun, _ in read_counts(file)), "the program begins")
        before = sum(completed for _, _, completed in read_counts(file))
        observer = subprocess.Popen([ADAPTYST, "attach", f"--engine={ENGINE}", "--overhead=none", "--format=none", f"--output={written}",
                                     str(program.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        is_watched(program.pid, PROGRAM)
        after = sum(begun for _, begun, _ in read_counts(file))
        time.sleep(0.1)
        program.send_signal(signal.SIGUSR1)
        program.wait(LIMIT)
    finally:
        program.kill()
    failures.equal(observer.wait(LIMIT), 0, f"{how}: the observer ends with it")
    completed, begun = (sum(count[which] for count in read_counts(file)) for which in (2, 1))
    return profiles.read(written.read_text()), completed - after, begun - before


def case_attached():
    """Whoever may trace it gets what the program has not handed over."""
    for how in ABRUPT:
        profile, fewest, most = attach(how)
        failures.check(fewest > 100, f"{how}: it has run while it was observed", fewest)
        failures.check(fewest <= short(profile, failures)[0] <= most, f"{how}: every event since", (fewest, profile["regions"], most))
        failures.equal((profile["accounting"]["lost"], profile["accounting"].get("unread")), ({}, None), f"{how}: nothing is lost")


def case_limited_files():
    """Large enough for a smaller store."""
    completed, begun, profile, _ = observe("kill", 100, "--overhead=none", before=["prlimit", f"--fsize={1 << 28}"])
    failures.check(completed <= short(profile, failures)[0] <= begun, "every event", (completed, profile["accounting"], begun))


def case_timeline():
    """The file has the content of the rings at the end, or reports it as lost."""
    for how in ("_exit", "kill"):
        _, _, profile, _ = observe(how, 300, "--overhead=none", f"--output=trace:{work}/timeline.json", children=1)
        timeline = profile["timeline"]
        failures.equal(timeline["events"] + timeline["lost"], profile["accounting"]["ended"], f"{how}: all events")
        failures.check(timeline["events"] > 1000, f"{how}: some of them", timeline)


def check_unread(how, account, table):
    failures.check(account["lost"].get("not_read", 0) > 0, f"{how}: it has lost events", account)
    unread = account.get("unread", {})
    failures.equal(unread.get("programs"), 1, f"{how}: one program")
    failures.check(0 < unread.get("up_to_ns", 0) < 10e9, f"{how}: since when", unread)
    failures.check(" 0 lost" not in table and "not_read" in table and "~" in table, f"{how}: the table reports it", table)


def case_alone_before_the_first_reading():
    for how in ABRUPT:
        _, _, profile, table = observe(how, 400, before=ALONE)
        check_unread(how, profile["accounting"], table)


def case_alone_between_readings():
    for how in ABRUPT:
        truth, _, profile, table = observe(how, 1000, "--interval=0.2", before=ALONE)
        account = profile["accounting"]
        check_unread(how, account, table)
        failures.check(truth / 2 < account["begun"] < 2 * truth, f"{how}: about as many as there were", (truth, account))


def case_as_it_should():
    for before in ([], ALONE):
        for options in ([], ["--overhead=none"]):
            truth, _, profile, _ = observe("exit", 400, *options, before=before)
            account = profile["accounting"]
            failures.equal((account["lost"], account.get("unread")), ({}, None), "nothing is lost")
            if options:
                failures.equal(short(profile, failures)[0], truth, "every event")


run_cases(globals(), sys.argv[4:], failures)
