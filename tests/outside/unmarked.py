#!/usr/bin/env python3
"""The report on a program without markers: unmarked.py ADAPTYST UNMARKED MARKED [CASE …]

UNMARKED is unmarked_work, of which is known where it computes; MARKED is marked_program."""
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
from states import find_child  # noqa: E402

ADAPTYST, UNMARKED, MARKED = sys.argv[1:4]
LIMIT = 60  # seconds that nothing here comes near to
failures = Failures()
profile_file = scratch() / "profile.json"
started = []


def run(*arguments, engine="auto"):
    done = subprocess.run([ADAPTYST, "run", f"--engine={engine}", f"--output={profile_file}", "--", *map(str, arguments)],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    return done, json.loads(profile_file.read_text())


def case_its_functions():
    for arguments in ([UNMARKED, 30], [UNMARKED, 30, "child"], ["sh", "-c", f"{UNMARKED} 30; true"]):
        done, profile = run(*arguments)
        failures.equal(done.returncode, 0, "the program's status")
        found = profile.get("functions", {})
        failures.check(found.get("work_long", 0) > found.get("work_short", 0) > 0, f"{arguments}: where it computes", found)
        failures.equal(max(found, key=found.get, default=None), "work_long", f"{arguments}: most of it")
        table = done.stderr
        failures.check("no markers" in table and "work_long" in table and "ADAPTYST_REGION" in table, "the table says so", table)
        failures.check("0 events" not in table and "0 ns" not in table and "device" not in table, "without zeros", table)
        again = subprocess.run([ADAPTYST, "report", profile_file], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
        failures.equal(again.split("no markers")[1], table.split("no markers")[1].rpartition("adaptyst: written")[0], "so does the report of its file")


def case_without_ebpf():
    done, profile = run(UNMARKED, 1, engine="inline")
    failures.check("no markers" in done.stderr and "doctor" in done.stderr, "what can be done", done.stderr)
    failures.check("functions" not in profile, "nothing is made up", profile)


def case_its_end():
    """The run ends with the program, and not with the last look, which is up to a second earlier."""
    for seconds in (0.3, 1.3, 1.9):
        _, profile = run("sleep", seconds, engine="inline")
        shown = profile["process"]["duration_ns"] / 1e9
        failures.check(seconds <= shown < seconds + 0.5, f"sleep {seconds}: how long it ran", shown)
        failures.equal(profile["devices"][0]["observed_ns"], profile["process"]["duration_ns"], "the host was observed as long")
    _, profile = run(UNMARKED, 150, engine="inline")  # over a second, so that the program is read before its end
    process = profile["process"]
    failures.check(process["thread_list"][0]["on_cpu_ns"] < process.get("cpu_ns", 0) <= process["duration_ns"],
                   "CPU time up to its end, and not to the last look", process)


def case_its_signal():
    """By which signal a program has ended, with markers or without; one that ended by itself has none."""
    for program in (["sh", "-c", "kill -{} $$"], ["sh", "-c", f"{MARKED} 100; kill -{{}} $$"]):
        for number, word in ((9, "Killed"), (15, "Terminated"), (11, "Segmentation fault")):
            done, profile = run(*(part.format(number) for part in program), engine="inline")
            failures.equal(done.returncode, -number, "adaptyst ends by it as well")
            by = [process.get("signal") for process in profile.get("processes", [profile["process"]])]
            failures.equal([number_found for number_found in by if number_found is not None], [number], f"{program}: the profile has it")
            failures.check(f"signal {number} ({word})" in " ".join(done.stderr.split()), "the report names it", done.stderr)
    done, profile = run("sh", "-c", "exit 9")
    failures.equal((done.returncode, "signal" in profile["process"], "signal" in done.stderr), (9, False, False), "none where none did")


def case_functions_that_were_not_called():
    """Asked for, and none ran: what the threads did is not known, and is not 0."""
    done = subprocess.run([ADAPTYST, "run", "--functions=libm.so.6:tgamma", f"--output={profile_file}", "--", UNMARKED, "60"],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    profile = json.loads(profile_file.read_text())
    failures.check(profile["devices"][0].get("context") is None, "no sum of nothing", profile["devices"][0])
    for zero in ("its threads waited", "0 switches", "0 page faults", "0 events", "0 ns"):
        failures.check(zero not in done.stderr, f"no '{zero}'", done.stderr)
    failures.check("work_long" in done.stderr and "no requested function was called" in " ".join(done.stderr.split()), "where it computed", done.stderr)


def case_functions_that_are_left_out():
    """By a pattern of their names; others that were asked for are there."""
    for pattern, expected in (("none*", {"work_long": 20, "work_short": 20}), ("*_sh?rt", {"work_long": 20}), ("work_*", {})):
        subprocess.run([ADAPTYST, "run", f"--functions={UNMARKED}:work_*", f"--without={pattern}", "--single-stepped", f"--output={profile_file}", "--",
                        UNMARKED, "20"], capture_output=True, timeout=LIMIT, check=True)
        regions = json.loads(profile_file.read_text())["regions"]
        failures.equal({region["name"]: region["count"] for region in regions}, expected, f"without {pattern}")


def case_one_with_markers():
    for arguments in ([MARKED, 100], ["sh", "-c", f"{MARKED} 100; true"]):
        done, profile = run(*arguments)
        failures.check("no markers" not in done.stderr and "functions" not in profile, "has a report of its own", done.stderr)
        failures.check("samples" not in profile, "and no samples", profile.get("samples"))


def case_few_pages():
    """The kernel's types are read into huge pages, and its list of functions is not read: before, 11,000 page faults."""
    has_huge_pages = "[never]" not in pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    if not has_huge_pages or b"__asan_report_load8" in pathlib.Path(ADAPTYST).read_bytes():
        raise Missing("huge pages, or the command has a sanitizer")
    process = os.posix_spawn(ADAPTYST, [ADAPTYST, "run", "--format=none", "--", "true"], os.environ)
    _, status, used = os.wait4(process, 0)
    failures.equal(status, 0, "the program's status")
    failures.check(used.ru_minflt < 4500, f"{used.ru_minflt} page faults")


def case_attached():
    """attach and top show the same of one that runs already; top what was sampled in the interval."""
    program = subprocess.Popen([UNMARKED, "100000"], stdout=subprocess.DEVNULL)
    started.append(program)
    done = subprocess.run([ADAPTYST, "attach", "--duration=0.5", f"--output={profile_file}", str(program.pid)], capture_output=True,
                          text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "attach ends well")
    failures.check("no markers" in done.stderr and "work_long" in done.stderr, "where it computes", done.stderr)
    found = json.loads(profile_file.read_text()).get("functions", {})
    failures.equal(max(found, key=found.get, default=None), "work_long", "most of it")
    done = subprocess.run([ADAPTYST, "top", "--duration=2.2", "--interval=1", str(program.pid)], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "top ends well")
    failures.check("work_long" in done.stdout.rpartition("adaptyst: ")[2], "top shows it as well", done.stdout + done.stderr)
    stacks = profile_file.with_suffix(".folded")
    done = subprocess.run([ADAPTYST, "attach", "--duration=0.5", f"--output={stacks}", "--format=none", str(program.pid)],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "attach with stacks ends well")
    failures.check(stacks.exists() and "work_long" in stacks.read_text(), "and writes them", done.stderr)
    parent = subprocess.Popen(["sh", "-c", f"{UNMARKED} 100000 & wait"], stdout=subprocess.DEVNULL, start_new_session=True)
    child = find_child(parent.pid, pathlib.Path(UNMARKED).name)
    stacks.unlink()
    subprocess.run([ADAPTYST, "attach", "--duration=0.5", f"--output={stacks}", "--format=none", str(parent.pid)], capture_output=True,
                   timeout=LIMIT, check=False)
    failures.check(stacks.exists() and "work_long" in stacks.read_text(), f"also those of a child that runs already, {child}")
    os.killpg(parent.pid, signal.SIGKILL)
    parent.wait()


run_cases(globals(), sys.argv[4:], failures, started)
