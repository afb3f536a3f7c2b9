#!/usr/bin/env python3
"""Flame graphs of programs observed from outside: sampling.py ADAPTYST SAMPLED [CASE …]

SAMPLED: tests/live/sampled.cpp, with frame pointers.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import profiles  # noqa: E402
import chance  # noqa: E402
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
from states import find_child, computes  # noqa: E402

ADAPTYST, SAMPLED = sys.argv[1:3]
failures = Failures()
work = scratch()
started = []


def observe(*command, engine="ebpf", wait=True, frequency=199):
    words = [ADAPTYST, "run", "--format=none", f"--engine={engine}", f"--sample-frequency={frequency}", f"--output={work}/p.json",
             f"--output={work}/p.folded", f"--output={work}/p.speedscope.json", "--", *map(str, command)]
    if wait:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        failures.check(done.returncode == 0, "the program ran", done.stderr)
        return done
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started.append(running)
    return running


def lines():
    """Of the folded file: (frames, weight in us)."""
    made = []
    for line in (work / "p.folded").read_text().splitlines():
        frames, _, weight = line.rpartition(" ")
        made.append((frames.split(";"), int(weight)))
    return made


def find_weight(stacks, *wanted):
    """Of those that have these frames in this order, right behind one another."""
    wanted = list(wanted)
    return sum(weight for frames, weight in stacks
               if any(frames[at:at + len(wanted)] == wanted for at in range(len(frames))))


def plain(stacks):
    """Without what compilers add when they split a function."""
    return [([frame.split(" [clone")[0].split(".cold")[0].split(".part")[0] for frame in frames], weight)
            for frames, weight in stacks]


def find_context(path):
    profile = profiles.read((work / "p.json").read_text())
    return next(row for row in profile["regions"] if row["path"] == path)


def blocked_ns(context):
    return sum(context[key] for key in ("sleep_ns", "lock_ns", "io_ns", "other_ns"))


def close(a, b, share):
    return abs(a - b) <= share * max(a, b)


def case_chain():
    for engine in ("ebpf", "inline"):
        observe(SAMPLED, "chain", 1, engine=engine, frequency=2999)
        stacks = plain(lines())
        computing = find_weight(stacks, "all", "computes", "[on-cpu]")
        chain = find_weight([stack for stack in stacks if "[on-cpu]" in stack[0]], "outer(double)", "middle(double)",
                          "inner(double)")
        failures.check(chain > 0.9 * computing > 0, f"{engine}: the chain of calls is named", f"{chain} of {computing}")
        row = find_context(["all", "computes"])
        on_core, samples = row["self_context"]["on_cpu_ns"], row["samples"]
        failures.check(close(computing * 1e3, on_core, chance.count_tolerance(samples)), f"{engine}: samples stand for the time on a core",
                       f"{computing} us, {on_core} ns, {samples} samples")
        sleeping = find_weight([stack for stack in stacks if "[blocked]" in stack[0]], "rest(double)")
        blocked = blocked_ns(find_context(["all", "sleeps"])["self_context"])
        failures.check(close(sleeping * 1e3, blocked, 0.05), f"{engine}: what sleeps is named, for as long as it slept",
                       f"{sleeping} us, {blocked} ns")
        unknown = sum(weight for frames, weight in stacks if frames[0] != pathlib.Path(SAMPLED).name)
        failures.check(unknown == 0, f"{engine}: every line begins with the program's name")


def case_shares():
    for rhythm in ("fixed", "random"):
        observe(SAMPLED, rhythm, 1.5, frequency=2999)
        rows = [find_context([name]) for name in ("seventy", "thirty")]
        samples = [row["samples"] for row in rows]
        on_core = [row["self_context"]["on_cpu_ns"] for row in rows]
        share, expected = samples[0] / sum(samples), on_core[0] / sum(on_core)
        failures.check(abs(share - expected) < chance.share_tolerance(expected, sum(samples)), f"{rhythm}: shares of samples are those of time",
                       f"{share:.4f}, not {expected:.4f}, of {sum(samples)} samples")


def case_speedscope():
    """By the rules at https://www.speedscope.app/file-format-schema.json."""
    observe(SAMPLED, "chain", 1)
    made = json.loads((work / "p.speedscope.json").read_text())
    failures.check(made["$schema"] == "https://www.speedscope.app/file-format-schema.json", "the schema is named")
    frames = made["shared"]["frames"]
    failures.check(all(isinstance(frame["name"], str) for frame in frames), "each frame has a name")
    failures.check(len({frame["name"] for frame in frames}) == len(frames), "no frame stands there twice")
    folded = lines()
    states = {"on CPU": "[on-cpu]", "blocked": "[blocked]", "waiting for a core": "[waiting]"}
    failures.check([profile_of_state["name"] for profile_of_state in made["profiles"]] == list(states), "a profile for each state")
    for profile in made["profiles"]:
        failures.check(set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"} and
                       profile["type"] == "sampled" and profile["unit"] == "nanoseconds" and profile["startValue"] == 0,
                       f"{profile['name']}: the keys of a sampled profile")
        failures.check(len(profile["samples"]) == len(profile["weights"]), "a weight for each sample")
        failures.check(all(0 <= frame < len(frames) for sample in profile["samples"] for frame in sample),
                       "frames are numbers of frames")
        failures.check(profile["endValue"] == sum(profile["weights"]), "the end is the sum of the weights")
        same = sum(weight for entry, weight in folded if states[profile["name"]] in entry) * 1e3
        failures.check(close(profile["endValue"], same, 0.02) or profile["endValue"] < 1e6,
                       f"{profile['name']}: as much as in the folded file", f"{profile['endValue']}, {same}")


def case_stripped():
    if shutil.which("strip") is None:
        raise Missing("no strip")
    stripped = work / "stripped"
    shutil.copy(SAMPLED, stripped)
    subprocess.run(["strip", stripped], check=True)
    done = observe(stripped, "chain", 1)
    failures.check("adaptyst: stripped: " in done.stderr and "-dbgsym" in done.stderr, "how to get the names is reported", done.stderr)
    names = {frame for frames, _ in lines() for frame in frames}
    failures.check(any(name.startswith("stripped+0x") for name in names), "places in a stripped file are named so", names)
    failures.check(not any("inner" in name or "outer" in name for name in names), "and not as functions")
    own = {name for name in names if name.startswith("stripped+0x")}
    listed = subprocess.run(["nm", SAMPLED], capture_output=True, text=True, check=True).stdout.split("\n")
    begins = {f"stripped+{int(line.split()[0], 16):#x}" for line in listed if len(line.split()) == 3 and line.split()[1] in "tTwW"}
    # Code that calls functions of libraries has one table for a whole section, and no symbols.
    sections = subprocess.run(["readelf", "-SW", SAMPLED], capture_output=True, text=True, check=True).stdout
    begins |= {f"stripped+{int(address, 16):#x}" for address in re.findall(r"\] \.plt\S*\s+PROGBITS\s+([0-9a-f]+)", sections)}
    # Functions of probes, of 17 bytes, have no unwinding table, which has the begins of the others.
    probes = [int(line.split()[0], 16) for line in listed if " adaptyst_probe_" in line]
    own = {name for name in own if not any(0 < int(name.rpartition("+")[2], 16) - probe < 17 for probe in probes)}
    failures.check(own <= begins, "one place for each function, its begin, not for each instruction", own - begins)


def case_deleted():
    copy = work / "deleted"
    shutil.copy(SAMPLED, copy)
    running = observe(copy, "chain", 3, wait=False)
    computes(find_child(running.pid, copy), 0.1)
    copy.unlink()
    failures.check(running.wait(30) == 0, "the program ran")
    stacks = plain(lines())
    failures.check(find_weight(stacks, "middle(double)", "inner(double)") > 0,
                   "functions of a file that was deleted meanwhile are named")


def case_killed():
    running = observe(SAMPLED, "chain", 20, wait=False)
    child = find_child(running.pid, SAMPLED)
    computes(child, 0.4)
    os.kill(child, signal.SIGKILL)
    failures.check(running.wait(30) == -signal.SIGKILL, "the program was killed")
    stacks = plain(lines())
    failures.check(find_weight(stacks, "middle(double)", "inner(double)") > 0, "what was killed is named all the same", stacks)


def case_unmarked():
    """One that has no markers, and so no regions: all of it is outside."""
    program = ["python3", "-c", "import time\nwhile time.process_time() < 1: pass"]
    observe(*program)
    stacks = lines()
    outside = find_weight([stack for stack in stacks if stack[0][0].startswith("python3")], "(outside)", "[on-cpu]")
    failures.check(outside > 500_000, "a program without markers is sampled", f"{outside} us")
    failures.check(any(any("python3" in frame or "Py" in frame for frame in frames[3:]) for frames, _ in stacks),
                   "and its code named")


def case_refused():
    done = subprocess.run([ADAPTYST, "run", "--output=x.svg", "--", "true"], capture_output=True, text=True, check=False)
    failures.check(done.returncode != 0 and ".folded" in done.stderr and ".speedscope.json" in done.stderr,
                   "another sort of file is refused", done.stderr)


run_cases(globals(), sys.argv[3:], failures, started)
