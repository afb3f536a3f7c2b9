#!/usr/bin/env python3
"""Stack samples of a user without privileges: unprivileged_samples.py ADAPTYST SAMPLED COLLECTING [CASE …]

SAMPLED: tests/live/sampled.cpp, with frame pointers; COLLECTING: with its own collector. As root, all runs are those of
user nobody.
"""
import ctypes
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import chance  # noqa: E402
from cases import Missing, run_cases  # noqa: E402
from compiling import AS_NOBODY, PLAIN, Failures, scratch  # noqa: E402
from states import computes, cpu_seconds, find_child, until  # noqa: E402

ADAPTYST, SAMPLED, COLLECTING = sys.argv[1:4]
failures = Failures()
work = scratch(0o777)
started = []


def start(*command, frequency=997, overhead="none", options=("--stacks=frame-pointers",), **more):
    for name in ("p.json", "p.folded"):
        (work / name).unlink(missing_ok=True)
    words = [*AS_NOBODY, ADAPTYST, "run", "--format=none", "--engine=inline", f"--sample-frequency={frequency}",
             f"--overhead={overhead}",
             f"--output={work}/p.json", f"--output={work}/p.folded", *options, "--", *map(str, command)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=work,
                               env={**PLAIN, "HOME": str(work)}, **more)
    started.append(running)
    return running


def finish(running):
    """What it printed, and the messages."""
    printed, messages = running.communicate(timeout=60)
    failures.check(running.returncode == 0, "the program ran", messages)
    if "cannot sample stacks with perf_event_open" in messages:
        raise Missing(messages)
    return printed, messages


def observe(*command, **how):
    return finish(start(*command, **how))


def lines():
    """Of the folded file: (frames, weight in us), without what compilers add when they split a function."""
    made = []
    for line in (work / "p.folded").read_text().splitlines():
        frames, _, weight = line.rpartition(" ")
        made.append(([frame.split(" [clone")[0].split(".cold")[0] for frame in frames.split(";")], int(weight)))
    return made


def known_lines():
    """Those with a known region: without a core for its observer, a ring of short regions is soon full."""
    named = [(frames, weight) for frames, weight in lines() if "(unknown)" not in frames]
    failures.check(weight_of(named) > 0.5 * weight_of(lines()), "most regions are known", profile()["samples"])
    return named


def profile():
    return json.loads((work / "p.json").read_text())


def region(made, name):
    return next(row for row in made["regions"] if row["name"] == name)


def weight_of(stacks, *wanted):
    return sum(weight for frames, weight in stacks if all(frame in frames for frame in wanted))


def case_hot_function():
    printed, messages = observe(SAMPLED, "chain", 1.5)
    failures.check("on a core only" in messages, "it is reported that times off a core are missing", messages)
    stacks, made = lines(), profile()
    all_us = weight_of(stacks)
    hot = weight_of(stacks, "all", "computes", "outer(double)", "middle(double)", "inner(double)")
    # Of the region, since the start of a program has some samples, more of them on a slow machine.
    in_region = weight_of(stacks, "computes")
    failures.check(hot > 0.95 * in_region > 0.8 * all_us > 0, "the planted function is found, in its region, with its callers", stacks)
    cpu_us = int(printed)
    failures.check(abs(all_us - cpu_us) < 0.2 * cpu_us, "samples represent the CPU time", f"{all_us} us, {cpu_us} us")
    failures.equal([frames for frames, _ in stacks if "[on-cpu]" not in frames], [], "no time off a core is invented")
    # It computes for microseconds between two of its 20 sleeps: chance.
    failures.check(weight_of(stacks, "sleeps") < 3000, "a region that sleeps has hardly a sample", stacks)
    failures.equal(made.get("context"), None, "and no context")
    failures.check(all(row.get("context") is None and row.get("self_context") is None for row in made["regions"]),
                   "nor have regions")
    failures.check(0 <= region(made, "sleeps")["samples"] < 3, "hardly one was taken in it", made["samples"])
    computing = region(made, "computes")["samples"]
    failures.check(computing > 0.95 * made["samples"]["samples"] > 50, "they are counted by region", made["samples"])
    failures.check(sum(made["samples"]["lost"].values()) <= 0.02 * made["samples"]["samples"], "hardly any is lost", made["samples"])
    failures.equal(made["samples"].get("cost_ns"), None, "their cost is unknown")


def collect(*arguments, frequency=997, overhead="none", stacks="auto", **more):
    for name in ("p.json", "p.folded"):
        (work / name).unlink(missing_ok=True)
    options = f"report=none,engine=inline,overhead={overhead},sample_frequency={frequency},stacks={stacks},output=p.json;p.folded"
    done = subprocess.run([*AS_NOBODY, COLLECTING, *map(str, arguments)], capture_output=True, text=True, cwd=work, timeout=60,
                          env={**PLAIN, "HOME": str(work), "ADAPTYST": options}, **more)
    failures.equal(done.returncode, 0, "the program ran")
    if "cannot sample stacks with perf_event_open" in done.stderr:
        raise Missing(done.stderr)
    return done.stdout, done.stderr


def case_own_collector():
    """A program samples itself; neither its child process nor the collector's threads."""
    printed, messages = collect("chain", 1)
    stacks, made = lines(), profile()
    hot = weight_of(stacks, "all", "computes", "outer(double)", "middle(double)", "inner(double)")
    failures.check("on a core only" in messages, "it is reported that times off a core are missing", messages)
    failures.check(hot > 0.9 * weight_of(stacks) > 0, "nearly all samples are in the planted function", stacks)
    failures.equal([frames for frames, _ in stacks if "in_child(double)" in frames], [], "none in the child process")
    failures.equal([frames for frames, _ in stacks if any("adaptyst::lib::" in frame for frame in frames)], [], "none in the library's threads")
    cpu_us = int(printed)
    failures.check(abs(weight_of(stacks) - cpu_us) < 0.2 * cpu_us, "samples represent the CPU time", f"{stacks}, {cpu_us} us")
    failures.check(0.9 * made["samples"]["samples"] < region(made, "computes")["samples"], "they are counted by region", made["samples"])
    failures.check(0 < made["samples"]["observer_ns"] < 1e9, "reading has a cost", made["samples"])
    collect("short", 0.6, frequency=2999)
    stacks = known_lines()
    right = sum(weight_of(stacks, "around", name, f"in_{name}()") for name in ("first", "second"))
    either = sum(weight_of(stacks, f"in_{name}()") for name in ("first", "second"))
    failures.check(right >= 0.99 * either > 0, "at most 1 % of samples are in a wrong region", f"{right} of {either} us")
    collect("chain", 0.4, frequency=499, stacks="dwarf")
    stacks = lines()
    failures.check(weight_of(stacks, "main", "computes", "inner(double)") > 0.9 * weight_of(stacks) > 0, "a process that is no child unwinds copies", stacks)
    pr_set_child_subreaper = 36
    _, messages = collect("chain", 0.1, stacks="dwarf", preexec_fn=lambda: ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0))
    failures.check("stacks follow frame pointers" in messages, "a program that adopts orphans has no such process", messages)
    collect("random", 0.6, overhead="2%")
    samples = profile()["samples"]
    failures.check(samples["lost"].get("region_unknown", 0) < 0.3 * samples["samples"], "the budget permits regions of 30 us", samples)


def case_short_regions():
    """The function in which a sample was taken shows the region that is right."""
    observe(SAMPLED, "short", 0.7, frequency=2999)
    stacks, made = known_lines(), profile()
    right = sum(weight_of(stacks, "around", name, f"in_{name}()") for name in ("first", "second"))
    either = sum(weight_of(stacks, f"in_{name}()") for name in ("first", "second"))
    half_ns = region(made, "first")["p50_ns"]
    failures.check(half_ns < 20_000, "regions are short", f"{half_ns} ns")
    failures.check(made["samples"]["samples"] > 500, "there are enough samples", made["samples"])
    print(f"wrong: {either - right} of {either} us")
    failures.check(either > 0.5 * weight_of(stacks), "most are in these functions", f"{either} us")
    failures.check(right >= 0.99 * either, "at most 1 % of samples are in a wrong region", f"{either - right} of {either} us")


def case_late_reads():
    """The ring of a thread has room for 200,000 regions."""
    observe(SAMPLED, "burst", 0)
    made = profile()
    samples = made["samples"]
    failures.check(samples["lost"].get("region_unknown", 0) < 0.05 * samples["samples"] > 1, "regions are known", samples)


def case_overhead_budget():
    """Most events of short regions are skipped, and samples may be in these."""
    observe(SAMPLED, "short", 1, overhead="1%")
    stacks, made = lines(), profile()
    skipped = [row["name"] for row in made["regions"] if any("1 of" in step for step in row.get("measured_on") or {})]
    failures.check("first" in skipped, "the budget skips events", skipped)
    failures.check(made["samples"]["lost"].get("region_unknown", 0) > 0.5 * made["samples"]["samples"],
                   "regions of samples are unknown", made["samples"])
    failures.equal(region(made, "around")["samples"], None, "the region around them does not get their samples")
    failures.check(weight_of(stacks, "in_first()", "second") + weight_of(stacks, "in_second()", "first")
                   < 0.01 * weight_of(stacks), "no other region does", stacks)


def case_timeline_with_samples():
    observe(SAMPLED, "short", 0.5, options=["--stacks=frame-pointers", f"--output={work}/p.events"])
    stacks, made = known_lines(), profile()
    right = sum(weight_of(stacks, "around", name, f"in_{name}()") for name in ("first", "second"))
    either = sum(weight_of(stacks, f"in_{name}()") for name in ("first", "second"))
    failures.check(right >= 0.98 * either > 0, "the rings of a timeline serve both", f"{right} of {either}")
    failures.check(made["timeline"]["events"] > 10_000, "which is written as well", made.get("timeline"))


def case_no_timeline():
    observe(SAMPLED, "chain", 0.2)
    failures.equal(profile().get("timeline"), None, "without a timeline, the report has none")


def case_shares():
    observe(SAMPLED, "random", 1, frequency=2999)  # ten fixed loops of 100 us take three intervals, which biases shares
    made = profile()
    rows = [region(made, name) for name in ("seventy", "thirty")]
    samples = [row["samples"] for row in rows]
    expected = 0.7  # not of their wall time, which includes that of other programs on the core
    share = samples[0] / sum(samples)
    failures.check(abs(share - expected) < chance.share_tolerance(expected, sum(samples)) + 0.03,
                   "shares of samples are those of time", f"{share}, not {expected}, of {sum(samples)}")


def case_open_and_killed():
    """Its regions never end."""
    running = start(SAMPLED, "chain", 60)
    child = find_child(running.pid, SAMPLED)
    computes(child, 0.4)
    os.kill(child, signal.SIGKILL)
    failures.equal(running.wait(30), -signal.SIGKILL, "the program was killed")
    stacks = lines()
    computing = weight_of(stacks, "inner(double)")
    failures.check(weight_of(stacks, "all", "computes", "inner(double)") > 0.9 * computing > 0, "the open region is known",
                   stacks)


def case_stopped_observer():
    """Nobody reads the rings: samples are lost, and the regions of others are unknown. All are counted."""
    frequency = 9973
    processor = min(os.sched_getaffinity(0))
    running = start(SAMPLED, "short", 2.2, frequency=frequency, preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
    computes(find_child(running.pid, SAMPLED), 0.1)
    observer = running.pid
    os.kill(observer, signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(observer, signal.SIGCONT)
    printed, _ = finish(running)
    made = profile()
    lost = made["samples"]["lost"]
    failures.check(lost.get("sample_ring_full", 0) > 1000, "samples without room are counted", lost)
    failures.check(lost.get("region_unknown", 0) > 100, "and those without a known region", lost)
    taken = made["samples"]["samples"] + lost.get("sample_ring_full", 0)
    expected = int(printed) / 1e6 * frequency
    failures.check(abs(taken - expected) < 0.25 * expected or "throttled" in lost, "together with the others they represent the CPU time",
                   f"{taken}, not {expected}")


def case_children():
    observe("sh", "-c", f"{SAMPLED} chain 0.8 & {SAMPLED} chain 0.8; wait")
    stacks = lines()
    hot = weight_of(stacks, pathlib.Path(SAMPLED).name, "computes", "inner(double)")
    failures.check(hot > 0.9 * weight_of(stacks) > 0, "children are sampled, each in its regions", stacks)


def case_exec():
    """A shell becomes the program that it was to start."""
    observe("sh", "-c", f"exec {SAMPLED} chain 0.8")
    stacks = lines()
    hot = weight_of(stacks, pathlib.Path(SAMPLED).name, "all", "computes", "inner(double)")
    failures.check(hot > 0.9 * weight_of(stacks) > 0, "it is sampled in its regions", stacks)


def case_pid_namespace():
    """The program has other numbers for its threads."""
    if subprocess.run([*AS_NOBODY, "unshare", "-Ur", "--pid", "--fork", "true"], check=False, capture_output=True).returncode != 0:
        raise Missing("the kernel permits this user no PID namespace")
    observe("unshare", "-Ur", "--pid", "--fork", SAMPLED, "chain", 0.8)
    stacks = lines()
    hot = weight_of(stacks, "outer(double)", "middle(double)", "inner(double)")
    failures.check(hot > 0.9 * weight_of(stacks) > 0, "it is sampled", stacks)
    failures.check(weight_of(stacks, "(unknown)", "inner(double)") == hot, "and no region is invented", stacks)
    failures.equal({region["samples"] for region in profile()["regions"]}, {None}, "samples of regions are unknown, not 0")


def announce_to(observer, seconds):
    """Starts the program as a process that the observer has not started, and waits for its end."""
    sleeper = find_child(observer.pid, "sleep")
    environment = dict(entry.split("=", 1) for entry in
                       pathlib.Path(f"/proc/{sleeper}/environ").read_text().split("\0") if "=" in entry)
    socket = {name: value for name, value in environment.items() if name.startswith("ADAPTYST")}
    done = subprocess.run([*AS_NOBODY, SAMPLED, "chain", str(seconds)], env={**PLAIN, **socket}, cwd=work, check=True,
                          capture_output=True, text=True, timeout=60)
    os.kill(sleeper, signal.SIGTERM)
    return int(done.stdout)


def case_announced():
    """A program that announces itself, and that the observer has not started, is sampled too."""
    observer = start("sleep", 60)
    cpu_us = announce_to(observer, 2)  # a busy observer took 0.13 s until it sampled
    observer.communicate(timeout=60)
    stacks = lines()
    hot = weight_of(stacks, "computes", "inner(double)")
    failures.check(abs(hot - cpu_us) < 0.2 * cpu_us, "its samples represent its CPU time", f"{hot} us, {cpu_us} us")
    failures.check((region(profile(), "computes")["samples"] or 0) > 100, "in its regions", profile()["samples"])


def case_announced_without_descriptors():
    """Its samples are unknown: absent, not 0."""
    observer = start("sleep", 60)
    find_child(observer.pid, "sleep")
    last = []

    def has_opened_all():  # the same files ten times
        last.append(sorted(os.listdir(f"/proc/{observer.pid}/fd")))
        time.sleep(0.05)
        return len(last) > 10 and all(files == last[-1] for files in last[-10:])
    until(has_opened_all, "the observer has opened its files")
    used = max(int(name) for name in os.listdir(f"/proc/{observer.pid}/fd")) + 1
    subprocess.run([*AS_NOBODY, "prlimit", f"--nofile={used + 6}:{used + 6}", "--pid", str(observer.pid)], check=True)
    announce_to(observer, 0.5)
    observer.communicate(timeout=60)
    made = profile()
    failures.equal(region(made, "computes").get("samples"), None, "the region has no samples")
    failures.check(made["samples"]["lost"].get("too_many_threads", 0) >= 1, "the thread is counted", made["samples"])


def case_threads_before_and_after_attach():
    """Each is sampled once."""
    code = """
import os, threading, time
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def bear(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        one = threading.Thread(target=spin, args=(0.05,))
        one.start()
        one.join()
old = threading.Thread(target=bear, args=(4,))
old.start()
old.join()
"""
    program = subprocess.Popen([*AS_NOBODY, sys.executable, "-c", code], cwd=work)
    started.append(program)
    computes(program.pid, 0.2)
    before = cpu_seconds(program.pid)
    observer = subprocess.Popen([*AS_NOBODY, ADAPTYST, "attach", "--engine=inline", "--format=none", "--stacks=frame-pointers",
                                 f"--output={work}/p.folded", str(program.pid)], stderr=subprocess.PIPE, text=True, cwd=work,
                                env={**PLAIN, "HOME": str(work)})
    started.append(observer)
    time.sleep(1.2)
    used = cpu_seconds(program.pid) - before
    observer.send_signal(signal.SIGINT)
    _, messages = observer.communicate(timeout=60)
    failures.equal(observer.returncode, 0, messages)
    sampled = weight_of(lines()) / 1e6
    failures.check(0.05 * used < sampled < 1.3 * used,  # the observer begins later; twice would be 2
                   "samples represent the CPU time", f"{sampled} s of {used} s")


def case_unmarked():
    printed, _ = observe("python3", "-c", "import time; sum(at * at for at in range(10_000_000)); "
                                          "print(int(time.process_time() * 1e6))")
    stacks = lines()
    failures.check(weight_of(stacks, "(outside)", "[on-cpu]") > 0.7 * int(printed), "a program without markers is sampled", stacks)
    failures.check(any(any("python3" in frame or "Py" in frame for frame in frames[3:]) for frames, _ in stacks),
                   "and its code named", stacks)


def case_attach():
    program = subprocess.Popen([*AS_NOBODY, SAMPLED, "chain", "8"], cwd=work)
    started.append(program)
    computes(program.pid, 0.2)
    (work / "p.folded").unlink(missing_ok=True)
    observer = subprocess.Popen([*AS_NOBODY, ADAPTYST, "attach", "--engine=inline", "--format=none", "--stacks=frame-pointers",
                                 f"--output={work}/p.folded", str(program.pid)], stderr=subprocess.PIPE, text=True, cwd=work,
                                env={**PLAIN, "HOME": str(work)})
    started.append(observer)
    time.sleep(1)
    observer.send_signal(signal.SIGINT)
    _, messages = observer.communicate(timeout=60)
    failures.equal(observer.returncode, 0, messages)
    stacks = lines()
    failures.check(weight_of(stacks, "middle(double)", "inner(double)") > 0.9 * weight_of(stacks) > 0,
                   "a running program is sampled", stacks)


def refuse_perf_event_open():
    """By a seccomp filter, as kernels of distributions and containers refuse it: EACCES."""
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 13), (0x06, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        os._exit(99)


def case_refused_by_the_kernel():
    running = start(SAMPLED, "chain", 0.2, preexec_fn=refuse_perf_event_open)
    _, messages = running.communicate(timeout=60)
    failures.equal(running.returncode, 0, "the program runs on")
    failures.check("cannot sample stacks with perf_event_open: Permission denied (EACCES)" in " ".join(messages.split()),
                   "the reason is reported", messages)
    failures.equal(profile().get("samples"), None, "there are no samples, not 0")
    done = subprocess.run([*AS_NOBODY, ADAPTYST, "doctor"], capture_output=True, text=True, timeout=60, check=False, cwd=work,
                          preexec_fn=refuse_perf_event_open, env={**PLAIN, "HOME": str(work)})
    failures.check("perf_event_open" in done.stdout and "EACCES" in done.stdout, "the doctor reports it", done.stdout)


run_cases(globals(), sys.argv[4:], failures, started)
