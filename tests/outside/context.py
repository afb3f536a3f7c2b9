#!/usr/bin/env python3
"""The kernel's figures of regions, read from outside: context.py ADAPTYST PROGRAM COLLECTING ENGINE [CASE …]

The program's regions sleep for a time that is known; the markers are counted by either engine. COLLECTING is the same program
with a collector of its own."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402
from states import more_pauses  # noqa: E402

ADAPTYST, PROGRAM, COLLECTING, ENGINE = sys.argv[1:5]
failures = Failures()
profile_file = scratch() / "profile.json"
LIMIT = 60  # seconds that nothing here comes near to
TIMES, PAUSE_US = 100, 1000
BLOCKED = ("sleep_ns", "lock_ns", "io_ns", "other_ns")


def observe(subcommand, *words):
    done = subprocess.run([ADAPTYST, subcommand, f"--engine={ENGINE}", "--context=cpu,faults", "--format=none", "--overhead=none",
                           f"--output={profile_file}", *map(str, words)], capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    if not failures.check(profile_file.exists(), "a profile was written", done.stderr):
        return {"regions": [], "context": {"threads": 0, "lost": {}}}
    profile = profiles.read(profile_file.read_text())
    profile_file.unlink()
    return profile


def run(*words):
    return observe("run", "--", PROGRAM, *words)


def region(profile, *path):
    found = [row for row in profile["regions"] if row["path"] == list(path)]
    failures.equal(len(found), 1, f"{'/'.join(path)} is there once")
    return found[0]


def check_sleep(row, times, label):
    """Checks that the region slept as often as the program printed; a busy machine only makes it longer, and then it waited for a core. Where a
    hypervisor takes the processor before the switch, time is over without one: that may be so now and then."""
    context = row["context"]
    if not failures.check(context is not None, label + ": the kernel knows of it"):
        return
    slept = times - times // 20
    least = slept * PAUSE_US * 1000
    failures.check(least <= context["sleep_ns"] <= row["total_ns"], label + ": it slept", (least, context, row["total_ns"]))
    off = context["runnable_ns"] + sum(context[reason] for reason in BLOCKED)
    failures.equal(context["on_cpu_ns"], row["total_ns"] - off, label + ": the parts are the whole")
    failures.check(context["voluntary_switches"] >= slept, label + ": it left its core each time", context)


def check_lost(profile, times, threads):
    """A kernel may keep a wake-up to itself, as of an interrupt over a thread that no process may trace: that is counted."""
    lost = dict(profile["context"]["lost"])
    failures.check(lost.pop("no_wakeup", 0) <= threads * times // 20, "wake-ups are reported", profile["context"])
    failures.equal(lost, {}, "nothing is lost")


def case_run():
    profile = run(TIMES, 0, PAUSE_US)
    # Two programs of some 100 ns a switch; no processor takes a hundred times as long.
    cost_ns, switches = profile["context"]["cost_ns"], profile["devices"][0]["context"]["voluntary_switches"]
    failures.check(20 * switches < cost_ns < 20_000 * switches, "what it has cost is reported", (cost_ns, switches))
    for path in [("thread",), ("outer",), ("outer", "inner")]:
        row = region(profile, *path)
        failures.equal(row["count"], TIMES, f"{path[-1]} is counted")
        check_sleep(row, TIMES, path[-1])
    failures.equal(profile["context"]["threads"], 2, "both threads have announced themselves")
    check_lost(profile, TIMES, 2)
    outer, inner = region(profile, "outer"), region(profile, "outer", "inner")
    failures.equal(outer["context"]["sleep_ns"] - outer["self_context"]["sleep_ns"], inner["context"]["sleep_ns"],
                   "what is below is not in itself")
    host = profile["devices"][0]["context"]
    failures.check(host["sleep_ns"] >= outer["context"]["sleep_ns"] + region(profile, "thread")["context"]["sleep_ns"],
                   "the host has it all", host)


def case_children_and_exec():
    profile = run(TIMES, 2, PAUSE_US, 1)
    if ENGINE != "ebpf":  # recorders go with the program before the last look at them; then there is more off the core than wall
        context = region(profile, "outer")["context"]
        failures.check(context["on_cpu_ns"] is None or context["on_cpu_ns"] >= 0, "never less than nothing", context)
        return
    check_sleep(region(profile, "outer"), 2 * TIMES, "before and after exec()")
    child = region(profile, "child")
    failures.equal(child["count"], 4 * TIMES, "children are counted")
    failures.check(child["context"] is not None and child["context"]["sleep_ns"] == 0, "children did not sleep", child["context"])
    check_lost(profile, 2 * TIMES, 2)


def case_attach():
    """Threads that run already are known from their next region on."""
    running = subprocess.Popen([PROGRAM, "1000000", "0", str(PAUSE_US)], stdout=subprocess.DEVNULL)
    try:
        more_pauses(running.pid, 20)
        profile = observe("attach", "--duration", "1", running.pid)
    finally:
        running.kill()
        running.wait()
    row = region(profile, "thread")
    failures.check(row["count"] >= 50, "it went on", row["count"])
    if failures.check(row["context"] is not None, "the kernel knows of it"):
        context = row["context"]
        # One may be open, and has slept; one was open when we came, and is not counted.
        least = (row["count"] - 1) * PAUSE_US * 1000
        failures.check(least <= context["sleep_ns"] <= row["total_ns"] + 10**8, "it slept", (least, context))
    failures.equal(profile["context"]["threads"], 2, "both threads have announced themselves")


def case_functions():
    if ENGINE != "ebpf":
        return
    profile = observe("run", "--functions", f"{PROGRAM}:unmarked_pause", "--", PROGRAM, TIMES, 0, PAUSE_US)
    for above in [("thread",), ("outer", "inner")]:
        pause = region(profile, *above, "unmarked_pause")
        check_sleep(pause, TIMES, "a function below " + above[-1])
        around = region(profile, *above)
        failures.check(around["self_context"]["sleep_ns"] < pause["context"]["sleep_ns"] / 10,
                       "and not the region around it", around["self_context"])
        check_sleep(around, TIMES, "the region around a function")



def case_threads_that_never_announced_themselves():
    """They slept all the time: before, they were shown to have run all the time."""
    if ENGINE != "ebpf":
        return  # a program that collects for itself can be attached to with ebpf alone
    program = subprocess.Popen([COLLECTING, "2000", "0", "1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "ADAPTYST": "engine=inline,report=none,overhead=none"})
    more_pauses(program.pid, 20)
    done = subprocess.run([ADAPTYST, "attach", "--duration=1", "--engine=ebpf", f"--output={profile_file}", str(program.pid)],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    program.wait(LIMIT)
    profile = profiles.read(profile_file.read_text())
    profile_file.unlink()
    for name in (("outer",), ("outer", "inner")):
        row = region(profile, *name)
        failures.check(row["count"] > 10, f"{name}: it ran", row)
        failures.equal([row.get(key) for key in ("context", "self_context", "samples")], [None] * 3, f"{name}: and nothing is known of its threads")
    failures.check(profile["devices"][0].get("context") is None, "nor of all", profile["devices"][0])
    failures.equal(profile["context"]["lost"], {"not_announced": 1}, "which is counted")
    failures.check("not_announced: the kernel does not know 1 thread" in " ".join(done.stderr.split()), "and reported", done.stderr)
    failures.check("its threads" not in done.stderr and "100%    0%    0%" not in done.stderr, "without zeros", done.stderr)


run_cases(globals(), sys.argv[5:], failures)
