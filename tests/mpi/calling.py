#!/usr/bin/env python3
"""Calls of MPI as regions, of programs that know nothing of it: calling.py ADAPTYST FOLDER IMPLEMENTATION [CASE …]

FOLDER has plain_ranks, fortran_mpif and others, each with _IMPLEMENTATION behind its name."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, FOLDER, IMPLEMENTATION = sys.argv[1:4]
LIMIT = 120  # seconds that nothing here comes near to
LAUNCHER = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader,tcp"], "mpich": ["mpirun.mpich"]}[IMPLEMENTATION]
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Without this, MPICH's launcher kills other ranks if one ends with a status: their reports would be missing.
KEEP_RANKS = ["-disable-auto-cleanup"] if IMPLEMENTATION == "mpich" else []
LATE_MS = 100  # rank 2, in five calls
failures = Failures()
work = scratch()
runs = 0


def program(name):
    return f"{FOLDER}/{name}_{IMPLEMENTATION}"


def start(ranks, *command, with_="mpi", options=(), launched=True, launcher=LAUNCHER, **variables):
    """Each rank is run by the command; or the launcher is; or, with launched=None, `command` starts the ranks."""
    global runs
    runs += 1
    at = work / str(runs)
    at.mkdir()
    observed = [ADAPTYST, "run", f"--with={with_}", "--engine=inline", "--overhead=none", "--output=all.json", *options, "--"]
    launcher = [*launcher, "-n", str(ranks)]
    words = [*launcher, *observed, *command] if launched else [*observed, *(launcher if launched is False else []), *command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=at,
                          env={**os.environ, **ROOT_MAY, **variables})
    return done, at


def read(at):
    return profiles.read((at / "all.json").read_text())


def count(profile, name):
    return sum(row["count"] for row in profile["regions"] if row["name"].split(" [")[0] == name)


def find_row(profile, name):
    return next(row for row in profile["regions"] if row["name"] == name)


def check_meeting(done, at, how, ranks=4, meetings=5):
    failures.equal(done.returncode, 0, f"{how}: status, {done.stderr[-2000:]}")
    failures.equal(done.stderr.count("events begun"), 1, f"{how}: one report")
    failures.equal(sorted(file.name for file in at.iterdir()), ["all.json"], f"{how}: one file")
    profile = read(at)
    failures.equal(profile["ranks"], ranks, f"{how}: ranks")
    for name, calls in (("MPI_Init", 1), ("MPI_Allreduce", meetings), ("MPI_Irecv", 3), ("MPI_Isend", 3), ("MPI_Waitall", 3)):
        failures.equal(count(profile, name), calls * ranks, f"{how}: {name}")
    failures.equal(find_row(profile, "MPI_Isend")["attributes"]["bytes"]["sum"], 3 * ranks * 4000, f"{how}: bytes sent")
    failures.equal(find_row(profile, "MPI_Irecv")["attributes"], {}, f"{how}: how much comes is not known, which is not 0")
    joint = find_row(profile, "MPI_Allreduce")["joint"]
    failures.equal((joint["calls"], joint["step"], joint["last_rank"]), (meetings, 1, 2), f"{how}: who came last")
    # On a machine that does other work, another one may be late as well.
    failures.check(joint["last_calls"] >= 3, f"{how}: in these it was the last", joint)
    expected = LATE_MS * 1e6 * (ranks - 1)
    failures.check(expected * 0.5 < joint["waited_ns"] < expected * 5, f"{how}: the others waited", (joint, expected))
    return profile


def case_c_program():
    done, at = start(4, program("plain_ranks"))
    profile = check_meeting(done, at, "C")
    failures.check("MPI_Allreduce: " in done.stderr and "rank 2" in done.stderr, "a finding names it", done.stderr)
    failures.equal([region for region in profile["regions"] if region["name"] == "MPI_Comm_dup"], [], "what we call is not the program's")


def case_copied_stacks():
    """The library of MPI has no frame pointers."""
    done, at = start(3, program("plain_ranks"), options=("--stacks=dwarf", "--sample-frequency=997", "--output=rank-%r.folded"))
    if "cannot sample stacks with perf_event_open" in done.stderr:
        raise Missing("stack samples")
    failures.equal(done.returncode, 0, f"status: {done.stderr[-2000:]}")
    failures.check("frame pointers" not in done.stderr, "stacks are copied", done.stderr)
    lines = [line.rpartition(" ") for rank in (0, 1) for line in (at / f"rank-{rank}.folded").read_text().splitlines()]
    waits = [(stack, int(number)) for stack, _, number in lines if ";MPI_Allreduce;[on-cpu];" in stack]
    called = sum(number for stack, number in waits if re.search(";main;.*PMPI_Allreduce;.+", stack))
    # Without tables, no stack has these; on a busy machine, there are few samples.
    failures.check(called > 0, "the callers inside and outside of MPI", waits)
    failures.check(read(at)["samples"]["unwinding_ns"] > 0, "the cost of stacks", done.stderr)


def case_launcher_below():
    done, at = start(4, program("plain_ranks"), launched=False)
    check_meeting(done, at, "the launcher is run by the command")


def case_script():
    script = work / "script.sh"
    script.write_text(f"#!/bin/sh\nexec {program('plain_ranks')}\n")
    script.chmod(0o755)
    done, at = start(4, str(script), with_=IMPLEMENTATION)
    check_meeting(done, at, "a script")
    done, at = start(4, str(script))  # the launcher sets the rank
    check_meeting(done, at, "a script, and the command finds out")


def case_fortran():
    for binding in ("fortran_mpif", "fortran_use", "fortran_f08"):
        if not os.path.exists(program(binding)):
            failures.check(os.environ.get("CI") != "true", f"{binding} was built", os.listdir(FOLDER))
            continue
        done, at = start(4, program(binding))
        check_meeting(done, at, binding, meetings=6)


def case_other_tool():
    """Loaded before ours, or linked with the program."""
    done, at = start(4, program("plain_ranks"), LD_PRELOAD=f"{FOLDER}/libother_tool_{IMPLEMENTATION}.so")
    check_meeting(done, at, "another tool, preloaded")
    failures.equal(done.stderr.count("the other tool saw 3 messages"), 4, "it sees its messages")
    done, at = start(4, program("tooled_ranks"))
    check_meeting(done, at, "another tool, linked")
    failures.equal(done.stderr.count("the other tool saw 3 messages"), 4, "it sees its messages, linked")


def case_linked():
    """The library is linked with the program, and MPICH is in it."""
    global runs
    runs += 1
    at = work / str(runs)
    at.mkdir()
    done = subprocess.run([*LAUNCHER, "-n", "4", program("linked_ranks")], capture_output=True, text=True, timeout=LIMIT, check=False, cwd=at,
                          env={**os.environ, **ROOT_MAY, "ADAPTYST": "engine=inline,overhead=none,output=all.json"})
    check_meeting(done, at, "linked")


def case_labels():
    done, at = start(2, program("plain_ranks"), ADAPTYST_MPI_LABELS="peer,distance,communicator")
    profile = read(at)
    names = sorted({row["name"] for row in profile["regions"] if row["name"].startswith("MPI_Isend")})
    failures.equal(names, [f"MPI_Isend [peer={peer},distance=node,communicator=MPI_COMM_WORLD]" for peer in (0, 1)], "labels")
    done, at = start(2, program("plain_ranks"), options=["--output=run-%r.events"], ADAPTYST_MPI_LABELS="peer,bytes,communicator")
    logs = [at / f"run-{rank}.events" for rank in range(2)]
    done = subprocess.run([ADAPTYST, "convert", *logs, "-o", at / "run.otf2"], capture_output=True, text=True, check=False)
    failures.equal(done.returncode, 0, f"an archive of both ranks: {done.stderr}")
    if shutil.which("otf2-print"):
        printed = subprocess.run(["otf2-print", at / "run.otf2"], capture_output=True, text=True, check=True).stdout
        sent = re.findall(r'^MPI_SEND +\d+ +\d+ +Receiver: (\d) .*Communicator: "MPI_COMM_WORLD".*Length: (\d+)', printed, re.MULTILINE)
        failures.equal(sorted(sent), [("0", "4000")] * 3 + [("1", "4000")] * 3, f"sends in the archive: {done.stderr}")
        failures.equal(printed.count("Operation: ALLREDUCE"), 2 * 5, "collective calls in the archive")
    done, at = start(2, program("plain_ranks"), ADAPTYST_MPI_LABELS="peers")
    failures.check("unknown value peers" in done.stderr, "a label that there is not", done.stderr)


def case_threads():
    done, at = start(2, program("plain_ranks"), "threads")
    failures.equal(done.returncode, 0, f"threads: status, {done.stderr[-2000:]}")
    profile = read(at)
    failures.equal(count(profile, "MPI_Barrier"), 2 * 400, "calls of four threads a rank")
    failures.equal(count(profile, "MPI_Comm_dup"), 2 * 4, "communicators")
    failures.equal(find_row(profile, "MPI_Barrier")["joint"]["calls"], 400, "calls of each communicator are matched")


def case_communicators():
    done, at = start(2, program("plain_ranks"), "communicators")
    failures.equal(done.returncode, 0, f"communicators: status, {done.stderr[-2000:]}")
    profile = read(at)
    for name in ("MPI_Comm_dup", "MPI_Comm_free", "MPI_Barrier"):
        failures.equal(count(profile, name), 20000, name)
    joint = find_row(profile, "MPI_Barrier")["joint"]
    failures.equal(joint["step"], 2, "one of two was looked at: there is room for 8,192")
    failures.check(4500 < joint["calls"] < 5500, "and that many they are", joint)


def case_sparse():
    """Ranks leave a call before all have come where they have nothing to do with the late one."""
    done, at = start(4, program("plain_ranks"), "sparse")
    failures.equal(done.returncode, 0, f"sparse: status, {done.stderr[-2000:]}")
    row = find_row(read(at), "MPI_Alltoallv")
    failures.equal((row["count"], row.get("joint")), (4, None), "who came last is not told")


def case_groups():
    """Arguments that mean something at the root only are not read elsewhere."""
    done, at = start(4, program("plain_ranks"), "groups")
    failures.equal(done.returncode, 0, f"groups: status, {done.stderr[-2000:]}")
    row = find_row(read(at), "MPI_Scatterv")
    failures.equal((row["count"], row["attributes"]["bytes"]["sum"]), (4, 8), "what the root hands over")


def case_another_program():
    """A job of two programs, of which one has no library: they do not come together, and none hangs."""
    global runs
    runs += 1
    at = work / str(runs)
    at.mkdir()
    observed = [ADAPTYST, "run", f"--with={IMPLEMENTATION}", "--engine=inline", "--output=all.json", "--", program("plain_ranks"), "nothing"]
    done = subprocess.run([*LAUNCHER, "-n", "2", *observed, ":", "-n", "1", program("plain_ranks"), "nothing"], capture_output=True, text=True,
                          timeout=LIMIT, check=False, cwd=at, env={**os.environ, **ROOT_MAY, "ADAPTYST_MPI_LIMIT": "1"})
    failures.equal(done.returncode, 0, f"two programs: status, {done.stderr[-2000:]}")
    failures.check("not all ranks of this job have called MPI_Init with this library within 1 s" in done.stderr, "it is reported", done.stderr)
    failures.equal(sorted(file.name for file in at.iterdir()), ["all-0.json", "all-1.json"], "each rank that has it writes its own")


def case_limit():
    done, _ = start(1, program("plain_ranks"), "nothing", ADAPTYST_MPI_LIMIT="soon")
    failures.equal(done.returncode, 0, "status")
    failures.check("ADAPTYST_MPI_LIMIT=soon: not a number of seconds" in done.stderr, "a limit that is none", done.stderr)


def case_spawn():
    if IMPLEMENTATION == "mpich":
        return  # Debian's cannot spawn: it fails without us as well
    done, at = start(2, program("plain_ranks"), "spawn", launched=False)
    failures.equal(done.returncode, 0, f"spawn: status, {done.stderr[-2000:]}")
    written = [profiles.read(file.read_text()) for file in at.glob("*.json")]
    failures.equal(sorted(report["ranks"] for report in written), [1, 2], "a report for each world")


def case_exit():
    done, at = start(2, program("plain_ranks"), "exit", launcher=[*LAUNCHER, *KEEP_RANKS])
    failures.equal(done.returncode, 7, "the program's status")
    failures.equal(sorted(file.name for file in at.iterdir()), ["all-0.json", "all-1.json"], "each rank writes its own")
    failures.check("no report of all ranks" in done.stderr, "it is reported", done.stderr)


def case_abort():
    done, at = start(2, program("plain_ranks"), "abort")
    failures.equal(done.returncode, 5, "the program's status, and no hang")
    failures.check((at / "all-1.json").exists(), "the one that aborts writes its own", list(at.iterdir()))


def case_example():
    """Its last rank has a third more to do than the others."""
    example = pathlib.Path(FOLDER).parent.parent / "examples/mpi_heat"
    if IMPLEMENTATION != "openmpi" or not example.exists():
        return
    done, at = start(2, str(example))
    failures.equal((done.returncode, done.stdout), (0, "heat 1.000000000000\n"), f"the example: {done.stderr[-2000:]}")
    found = next((finding for finding in read(at)["findings"] if finding["kind"] == "late_rank"), None)
    failures.check(found is not None, "a rank is late", done.stderr)
    failures.equal((found or {}).get("path"), ["step", "add up", "MPI_Allreduce"], "where it is waited for")
    # On a machine that does other work, another one may be the last.
    if (found or {}).get("rank") == 1:
        failures.check(found.get("late_in", ["step"])[0] == "step", "where it is", found)


def case_own_collector():
    """One in the program steps back."""
    done, at = start(4, f"{FOLDER}/uneven_ranks_{IMPLEMENTATION}", "finalize")
    failures.equal(done.returncode, 0, f"status, {done.stderr[-2000:]}")
    failures.equal(done.stderr.count("events begun"), 1, "one report")
    profile = read(at)
    failures.equal((profile["ranks"], count(profile, "work")), (4, 20), "the program's own regions are in it")


def case_late_mpi():
    """A program that loads MPI after its start runs without the adapter, and this is reported."""
    done, at = start(2, program("late_program"), f"{FOLDER}/liblate_module_{IMPLEMENTATION}.so", with_=IMPLEMENTATION)
    failures.equal(done.returncode, 0, f"it runs: {done.stderr[-2000:]}")
    failures.check("has loaded MPI after its start" in done.stderr, "it is reported", done.stderr)
    for remedy in ("if the program is a Python script", "import mpi4py", "--functions mpi", "collector"):
        failures.check(remedy in done.stderr, f"the hint names {remedy}", done.stderr)
    failures.equal(list(at.iterdir()), [], "nothing is collected")


def case_python_driver():
    """A Python script that starts ranks gets no MPI, and its ranks are observed."""
    driver = work / "driver.py"
    driver.write_text("import os, subprocess, sys\n"
                      "with open('/proc/self/maps') as maps: assert 'libmpi' not in maps.read().replace('libadaptyst', ''), 'MPI is loaded'\n"
                      "sys.exit(subprocess.call(sys.argv[1:]))\n")
    done, at = start(0, sys.executable, "-B", str(driver), *LAUNCHER, "-n", "2", program("plain_ranks"), "nothing", with_=IMPLEMENTATION, launched=None)
    failures.equal(done.returncode, 0, f"a Python driver: status, {done.stderr[-2000:]}")
    failures.check("after its start" not in done.stderr, "no warning", done.stderr)
    failures.equal(read(at).get("ranks") if (at / "all.json").exists() else None, 2, f"its ranks: {done.stderr[-2000:]}")


def case_both_mpis():
    both = subprocess.run([ADAPTYST, "run", "--with=openmpi,mpich", "--", "true"], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(both.returncode, 2, "a program has one MPI")
    failures.check("--with mpi" in both.stderr, "what to do", both.stderr)


def case_without_mpi():
    done, at = start(1, "true", with_=IMPLEMENTATION, launched=True)
    failures.equal(done.returncode, 0, f"a program without MPI runs on: {done.stderr[-2000:]}")
    alone = subprocess.run([ADAPTYST, "run", "--with=mpi", "--", "true"], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(alone.returncode, 2, "which MPI it is cannot be determined")
    failures.check("--with openmpi" in alone.stderr, "what to do", alone.stderr)
    bound = subprocess.run([ADAPTYST, "run", f"--with={IMPLEMENTATION}", "--format=none", "--", "env", "true"], capture_output=True, text=True,
                           timeout=LIMIT, check=False, env={**os.environ, "LD_BIND_NOW": "1"})
    failures.equal((bound.returncode, bound.stderr), (0, ""), "a program without MPI can load it, all symbols bound at once")


run_cases(globals(), sys.argv[4:], failures)
