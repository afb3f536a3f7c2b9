#!/usr/bin/env python3
"""`adaptyst run` without `--with`, before and behind the launcher of a program that uses MPI: automatic.py ADAPTYST PLAIN_RANKS
IMPLEMENTATION [CASE …]"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, IMPLEMENTATION = sys.argv[1:4]
LAUNCHER = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader,tcp"], "mpich": ["mpirun.mpich"]}[IMPLEMENTATION]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LIMIT = 120  # seconds
failures = Failures()
work = scratch()


def observe(*command, options=()):
    file = work / "all.json"
    done = subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", "--overhead=none", f"--output={file}", *options, "--",
                           *command], capture_output=True, text=True, timeout=LIMIT, check=False, cwd=work, env=ENVIRONMENT)
    failures.equal((done.returncode, done.stderr), (0, ""), f"{command}: status and messages")
    profile = profiles.read(file.read_text())
    file.unlink()
    return profile, done.stdout


def count(profile, name):
    return sum(row["count"] for row in profile["regions"] if row["name"].split(" [")[0] == name)


def case_before_the_launcher():
    profile, _ = observe(*LAUNCHER, "-n", "2", PROGRAM)
    failures.equal(list(profile.get("adapters", {})), [IMPLEMENTATION], "the adapter of this MPI")
    failures.equal(profile.get("skipped_adapters", {}), {}, "nothing is skipped")
    failures.equal({name: count(profile, name) for name in ("MPI_Init", "MPI_Allreduce", "MPI_Isend")},
                   {"MPI_Init": 2, "MPI_Allreduce": 10, "MPI_Isend": 6}, "calls of the ranks, in the observer's report")
    commands = sorted(pathlib.Path(process["command"]).name for process in profile["processes"])
    failures.equal(commands.count(pathlib.Path(PROGRAM).name), 2, "the ranks are observed")


def case_behind_the_launcher():
    file = work / "rank-%r.json"
    words = [*LAUNCHER, "-n", "2", ADAPTYST, "run", "--engine=inline", "--format=none", "--overhead=none", f"--output={file}", "--", PROGRAM]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=work, env=ENVIRONMENT)
    failures.equal((done.returncode, done.stderr), (0, ""), "status and messages")
    for rank in range(2):
        profile = profiles.read((work / f"rank-{rank}.json").read_text())
        failures.equal((count(profile, "MPI_Allreduce"), list(profile["adapters"])), (5, [IMPLEMENTATION]), f"rank {rank} has an observer")


def case_functions_of_a_program_without_markers():
    """Regions of calls do not replace the functions that a report has without adapters. Needs eBPF."""
    file = work / "functions.json"
    done = subprocess.run([ADAPTYST, "run", "--engine=ebpf", f"--output={file}", "--", *LAUNCHER, "-n", "2", PROGRAM], capture_output=True, text=True,
                          timeout=LIMIT, check=False, cwd=work, env=ENVIRONMENT)
    failures.equal(done.returncode, 0, f"status: {done.stderr}")
    profile = profiles.read(file.read_text())
    failures.check(sum(profile.get("functions", {}).values()) > 0, "functions are sampled", profile.get("functions"))
    failures.check("MPI_Allreduce" in done.stderr and "FUNCTION" in done.stderr, "the report has calls and functions", done.stderr)


def case_children():
    """A shell script passes the variables on; a program that uses MPI does not."""
    script = f"{' '.join(LAUNCHER)} -n 1 {PROGRAM} nothing; echo preload=$LD_PRELOAD"
    profile, out = observe("sh", "-c", script)
    failures.equal(count(profile, "MPI_Init"), 1, "the program in the script")
    failures.check(f"libadaptyst-{IMPLEMENTATION}.so" in out, "the shell passes it on", out)
    _, out = observe(PROGRAM, "environment")
    failures.check("PATH=" in out and "libadaptyst" not in out, "a child of the program has no entry of ours", out)


def case_other_machines():
    hosts = work / "hosts"
    hosts.write_text("localhost slots=2\n")
    option = {"openmpi": "--hostfile", "mpich": "-f"}[IMPLEMENTATION]
    if IMPLEMENTATION == "mpich":
        hosts.write_text("localhost:2\n")
    profile, _ = observe(*LAUNCHER, option, str(hosts), "-n", "1", PROGRAM, "nothing")
    failures.equal(profile.get("adapters", {}), {}, "nothing is loaded")
    failures.check("adaptyst run -- PROGRAM" in profile["skipped_adapters"][IMPLEMENTATION], "the command is named", profile["skipped_adapters"])


run_cases(globals(), sys.argv[4:], failures)
