#!/usr/bin/env python3
"""Functions of programs that know nothing of us: real_programs.py ADAPTYST VECTOR_SUM [CASE …]

VECTOR_SUM: our program for OpenCL, or empty where that could not be built. A case whose program is missing is skipped.
"""
import collections
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch, skip  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, VECTOR_SUM = sys.argv[1:3]
MELT = pathlib.Path(__file__).resolve().parent / "melt.lammps"
LIMIT = 120  # seconds that nothing here comes near to
# Functions that LAMMPS calls for the melt. The entry of the last is single-stepped.
MPI = ["MPI_Init", "MPI_Finalize", "MPI_Allreduce", "MPI_Barrier", "MPI_Bcast", "MPI_Cart_create", "MPI_Cart_get",
       "MPI_Cart_rank", "MPI_Cart_shift", "MPI_Comm_free", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Irecv", "MPI_Reduce",
       "MPI_Scan", "MPI_Send", "MPI_Sendrecv", "MPI_Type_size", "MPI_Wait", "MPI_Wtime"]
# Open MPI in containers and as root, on few processors; its own transport asks for rights over the other rank.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                  OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1")
LAMMPS = ["lmp", "-in", str(MELT), "-log", "none"]
MPIRUN = ["mpirun", "--oversubscribe", "-n", "2"]

failures = Failures()
work = scratch()
started = []


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Missing(f"no {program}")


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT, check=False,
                          cwd=work, stdin=subprocess.DEVNULL)


def observe(*words, output="profile.json"):
    return [ADAPTYST, "run", "--engine=ebpf", "--format=none", f"--output={work / output}", *map(str, words)]


def load(name="profile.json"):
    path = work / name
    if not failures.check(path.exists(), f"{name} was written"):
        return {"regions": [], "accounting": {"begun": 0, "ended": 0, "open": 0, "lost": {}}}
    profile = profiles.read(path.read_text())
    path.unlink()
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()),
                   "the account adds up")
    failures.equal(account["lost"], {}, "nothing is lost")
    failures.check(profile["regions"] and all(region["kind"] == "function" for region in profile["regions"]),
                   "all regions are functions", profile["regions"])
    return profile


def counts(profile, wanted):
    found = collections.Counter()
    for region in profile["regions"]:
        if region["path"][-1] in wanted:
            found[region["path"][-1]] += region["count"]
    return dict(found)


def library(program, name):
    """The library of that name that a program is linked with, as the loader finds it."""
    found = re.search(rf"{re.escape(name)}\S* => (\S+)", run("ldd", shutil.which(program)).stdout)
    if found is None:
        raise Missing(f"{program} is not linked with {name}")
    return os.path.realpath(found[1])


class Oracle:
    """bpftrace, which counts the calls that processes of one name make, at the same time and on its own."""

    def __init__(self, comm, file, functions):
        need("bpftrace")
        script = "".join(f'uprobe:{file}:{name} /comm == "{comm}"/ {{ @[pid, "{name}"] = count(); }}\n' for name in functions)
        self.tool = subprocess.Popen(["bpftrace", "-B", "none", "-f", "json", "-e", script], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True)
        started.append(self.tool)
        deadline = time.monotonic() + LIMIT
        line = ""
        while "attached_probes" not in line:
            if time.monotonic() > deadline or not select.select([self.tool.stdout], [], [], LIMIT)[0]:
                raise RuntimeError("bpftrace does not begin")
            line = self.tool.stdout.readline()
            if not line:
                raise RuntimeError("bpftrace failed")

    def stop(self):
        """{process: {function: count}}"""
        waits_in = pathlib.Path(f"/proc/{self.tool.pid}/wchan")
        self.tool.send_signal(signal.SIGINT)
        for _ in range(LIMIT // 2):
            try:
                messages, _ = self.tool.communicate(timeout=2)
                break
            except subprocess.TimeoutExpired:
                # bpftrace ends only if a signal interrupts its wait for events. A signal while it detaches would kill it.
                if re.search("ep_?poll", waits_in.read_text()):
                    self.tool.send_signal(signal.SIGINT)
        else:
            raise RuntimeError(f"bpftrace does not end: it waits in {waits_in.read_text()}")
        found = collections.defaultdict(dict)
        for line in messages.splitlines():
            if '"map"' not in line:
                continue
            for key, count in json.loads(line)["data"].get("@", {}).items():
                process, name = key.split(",")
                found[process][name] = count
        return found


def total(by_process):
    sums = collections.Counter()
    for process in by_process.values():
        sums.update(process)
    return dict(sums)


def thermodynamics(text):
    """LAMMPS prints a line of six numbers every ten steps; all else that it prints is times."""
    lines = re.findall(r"^\s*\d+(?:\s+-?[\d.e+-]+){5}\s*$", text, re.MULTILINE)
    failures.equal(len(lines), 6, "LAMMPS has run")
    return lines


def check_files(profile, expected):
    """Regions carry the name of the file that has the function."""
    for prefix, library_name in expected.items():
        files = {region["site"]["file"] for region in profile["regions"] if region["path"][-1].startswith(prefix)}
        failures.check(len(files) == 1 and next(iter(files)).startswith(library_name), f"the file of {prefix}*", files)


def case_lammps():
    """One process, and every function however its entry looks."""
    need("lmp")
    plain = run(*LAMMPS)
    oracle = Oracle("lmp", library("lmp", "libmpi.so"), MPI)
    done = run(*observe("--functions=mpi", "--single-stepped", "--", *LAMMPS))
    seen = oracle.stop()
    failures.equal((done.returncode, plain.returncode), (0, 0), "it ends well")
    failures.equal(thermodynamics(done.stdout), thermodynamics(plain.stdout), "the physics is the same")
    profile = load()
    failures.equal(len(seen), 1, "processes that the other tool saw")
    failures.equal(counts(profile, MPI), total(seen), "calls of each MPI function")
    failures.check(counts(profile, MPI).get("MPI_Wtime", 0) > 100, "single-stepped entries, as asked for")
    failures.equal(profile["accounting"]["open"], 0, "all have returned")
    failures.check(all(len(region["path"]) == 1 for region in profile["regions"]), "no MPI function calls another",
                   [region["path"] for region in profile["regions"]])
    check_files(profile, {"MPI_": "libmpi.so"})


def case_lammps_under_mpirun():
    """The command uses no MPI library; the ranks that it starts do."""
    need("lmp", "mpirun")
    plain = run(*MPIRUN, *LAMMPS)
    oracle = Oracle("lmp", library("lmp", "libmpi.so"), MPI)
    done = run(*observe("--functions=mpi,io", "--", *MPIRUN, *LAMMPS))
    seen = oracle.stop()
    failures.equal((done.returncode, plain.returncode), (0, 0), "it ends well")
    failures.equal(thermodynamics(done.stdout), thermodynamics(plain.stdout), "the physics is the same")
    messages = " ".join(done.stderr.split())
    failures.check(re.search(r"not probed: (MPI_\w+, )+.*, which the program imports, and \d+ that it does not: .*--single-stepped",
                             messages), "what has no probe is reported", done.stderr)
    failures.check(len(done.stderr.splitlines()) < 8, "and briefly", done.stderr)
    profile = load()
    failures.equal(len(seen), 2, "ranks that the other tool saw")
    probed = [name for name in MPI if name in counts(profile, MPI)]
    failures.check({"MPI_Finalize", "MPI_Wait", "MPI_Barrier"} & set(total(seen)) <= set(probed), "what waits for others has probes", probed)
    failures.equal({name for name in MPI if name in total(seen)} - set(probed) - set(profile.get("not_probed", {})), set(),
                   "what has none, and is called, stands in the profile")
    failures.check(len(probed) > 12, "most functions have probes", probed)
    failures.equal(counts(profile, MPI), {name: count for name, count in total(seen).items() if name in probed},
                   "calls of each MPI function, of both ranks")
    paths = {tuple(region["path"]) for region in profile["regions"]}
    failures.check(not any(path[0].startswith("MPI_") and path[-1].startswith("MPI_") and len(path) > 1 for path in paths),
                   "no MPI function calls another", sorted(paths))
    failures.check(any(path[0] == "MPI_Init" and len(path) > 1 for path in paths), "what MPI_Init reads is below it",
                   sorted(paths))
    check_files(profile, {"MPI_": "libmpi.so", "fclose": "libc.so"})


def case_an_observer_for_each_rank():
    """What one writes for clusters: mpirun adaptyst run solver."""
    need("lmp", "mpirun")
    oracle = Oracle("lmp", library("lmp", "libmpi.so"), MPI)
    done = run(*MPIRUN, *observe("--functions=mpi", "--single-stepped", "--", *LAMMPS, output="rank-%r.json"))
    seen = oracle.stop()
    failures.equal(done.returncode, 0, "it ends well")
    thermodynamics(done.stdout)
    found = [counts(load(f"rank-{rank}.json"), MPI) for rank in range(2)]
    failures.equal(len(seen), 2, "ranks that the other tool saw")
    failures.equal(sorted(map(sorted, map(dict.items, found))), sorted(map(sorted, map(dict.items, seen.values()))),
                   "calls of each MPI function, rank by rank")


def case_failing_ranks():
    """A program that fails does so as ever."""
    need("lmp", "mpirun")
    words = [*MPIRUN, "lmp", "-in", str(work / "no such input"), "-log", "none"]
    plain = run(*words)
    done = run(*observe("--functions=mpi", "--", *words))
    failures.check(plain.returncode != 0, "it fails without us", plain.returncode)
    failures.equal(done.returncode, plain.returncode, "its status is the same")
    failures.check("no such input" in done.stdout + done.stderr, "its message arrives", done.stdout + done.stderr)


def case_opencl():
    """Our calls are known; what the implementation needs for them is below."""
    if not VECTOR_SUM:
        raise Missing("no OpenCL headers when this was configured")
    os.environ["POCL_CACHE_DIR"] = str(work / "pocl")
    rounds = 50
    plain = run(VECTOR_SUM, rounds)
    if plain.returncode == 77:
        raise Missing(f"no OpenCL device: {plain.stderr.strip()}")
    done = run(*observe("--functions=opencl", "--single-stepped", "--", VECTOR_SUM, rounds))
    failures.equal((done.returncode, done.stdout), (0, "524800\n"), "the sum is right")
    failures.equal(plain.stdout, done.stdout, "as it is without us")
    profile = load()
    expected = {"clGetPlatformIDs": 1, "clGetDeviceIDs": 1, "clCreateContext": 1, "clCreateCommandQueue": 1,
                "clCreateProgramWithSource": 1, "clBuildProgram": 1, "clCreateKernel": 1, "clCreateBuffer": 3,
                "clSetKernelArg": 3, "clEnqueueNDRangeKernel": rounds, "clFinish": rounds, "clEnqueueReadBuffer": 1,
                "clReleaseMemObject": 3, "clReleaseKernel": 1, "clReleaseProgram": 1, "clReleaseCommandQueue": 1,
                "clReleaseContext": 1}
    outermost = {region["path"][0]: region["count"] for region in profile["regions"] if len(region["path"]) == 1}
    failures.equal(outermost, expected, "calls of each OpenCL function")
    check_files(profile, {"clFinish": "libOpenCL.so"})
    times = {region["path"][0]: region["total_ns"] for region in profile["regions"] if len(region["path"]) == 1}
    failures.check(times.get("clFinish", 0) > 0, "they take time", times)


def case_sqlite():
    """A shell script that runs it twice: only children use the library."""
    need("sqlite3")
    statements = "create table t(x); insert into t values (1), (2); select sum(x) from t;"
    script = f"for one in 1 2; do sqlite3 :memory: '{statements}'; done"
    oracle = Oracle("sqlite3", library("sqlite3", "libsqlite3.so"), ["sqlite3_step", "sqlite3_finalize"])
    done = run(*observe("--functions=libsqlite3.so:sqlite3_step", "--functions=libsqlite3.so:sqlite3_finalize",
                        "--single-stepped", "--", "sh", "-c", script))
    seen = oracle.stop()
    failures.equal((done.returncode, done.stdout), (0, "3\n3\n"), "the program does what it always did")
    failures.equal(len(seen), 2, "processes that the other tool saw")
    failures.equal(counts(load(), ["sqlite3_step", "sqlite3_finalize"]), total(seen), "calls of each function")


if os.geteuid() != 0:
    skip("bpftrace needs root")
run_cases(globals(), sys.argv[3:], failures, started)
