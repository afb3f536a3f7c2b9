#!/usr/bin/env python3
"""Stacks without frame pointers, unwound by the observer: copied_stacks.py ADAPTYST UNWOUND [CASE …]

UNWOUND: unwound.cpp, built with -O2 -fomit-frame-pointer. As root, all runs without eBPF are those of user nobody.
"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import chance  # noqa: E402
import profiles  # noqa: E402
from cases import Missing, run_cases  # noqa: E402
from compiling import AS_NOBODY, PLAIN, Failures, scratch, tool  # noqa: E402
from states import computes, until  # noqa: E402

ADAPTYST, UNWOUND = sys.argv[1:3]
FREQUENCY = 499  # Hz
failures = Failures()
work = scratch(0o777)


def begin(*command, stacks="dwarf", frequency=FREQUENCY, name="p", engine="inline", **more):
    words = [*(AS_NOBODY if engine == "inline" else []), ADAPTYST, "run", "--format=none", f"--engine={engine}", "--overhead=none",
             *([f"--sample-frequency={frequency}"] if frequency else []), f"--stacks={stacks}", f"--output={work}/{name}.json",
             f"--output={work}/{name}.folded", "--", *map(str, command)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=work,
                            env={**PLAIN, "HOME": str(work)}, **more)


def start(line, **how):
    return begin("sh", "-c", line, **how)


def finish(running, name="p"):
    """Stacks as (frames, weight in us), the profile, and the messages."""
    _, messages = running.communicate(timeout=120)
    if running.returncode != 0 and "cannot load the eBPF programs" in messages:
        raise Missing("engine ebpf is not permitted")
    failures.check(running.returncode == 0, "the program ran", messages)
    if "cannot sample stacks with perf_event_open" in messages:
        raise Missing(messages)
    made = []
    for line in (work / f"{name}.folded").read_text().splitlines():
        frames, _, weight = line.rpartition(" ")
        made.append(([frame.split("(")[0].split(" [clone")[0] or frame for frame in frames.split(";")], int(weight)))
    return made, json.loads((work / f"{name}.json").read_text()), messages


def observe(*command, **how):
    return finish(begin(*command, **how))


def weight_of(stacks, *wanted):
    return sum(weight for frames, weight in stacks if all(frame in frames for frame in wanted))


def count_samples(stacks, function):
    return weight_of(stacks, function) * FREQUENCY / 1e6


CHAIN = ("solves", "main", "solve", "assemble", "integrate")


def case_chain():
    """The callers are known with the tables, and only with these."""
    for stacks in ("dwarf", "auto"):
        found, made, _ = observe(UNWOUND, "chain", 0.4, stacks=stacks)
        failures.check(weight_of(found, *CHAIN) > 0.95 * weight_of(found) > 0, f"{stacks}: all callers", found)
        failures.check(sum(made["samples"]["lost"].values()) <= max(5, 0.02 * made["samples"]["samples"]), "hardly any is lost", made["samples"])
    found, _, _ = observe(UNWOUND, "chain", 0.3, stacks="frame-pointers")
    failures.check(weight_of(found, "assemble") < 0.1 * weight_of(found), "frame pointers lead to no caller", found)
    failures.check(weight_of(found, "integrate") > 0.9 * weight_of(found) > 0, "but the innermost is known", found)


def case_library():
    """The C library's frames are between those of the program."""
    for stacks in ("dwarf", "auto"):
        found, _, _ = observe(UNWOUND, "sorted", 0.3, stacks=stacks)
        hot = weight_of(found, "main", "sorts", "compares")
        failures.check(hot > 0.9 * weight_of(found) > 0, f"{stacks}: callers across a library", found)


def case_threads():
    """Threads that live 50 ms; their stacks end at their beginning."""
    found, made, _ = observe(UNWOUND, "threads", 0.5)
    failures.check(weight_of(found, "solve", "assemble", "integrate") > 0.9 * weight_of(found) > 0, "all callers", found)
    failures.check(made["samples"]["lost"].get("not_unwound", 0) < 0.05 * made["samples"]["samples"], "to the end", made["samples"])


def case_signal():
    found, _, _ = observe(UNWOUND, "signalled", 0.3)
    failures.check(weight_of(found, "main", "works", "handles", "integrate") > 0.9 * weight_of(found) > 0,
                   "a handler's stack leads to the interrupted function", found)


def case_deep():
    """The stack is longer than a copy: its outer part is missing, and this is counted."""
    found, made, _ = observe(UNWOUND, "deep", 0.3)
    samples = made["samples"]
    failures.check(samples["lost"].get("truncated", 0) > 0.9 * samples["samples"] > 50, "cut stacks are counted", samples)
    failures.check(weight_of(found, "goes_deeper", "integrate") > 0.9 * weight_of(found), "inner callers are known", found)
    failures.equal(weight_of(found, "main", "integrate"), 0, "no outer caller is invented")
    failures.equal(weight_of(found, "(unknown)"), 0, "a program that never begins a region is outside all")


def case_wrong_tables():
    """A table that leads to itself, and one that never ends: the observer goes on, and the program ends in time."""
    if os.uname().machine != "x86_64":
        raise Missing("written for x86-64")
    found, made, _ = observe(UNWOUND, "same", 0.3)
    failures.check(weight_of(found, "leads_to_itself") > 0.8 * weight_of(found) > 0, "the function is known", found)
    failures.check(max(len(frames) for frames, _ in found) < 140, "a stack has a limit")
    failures.check(made["samples"]["lost"].get("truncated", 0) > max(20, 0.95 * count_samples(found, "leads_to_itself")),
                   "its callers are counted as missing", made["samples"])
    found, made, _ = observe(UNWOUND, "endless", 0.3)
    failures.check(weight_of(found, "never_ends") > 0.8 * weight_of(found) > 0, "the function is known", found)
    failures.check(made["samples"]["unwinding_ns"] < 0.5e9, "the time for a stack is limited", made["samples"])


def observe_with_other(*command, **how):
    """Stacks of the command after those of a chain, which ends later; with the messages and the profile."""
    words = " ".join(map(str, command))
    return observe("sh", "-c", f"{UNWOUND} chain 2.4 & {UNWOUND} {words}; wait", **how)


def case_bombs():
    """Unwinding tables that take all memory: the observer lives, the loss is counted, and others have their callers."""
    if os.uname().machine != "x86_64":
        raise Missing("written for x86-64")
    for what, function in (("register", "has_register"), ("remembers", "remembers")):
        found, made, messages = observe_with_other(what, 1.2)
        failures.check(weight_of(found, function) > 0, f"{what}: the function is known", messages)
        failures.check(made["samples"]["lost"].get("not_unwound", 0) > max(5, 0.95 * count_samples(found, function)),
                       "its callers are counted as missing", made["samples"])
        failures.check(weight_of(found, *CHAIN) > 0.7 * weight_of(found, "integrate") > 0, "the other program has callers", found)


def case_cut_library():
    """The file of a library is cut while its tables are mapped, before a function of it runs whose table is not read yet."""
    source, library = work / "library.c", work / "library.so"
    # Its data would be cut too, so it has none.
    source.write_text("__attribute__((noinline)) static void loops(unsigned long n) { volatile unsigned long left = n; while (left-- != 0) {} }\n"
                      "void works_here(unsigned long n) { volatile int after = 0; loops(n); after = 1; }\n"
                      "void works_later(unsigned long n) { volatile int after = 0; loops(n); loops(n / 2); after = 2; }\n")
    subprocess.run([tool("gcc"), "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "-o", library, source], check=True)
    library.chmod(0o755)
    running = start(f"UNWOUND_LIBRARY={library} {UNWOUND} library 1.5 & {UNWOUND} chain 1.6; wait")

    def find_there():
        for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
            try:
                if (maps.parent / "comm").read_text().strip() == pathlib.Path(UNWOUND).name and str(library) in maps.read_text():
                    return maps.parent.name
            except OSError:  # it has ended, or belongs to another user
                pass
        return None
    computes(until(find_there, "the program has loaded its library"), 0.4)
    os.truncate(library, 2 * os.sysconf("SC_PAGESIZE"))  # code is in the second page, tables are in the third
    found, made, messages = finish(running)
    failures.check(made["samples"]["lost"].get("not_unwound", 0) > 50, "callers are counted as missing", (made["samples"], messages))
    failures.check(weight_of(found, *CHAIN) > 0.7 * weight_of(found, "integrate") > 0, "the other program has callers", found)


def case_two_observers():
    """Without room for its copies, the second one has samples all the same."""
    def limit():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
    both = [start(f"{UNWOUND} chain 0.5", stacks=stacks, name=name, preexec_fn=limit)
            for name, stacks in (("first", "dwarf"), ("second", "auto"))]
    for name, running in zip(("first", "second"), both):
        found, made, messages = finish(running, name)
        failures.check((made["samples"] or {"samples": 0})["samples"] > 50, f"the {name} one has samples", messages)
        failures.check(weight_of(found, "integrate") > 0.9 * weight_of(found) > 0, "of the function", found)


def case_same_addresses():
    """A program that becomes another one, with code at the same addresses."""
    found, _, _ = observe("setarch", "-R", "sh", "-c", f"exec {UNWOUND} chain 0.4")
    failures.check(weight_of(found, *CHAIN) > 0.9 * weight_of(found, "integrate") > 0, "its callers are known", found)


def case_stripped():
    """Without symbols and debugging information, functions are named by their beginnings."""
    stripped = work / "stripped"
    subprocess.run([tool("strip"), "-o", stripped, UNWOUND], check=True)
    stripped.chmod(0o755)
    found, _, _ = observe(stripped, "chain", 0.3)
    deep = sum(weight for frames, weight in found if sum("stripped+0x" in frame for frame in frames) >= 4)
    failures.check(deep > 0.9 * weight_of(found) > 0, "all callers are there", found)


def case_inlined():
    """Inlined functions appear below their caller, if the file has debugging information."""
    source, program = work / "inlined.c", work / "inlined"
    source.write_text("static inline void inner(volatile unsigned long *left) { while (*left != 0) *left = *left - 1; }\n"
                      "static inline void outer(volatile unsigned long *left) { inner(left); *left = 0; }\n"
                      "__attribute__((noinline)) static int calls(volatile unsigned long *left) { outer(left); return *left == 0; }\n"
                      "int main(void) { volatile unsigned long left = 100000000; return !calls(&left); }\n")
    for debugging, expected in (("-g", ["main", "calls", "outer", "inner"]), ("-g0", ["main", "calls"])):
        subprocess.run([tool("gcc"), "-O2", debugging, "-fomit-frame-pointer", "-o", program, source], check=True)
        program.chmod(0o755)
        found, _, _ = observe(program)
        hot = sum(weight for frames, weight in found if frames[-len(expected):] == expected)
        failures.check(hot > 0.9 * weight_of(found) > 0, f"{debugging}: {expected}", found)


def case_cost():
    """The report has the observer's own CPU time."""
    _, made, _ = observe(UNWOUND, "chain", 0.5, frequency=99)
    samples = made["samples"]
    print(f"{samples['unwinding_ns'] / samples['samples'] / 1e3:.1f} us for a stack; observer: {samples['observer_ns'] / 1e6:.1f} ms")
    failures.check(0 < samples["unwinding_ns"] < samples["observer_ns"], "with a part for stacks", samples)
    failures.check(samples["observer_ns"] < 1e9, "it is limited", samples)
    _, made, _ = observe(UNWOUND, "chain", 0.2, stacks="frame-pointers")
    failures.equal(made["samples"].get("unwinding_ns"), None, "which is absent if stacks are not copied")


def case_wake_ups():
    """The observer of a program without markers wakes up when rings fill, not for each sample."""
    running = begin("python3", "-c", "import time\nwhile time.process_time() < 2.4: sum(range(1000))", frequency=99)

    def switches():
        status = pathlib.Path(f"/proc/{running.pid}/status").read_text()
        return int(status.split("nonvoluntary_ctxt_switches")[0].split("voluntary_ctxt_switches:")[1])
    time.sleep(0.8)
    before, began = switches(), time.monotonic()
    time.sleep(1.5)
    a_second = (switches() - before) / (time.monotonic() - began)
    _, made, _ = finish(running)
    print(f"{a_second:.0f} wake-ups a second")
    failures.check(made["samples"]["samples"] > 100, "samples were taken", made["samples"])
    failures.check(a_second < 160, "few wake-ups", a_second)
    failures.check(sum(made["samples"]["lost"].values()) <= max(3, 0.02 * made["samples"]["samples"]), "hardly any is lost", made["samples"])


def case_killed():
    """Samples that were in the rings when the program was killed are in the result, with their callers."""
    number = work / "number"
    number.unlink(missing_ok=True)
    running = start(f"{UNWOUND} chain 60 & echo $! >{number}; wait $!; true")
    program = int(until(lambda: number.exists() and number.read_text(), "the program begins"))
    computes(program, 0.5)
    os.kill(program, signal.SIGKILL)
    found, made, _ = finish(running)
    failures.check(weight_of(found, *CHAIN) > 0.95 * weight_of(found, "integrate") > 0.2e6, "all callers", found)
    unread = made["samples"]["lost"].get("sample_ring_full", 0)  # a busy machine fills the rings
    failures.check(unread < 0.3 * made["samples"]["samples"], "the rings are read", made["samples"])
    failures.check(sum(made["samples"]["lost"].values()) - unread <= max(5, 0.02 * made["samples"]["samples"]), "hardly any is lost", made["samples"])


def case_short():
    """Programs that live 60 ms, one after another: their mappings are read in time."""
    found, _, _ = finish(start(f"for i in 1 2 3 4 5 6 7 8 9 10; do {UNWOUND} chain 0.06; done"))
    failures.check(weight_of(found, *CHAIN) > 0.7 * weight_of(found, "integrate") > 0, "callers", found)


def children_of(process, name):
    try:
        children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return {child for child in children if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == name}
    except OSError:  # it has ended
        return set()


def case_child():
    """A whole run has a single child process, which begins before the program."""
    running = begin(UNWOUND, "chain", 0.5)
    seen = set()
    while running.poll() is None:
        seen |= children_of(running.pid, "adaptyst-stacks")
        time.sleep(0.002)
    finish(running)
    failures.equal(len(seen), 1, "processes that unwind stacks")


def case_default_frequency():
    for stacks, expected in (("auto", 99), ("frame-pointers", 997)):
        done = subprocess.run([*AS_NOBODY, ADAPTYST, "run", "--format=none", "--engine=inline", "--context=samples",
                               f"--stacks={stacks}", f"--output={work}/p.json", "--", UNWOUND, "chain", "0.2"], capture_output=True,
                              text=True, timeout=60, check=True, cwd=work, env={**PLAIN, "HOME": str(work)})
        samples = json.loads((work / "p.json").read_text())["samples"]
        failures.equal(round(1e9 * samples["samples"] / samples["observed_ns"]), expected, done.stderr)


def weight_on_core(stacks, *wanted):
    return weight_of(stacks, "[on-cpu]", *wanted)


def case_ebpf():
    """With eBPF, samples have the callers of optimised code, their regions, and frames of the kernel."""
    found, made, messages = observe(UNWOUND, "calls", 1.6, engine="ebpf")
    rows = {row["path"][-1]: row for row in profiles.with_paths(made)["regions"]}
    failures.check(made["engine"] == "ebpf", "the kernel counts events", made["engine"])
    failures.check(weight_on_core(found, *CHAIN) > 0.95 * weight_on_core(found, "integrate") > 0.5e6, "all callers", (found, messages))
    reading = weight_on_core(found, "reads", "read")  # without reading the clock
    in_kernel = sum(weight for frames, weight in found if "[on-cpu]" in frames and "main" in frames and "read" in frames and
                    frames.count("reads") == 2 and frames[-1].endswith("_[k]"))
    failures.check(in_kernel > 0.9 * reading > 0.5e6, "below callers, the kernel's functions", found)
    failures.equal(weight_of(found, "[kernel]_[k]"), 0, "which have names")
    for name in ("solves", "reads"):
        on_core, samples = rows[name]["self_context"]["on_cpu_ns"], rows[name]["samples"]
        failures.check(abs(samples / FREQUENCY - on_core / 1e9) < chance.count_tolerance(samples) * samples / FREQUENCY,
                       f"{name}: samples are those of its time on a core", (samples, on_core))
    context = rows["rests"]["self_context"]
    blocked = sum(context[key] for key in ("sleep_ns", "lock_ns", "io_ns", "other_ns"))
    failures.check(abs(1e3 * weight_of(found, "rests", "[blocked]") - blocked) < 0.05 * blocked, "times off a core", (found, context))
    failures.check(sum(made["samples"]["lost"].values()) <= max(5, 0.02 * made["samples"]["samples"]), "hardly any is lost", made["samples"])
    failures.equal(made["samples"].get("cost_ns"), None, "the cost of copies in the program is unknown")


def case_ebpf_markers():
    """Probes that the kernel has optimised, and its code that they call, have no tables; their callers are there."""
    if os.uname().machine != "x86_64":
        raise Missing("written for x86-64")
    found, made, _ = observe(UNWOUND, "marks", 1, engine="ebpf")
    failures.check(weight_on_core(found, "main", "marks") > 0.97 * weight_on_core(found) > 0.5e6, "all callers", found)
    failures.check(made["samples"]["lost"].get("not_unwound", 0) <= 0.02 * made["samples"]["samples"], "to the end", made["samples"])


def case_ebpf_disturbed_markers():
    """Probes that a signal handler interrupts, also in the kernel's code that they call."""
    if os.uname().machine != "x86_64":
        raise Missing("written for x86-64")
    found, made, _ = observe(UNWOUND, "disturbed", 1.2, engine="ebpf")
    handled = weight_on_core(found, "handles", "integrate")
    failures.check(weight_on_core(found, "main", "disturbs", "marks", "handles", "integrate") > 0.95 * handled > 0.3e6, "all callers", found)
    failures.check(made["samples"]["lost"].get("not_unwound", 0) <= 0.02 * made["samples"]["samples"], "to the end", made["samples"])


def case_ebpf_without_tables():
    """Frame pointers lead to no caller of optimised code, and a message recommends tables; not for code with frame pointers."""
    advice = "--stacks dwarf needs no frame pointers"
    for stacks in ("frame-pointers", "auto"):
        found, _, messages = observe(UNWOUND, "chain", 0.4, stacks=stacks, engine="ebpf")
        failures.check(weight_on_core(found, "assemble") < 0.1 * weight_on_core(found) and weight_on_core(found) > 0, "no caller", found)
        failures.check(messages.count(advice) == int(stacks == "auto"), f"{stacks}: recommendations", messages)
    _, _, messages = observe(UNWOUND, "chain", 0.4, engine="ebpf")
    failures.check(advice not in messages, "callers need no recommendation", messages)
    source, program = work / "framed.c", work / "framed"
    source.write_text("__attribute__((noinline)) static int calls(volatile unsigned long *left) { while (*left != 0) *left = *left - 1; return 0; }\n"
                      "int main(void) { volatile unsigned long left = 100000000; return calls(&left) + (left != 0); }\n")
    subprocess.run([tool("gcc"), "-O0", "-fno-omit-frame-pointer", "-o", program, source], check=True)
    found, _, messages = observe(program, stacks="auto", engine="ebpf")
    failures.check(weight_on_core(found, "main", "calls") > 0.9 * weight_on_core(found, "calls") > 0, "frame pointers are enough", found)
    failures.check(advice not in messages, "callers need no recommendation", messages)


def case_ebpf_choices():
    """The frequency that is not given, and functions, for which the recorder has no regions."""
    _, made, _ = observe(UNWOUND, "chain", 0.4, engine="ebpf", frequency=None)
    failures.equal(round(1e9 * made["samples"]["samples"] / made["samples"]["observed_ns"]), 99, "copies have the lower frequency")
    done = subprocess.run([ADAPTYST, "run", "--format=none", "--engine=ebpf", "--stacks=dwarf", "--context=samples",
                           f"--functions={UNWOUND}:solve*", "--", UNWOUND, "chain", "0.2"],
                          capture_output=True, text=True, timeout=60, check=False, cwd=work, env=PLAIN)
    failures.check("stacks=dwarf is not possible with functions=" in done.stderr, "it is reported", done.stderr)


run_cases(globals(), sys.argv[3:], failures)
