#!/usr/bin/env python3
"""10,000 threads one after the other and 2,000 at once, of a user without privileges: many_threads.py ADAPTYST PROGRAM [CASE …]"""
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import AS_NOBODY, Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
SHORT, TOGETHER, DESCRIPTORS, MAX_MIB, MAX_SECONDS = 10_000, 2_000, 512, 64, 100
FEW_DESCRIPTORS = 64  # if each thread is not opened by itself
MAX_TESTS, MORE_TESTS = 64, 512  # mean tests of a new thread whether another thread lives; if there is no memory, more
FEW = 500  # threads at once, for which each machine has memory
failures = Failures()
work = scratch(0o777)
started = []


def read_peak_kib(process):
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def watch(running, name, max_files):
    """Watches the memory and the descriptors of the observer to its end. Returns its output."""
    began = time.monotonic()
    most_kib = most_files = 0
    while running.poll() is None and time.monotonic() < began + MAX_SECONDS:
        try:
            most_kib = max(most_kib, read_peak_kib(running.pid))
            most_files = max(most_files, len(os.listdir(f"/proc/{running.pid}/fd")))
        except OSError:
            pass  # it has ended
        time.sleep(0.05)
    seconds = time.monotonic() - began
    if running.poll() is None:
        running.kill()
    printed, _ = running.communicate(timeout=60)
    messages = (work / "messages").read_text(errors="replace")
    if running.returncode == 77:
        raise Missing("threads")
    failures.equal(running.returncode, 0, f"{name}: {messages}")
    failures.check(0 < most_kib < MAX_MIB << 10, f"{name}: memory of the observer", f"{most_kib} KiB")
    failures.check(0 < most_files <= max_files, f"{name}: descriptors of the observer", most_files)
    failures.check(seconds < MAX_SECONDS, f"{name}: seconds", seconds)
    print(f"{name}: {seconds:.1f} s, observer: {most_kib >> 10} MiB, {most_files} descriptors", flush=True)
    if "cannot sample stacks with perf_event_open" in messages:
        raise Missing(messages)
    return printed


def start(*words):
    # Messages go to a file: a full pipe would stop the process.
    with (work / "messages").open("w", encoding="utf-8") as messages:
        running = subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE, stderr=messages, text=True, cwd=work, env={**os.environ, "HOME": str(work)})
    started.append(running)
    return running


def start_observer(command, *options):
    file = work / "p.json"
    file.unlink(missing_ok=True)
    return start("prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}", *AS_NOBODY, ADAPTYST, command, "--format=none", "--engine=inline", "--overhead=none",
                 f"--output={file}", *options)


def load():
    return profiles.read((work / "p.json").read_text(encoding="utf-8"))


def observe(*options, short=SHORT, together=TOGETHER):
    printed = watch(start_observer("run", "--with=none", *options, "--", PROGRAM, short, together, 0), options[0], FEW_DESCRIPTORS)
    done, tests = printed.split(" tests ")
    failures.equal(done, f"short {short} together {together}", f"{options}: the program ends as ever")
    # A thread without memory for its recorder makes the tests again at its second event.
    each = 2 * (MAX_TESTS + MORE_TESTS) if together > FEW else MAX_TESTS
    failures.check(int(tests) <= 1.1 * (MAX_TESTS * short + each * together), "a new thread tests few others", tests)
    return load()


def rows(profile):
    return {"/".join(row["path"]): row for row in profile["regions"]}


def check_account(profile):
    """Each event is recorded, or counted as lost."""
    account = profile["accounting"]
    lost = sum(account["lost"].values())
    failures.equal(account["begun"], account["ended"] + account["open"] + lost, "the account adds up")
    found = rows(profile)
    counted = sum(found[name]["count"] for name in ("short", "together") if name in found)
    failures.check(SHORT + TOGETHER - lost <= counted <= SHORT + TOGETHER, "events", (counted, account))


def case_sampled():
    profile = observe("--context=samples", "--stacks=frame-pointers", "--sample-frequency=997")
    check_account(profile)
    failures.check(profile["samples"]["samples"] > 100, "there are samples", profile["samples"])
    failures.equal(profile["samples"]["lost"].get("too_many_threads", 0), 0, "children inherit the clock of the program")


def case_few_sampled():
    """Rings for samples leave memory for the recorders of all threads."""
    profile = observe("--context=samples", "--stacks=frame-pointers", short=0, together=FEW)
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
    failures.equal(rows(profile)["together"]["count"], FEW, "events")


def case_in_turn():
    """Recorders of ended threads are used again, although a new thread tests few of many."""
    done = subprocess.run([*AS_NOBODY, ADAPTYST, "run", "--format=none", "--engine=inline", "--", PROGRAM, "in-turn", "4000"],
                          capture_output=True, text=True, timeout=60, check=False)
    failures.check(int(done.stdout.removeprefix("added ")) < 400, "few recorders are added", done)  # two mappings each


def case_attached():
    """Each thread that exists needs a descriptor; those without are counted."""
    program = start(*AS_NOBODY, PROGRAM, 50, TOGETHER, 5)
    end = time.monotonic() + 60
    while len(os.listdir(f"/proc/{program.pid}/task")) <= TOGETHER:
        failures.check(time.monotonic() < end and program.poll() is None, "all threads exist")
        time.sleep(0.05)
    watch(start_observer("attach", "--context=samples", "--stacks=frame-pointers", program.pid), "attach", DESCRIPTORS * 3 // 4)
    printed, _ = program.communicate(timeout=60)
    failures.equal((program.returncode, printed.split(" tests ")[0]), (0, f"short 50 together {TOGETHER}"), "the program ends as ever")
    lost = load()["samples"]["lost"].get("too_many_threads", 0)
    failures.check(TOGETHER - DESCRIPTORS <= lost <= TOGETHER, "threads without a descriptor", lost)


def case_with_heap():
    profile = observe("--memory=exact-heap")
    check_account(profile)
    found = rows(profile)
    for name, threads in (("short", SHORT), ("together", TOGETHER)):
        heap = found[name]["heap"]
        if not profile["accounting"]["lost"]:
            failures.equal([heap[key] for key in ("allocations", "frees", "allocated_bytes")], [threads, threads, 1000 * threads], name)


run_cases(globals(), sys.argv[3:], failures, started)
