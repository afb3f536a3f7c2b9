#!/usr/bin/env python3
"""One observer for all ranks of a machine: node.py ADAPTYST PROGRAM IMPLEMENTATION [CASE …]

PROGRAM is uneven_ranks; IMPLEMENTATION is openmpi or mpich; the launcher has the same suffix."""
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, IMPLEMENTATION = sys.argv[1:4]
ENGINE = os.environ.get("ADAPTYST_TEST_ENGINE", "inline")
LIMIT = 120  # seconds that nothing here comes near to
LAUNCHER = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader,tcp"], "mpich": ["mpirun.mpich"]}[IMPLEMENTATION]
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Each rank is another process of the shell.
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
failures = Failures()
work = scratch()
started = []


def in_front(output="all.json", *more):
    return [ADAPTYST, "run", "--node", f"--engine={ENGINE}", "--overhead=none", f"--output={output}", *more, "--"]


def launch(*words, at):
    directory = work / at
    directory.mkdir(exist_ok=True)
    started.append(subprocess.Popen([*LAUNCHER, *map(str, words)], cwd=directory, text=True, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **ROOT_MAY}))
    return started[-1]


def finish(process):
    out, messages = process.communicate(timeout=LIMIT)
    return process.returncode, out, messages


def load(at, name="all.json"):
    return profiles.read((work / at / name).read_text())


def parents():
    of = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                of[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                pass  # it has ended
    return of


def observers_below(process):
    """The observers that ranks of this launcher have made."""
    of, found = parents(), []
    for entry in of:
        above = entry
        while above in of and above != process.pid:
            above = of[above]
        try:
            if above == process.pid and pathlib.Path(f"/proc/{entry}/comm").read_text().strip() == "adaptyst-node":
                found.append(entry)
        except OSError:
            pass
    return found


def await_observers(process):
    until = time.monotonic() + 20
    while not (found := observers_below(process)) and time.monotonic() < until:
        time.sleep(0.01)
    return found


def check_ranks(profile, out, ranks, how):
    times = {int(rank): (int(least), int(most)) for rank, least, most in re.findall(r"rank (\d+): (\d+) to (\d+) ns", out)}
    failures.equal(len(times), ranks, f"{how}: each rank has told its time")
    failures.equal((profile["ranks"], profile["engine"]), (ranks, ENGINE), f"{how}: ranks, engine")
    row = next(region for region in profile["regions"] if region["path"] == ["work"])
    failures.equal(row["count"], 5 * ranks, f"{how}: calls")
    total = row["across_ranks"]["total_ns"]
    least, most = min(times, key=times.get), max(times, key=times.get)
    failures.equal((total["min_rank"], total["max_rank"]), (least, most), f"{how}: who took least and most")
    mean = [sum(bound) / ranks for bound in zip(*times.values())]
    for name, (at_least, at_most) in (("min", times[least]), ("max", times[most]), ("mean", mean)):
        failures.check(0.999 * at_least <= total[name] <= 1.001 * at_most, f"{how}: {name} is right", (at_least, total[name], at_most))
    failures.equal(sorted(process["rank"] for process in profile["processes"]), list(range(ranks)), f"{how}: its processes")


def case_one_report():
    for output, written in (("all.json", "all.json"), ("all-%r.json", f"all-{os.uname().nodename}.json")):
        status, out, messages = finish(launch("-n", 4, *in_front(output), PROGRAM, "destructor", at=output.strip("%")))
        failures.equal((status, messages.count("events begun")), (0, 1), f"{output}: status, and one report")
        failures.equal([file.name for file in (work / output.strip("%")).iterdir()], [written], f"{output}: its name")
        check_ranks(load(output.strip("%"), written), out, 4, output)


def has_programs_in_kernel(pid):
    """Descriptors close while they are read, and this is no reason to leave out the others."""
    for entry in pathlib.Path(f"/proc/{pid}/fdinfo").glob("*"):
        try:
            if "prog_id" in entry.read_text():
                return True
        except OSError:
            pass
    return False


def with_programs_in_kernel(process):
    """The processes below this launcher that hold BPF programs."""
    of, found = parents(), []
    for item in of:
        above = item
        while above in of and above != process.pid:
            above = of[above]
        if above == process.pid and has_programs_in_kernel(item):
            found.append(item)
    return found


def case_one_set_of_programs():
    process = launch("-n", 4, *in_front(), "sh", "-c", "echo here; sleep 2", at="programs")
    for _ in range(4):
        process.stdout.readline()  # all have begun
    observers = observers_below(process)
    failures.equal(len(observers), 1, "one observer")
    failures.equal(with_programs_in_kernel(process), observers if ENGINE == "ebpf" else [], "which alone has programs in the kernel")
    failures.equal(finish(process)[0], 0, "status")


def case_functions():
    if ENGINE != "ebpf":
        return failures.check(True, "functions need ebpf")
    status, _, messages = finish(launch("-n", 4, *in_front("all.json", "--functions=mpi"), PROGRAM, "destructor", at="functions"))
    failures.equal(status, 0, "status")
    rows = load("functions")["regions"]
    failures.equal(sum(row["count"] for row in rows if row["path"][-1] == "MPI_Finalize"), 4, "of all ranks, each once")
    failures.equal(sum(row["count"] for row in rows if row["path"][-1] == "work"), 20, "in addition to their markers")
    failures.equal(len(set(re.findall("not probed: .*", messages))), messages.count("not probed: "), "what cannot be is reported once")


def case_observer_killed():
    process = launch("-n", 4, *in_front(), "sh", "-c", "echo here; sleep 2; echo done", at="killed")
    for _ in range(4):
        process.stdout.readline()
    for observer in await_observers(process):
        os.kill(observer, 9)
    status, out, messages = finish(process)
    failures.equal((status, out.count("done")), (0, 4), "the programs run on, with their status")
    failures.equal(messages.count("the program runs on, and there is no report"), 4, "each rank reports it")


def case_a_rank_that_fails():
    for rank in (0, 1):
        for how, least in (("kill -SEGV $$", 1), ("exit 7", 7)):
            if how == "exit 7" and IMPLEMENTATION == "mpich":
                continue  # which lets the others go on
            begin = time.monotonic()
            process = launch("-n", 4, *in_front(), "sh", "-c", f"if [ {RANK} = {rank} ]; then {how}; fi; sleep 30", at="failing")
            status, _, messages = finish(process)
            failures.check(status >= least, f"rank {rank}, {how}: the launcher sees it", status)
            failures.check(time.monotonic() - begin < 25, f"rank {rank}, {how}: at once", messages)


def case_abort():
    status, _, _ = finish(launch("-n", 4, *in_front(), PROGRAM, "abort", at="abort"))
    failures.equal(status, 5, "the program's status, and no hang")
    until = time.monotonic() + 20  # its launcher may be gone before
    while not (work / "abort/all.json").exists() and time.monotonic() < until:
        time.sleep(0.01)
    failures.equal(load("abort")["ranks"], 4, "what came until then is reported")


def case_unequal_options():
    both = [word for name in ("a", "b") for word in (":", "-n", 2, *in_front(f"{name}.json"), PROGRAM, "destructor")][1:]
    status, out, messages = finish(launch(*both, at="unequal"))
    failures.equal((status, messages.count("events begun")), (0, 2), "status, and a report for each")
    ranks = [sorted(process["rank"] for process in load("unequal", name)["processes"]) for name in ("a.json", "b.json")]
    failures.equal(ranks, [[0, 1], [2, 3]], "whose it is")


def case_two_jobs():
    jobs = [launch("-n", 3, *in_front(), PROGRAM, "destructor", at="two") for _ in range(2)]
    outs = []
    for job in jobs:
        status, out, messages = finish(job)
        failures.equal((status, messages.count("events begun")), (0, 1), "status, and one report")
        outs.append(out)
    found = [profiles.read(file.read_text()) for file in (work / "two").iterdir()]
    failures.equal([report["ranks"] for report in found], [3, 3], "each job has its own")
    failures.equal([len({process["rank"] for process in report["processes"]}) for report in found], [3, 3], "and its ranks")


run_cases(globals(), sys.argv[4:], failures, started)
