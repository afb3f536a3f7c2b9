#!/usr/bin/env python3
"""Stacks without frame pointers, unwound by the observer: copied_stacks.py ADAPTYST UNWOUND [CASE …]

UNWOUND: unwound.cpp, built with -O2 -fomit-frame-pointer. As root, all runs are those of user nobody.
"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch, tool  # noqa: E402

ADAPTYST, UNWOUND = sys.argv[1:3]
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
             "--bounding-set=-all"] if os.geteuid() == 0 else []
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("ADAPTYST")}
failures = Failures()
work = scratch()
work.chmod(0o777)


def observe(*command, stacks="dwarf", frequency=499, options=()):
    """Stacks as (frames, weight in us), the profile, and the messages."""
    done = subprocess.run([*AS_NOBODY, ADAPTYST, "run", "--format=none", "--engine=inline", "--overhead=none",
                           f"--sample-frequency={frequency}", f"--stacks={stacks}", f"--output={work}/p.json",
                           f"--output={work}/p.folded", *options, "--", *map(str, command)],
                          capture_output=True, text=True, timeout=60, check=False, cwd=work, env={**PLAIN, "HOME": str(work)})
    failures.check(done.returncode == 0, "the program ran", done.stderr)
    if "cannot sample stacks with perf_event_open" in done.stderr:
        raise Missing(done.stderr)
    made = []
    for line in (work / "p.folded").read_text().splitlines():
        frames, _, weight = line.rpartition(" ")
        made.append(([frame.split("(")[0].split(" [clone")[0] or frame for frame in frames.split(";")], int(weight)))
    return made, json.loads((work / "p.json").read_text()), done.stderr


def weight_of(stacks, *wanted):
    return sum(weight for frames, weight in stacks if all(frame in frames for frame in wanted))


CHAIN = ("solves", "main", "solve", "assemble", "integrate")


def case_chain():
    """The callers are known with the tables, and only with these."""
    for stacks in ("dwarf", "auto"):
        found, made, _ = observe(UNWOUND, "chain", 2, stacks=stacks)
        failures.check(weight_of(found, *CHAIN) > 0.95 * weight_of(found) > 0, f"{stacks}: all callers", found)
        failures.check(sum(made["samples"]["lost"].values()) <= 0.02 * made["samples"]["samples"], "hardly any is lost", made["samples"])
    found, _, _ = observe(UNWOUND, "chain", 1, stacks="frame-pointers")
    failures.check(weight_of(found, "assemble") < 0.1 * weight_of(found), "frame pointers lead to no caller", found)
    failures.check(weight_of(found, "integrate") > 0.9 * weight_of(found) > 0, "but the innermost is known", found)


def case_library():
    """The C library's frames are between those of the program."""
    for stacks in ("dwarf", "auto"):
        found, _, _ = observe(UNWOUND, "sorted", 1, stacks=stacks)
        hot = weight_of(found, "main", "sorts", "compares")
        failures.check(hot > 0.9 * weight_of(found) > 0, f"{stacks}: callers across a library", found)


def case_threads():
    """Threads that live 50 ms; their stacks end at their beginning."""
    found, made, _ = observe(UNWOUND, "threads", 2)
    failures.check(weight_of(found, "solve", "assemble", "integrate") > 0.9 * weight_of(found) > 0, "all callers", found)
    failures.check(made["samples"]["lost"].get("not_unwound", 0) < 0.05 * made["samples"]["samples"], "to the end", made["samples"])


def case_signal():
    found, _, _ = observe(UNWOUND, "signalled", 1)
    failures.check(weight_of(found, "main", "works", "handles", "integrate") > 0.9 * weight_of(found) > 0,
                   "a handler's stack leads to the interrupted function", found)


def case_deep():
    """The stack is longer than a copy: its outer part is missing, and this is counted."""
    found, made, _ = observe(UNWOUND, "deep", 1)
    samples = made["samples"]
    failures.check(samples["lost"].get("truncated", 0) > 0.9 * samples["samples"] > 100, "cut stacks are counted", samples)
    failures.check(weight_of(found, "goes_deeper", "integrate") > 0.9 * weight_of(found), "inner callers are known", found)
    failures.equal(weight_of(found, "main", "integrate"), 0, "no outer caller is invented")


def case_wrong_tables():
    """A table that leads to itself, and one that never ends: the observer goes on, and the program ends in time."""
    if os.uname().machine != "x86_64":
        raise Missing("written for x86-64")
    found, made, _ = observe(UNWOUND, "same", 1)
    failures.check(weight_of(found, "leads_to_itself") > 0.8 * weight_of(found) > 0, "the function is known", found)
    failures.check(max(len(frames) for frames, _ in found) < 140, "a stack has a limit")
    failures.check(made["samples"]["lost"].get("truncated", 0) > 100, "its callers are counted as missing", made["samples"])
    found, made, _ = observe(UNWOUND, "endless", 1)
    failures.check(weight_of(found, "never_ends") > 0.8 * weight_of(found) > 0, "the function is known", found)
    failures.check(made["samples"]["unwinding_ns"] < 0.5e9, "the time for a stack is limited", made["samples"])


def case_stripped():
    """Without symbols and debugging information, functions are named by their beginnings."""
    stripped = work / "stripped"
    subprocess.run([tool("strip"), "-o", stripped, UNWOUND], check=True)
    stripped.chmod(0o755)
    found, _, _ = observe(stripped, "chain", 1)
    deep = sum(weight for frames, weight in found if sum("stripped+0x" in frame for frame in frames) >= 4)
    failures.check(deep > 0.9 * weight_of(found) > 0, "all callers are there", found)


def case_cost():
    """The report has the observer's own CPU time."""
    _, made, _ = observe(UNWOUND, "chain", 2, frequency=99)
    samples = made["samples"]
    print(f"{samples['unwinding_ns'] / samples['samples'] / 1e3:.1f} us for a stack; observer: {samples['observer_ns'] / 1e6:.1f} ms")
    failures.check(0 < samples["unwinding_ns"] < samples["observer_ns"], "with a part for stacks", samples)
    failures.check(samples["observer_ns"] < 1e9, "it is limited", samples)
    _, made, _ = observe(UNWOUND, "chain", 0.5, stacks="frame-pointers")
    failures.equal(made["samples"].get("unwinding_ns"), None, "which is absent if stacks are not copied")


def case_default_frequency():
    for stacks, expected in (("auto", 99), ("frame-pointers", 997)):
        done = subprocess.run([*AS_NOBODY, ADAPTYST, "run", "--format=none", "--engine=inline", "--context=samples",
                               f"--stacks={stacks}", f"--output={work}/p.json", "--", UNWOUND, "chain", "1"], capture_output=True,
                              text=True, timeout=60, check=True, cwd=work, env={**PLAIN, "HOME": str(work)})
        samples = json.loads((work / "p.json").read_text())["samples"]
        failures.equal(round(1e9 * samples["samples"] / samples["observed_ns"]), expected, done.stderr)


def case_own_collector():
    """A collector in the program takes no copies; a message has the reason."""
    done = subprocess.run([ADAPTYST, "run", "--format=none", "--engine=ebpf", "--stacks=dwarf", "--context=samples", "--", UNWOUND,
                           "chain", "0.2"], capture_output=True, text=True, timeout=60, check=False, cwd=work, env=PLAIN)
    if "ebpf" in done.stderr and done.returncode != 0:
        raise Missing("engine ebpf is not permitted")
    failures.check("stacks=dwarf is not possible here" in " ".join(done.stderr.split()), "it is reported", done.stderr)


run_cases(globals(), sys.argv[3:], failures)
