#!/usr/bin/env python3
"""One report of all ranks: collecting.py ADAPTYST PROGRAM IMPLEMENTATION [CASE …]

PROGRAM is uneven_ranks; IMPLEMENTATION is openmpi or mpich; the launcher has the same suffix."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, IMPLEMENTATION = sys.argv[1:4]
ENGINE = os.environ.get("ADAPTYST_TEST_ENGINE", "inline")  # from outside
LIMIT = 120  # seconds that nothing here comes near to
LAUNCHER = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader,tcp"], "mpich": ["mpirun.mpich"]}[IMPLEMENTATION]
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
failures = Failures()
work = scratch()


# Without this, MPICH's launcher kills other ranks if one ends with a status: their reports would be missing.
KEEP_RANKS = ["-disable-auto-cleanup"] if IMPLEMENTATION == "mpich" else []


def start(ranks, *words, options="output=all.json", before=(), behind=(), launcher=LAUNCHER):
    at = work / "-".join(map(str, (len(before), len(behind), ranks, *words)))
    at.mkdir()
    done = subprocess.run([*before, *launcher, "-n", str(ranks), *behind, PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=LIMIT,
                          check=False, cwd=at,
                          env={**os.environ, **ROOT_MAY, "ADAPTYST": f"engine=inline,overhead=none,{options}"})
    return done, at


def times(done):
    """By rank, what its work took by its own clock: at least, at most."""
    return {int(rank): (int(least), int(most)) for rank, least, most in re.findall(r"rank (\d+): (\d+) to (\d+) ns", done.stdout)}


def region(profile, *path):
    return next(row for row in profile["regions"] if row["path"] == list(path))


def check_report(done, at, ranks, how, uneven_regions=1):
    failures.equal(done.returncode, 0, f"{how}: status")
    failures.equal(done.stderr.count("events begun"), 1, f"{how}: one report")
    failures.equal(sorted(file.name for file in at.iterdir()), ["all.json"], f"{how}: one file, with the requested name")
    profile = profiles.read((at / "all.json").read_text())
    failures.equal(profile["ranks"], ranks, f"{how}: ranks")
    by_rank = times(done)
    failures.equal(len(by_rank), ranks, f"{how}: each has told its time")
    row = region(profile, "work")
    failures.equal(row["count"], 5 * ranks, f"{how}: calls")
    across = row["across_ranks"]
    total = across["total_ns"]
    # On a machine that does other work, a rank that sleeps for less may take longer; each prints its own time.
    least, most = min(by_rank, key=by_rank.get), max(by_rank, key=by_rank.get)
    failures.equal((across["ranks"], total["min_rank"], total["max_rank"]), (ranks, least, most), f"{how}: who took least and most")
    mean = [sum(bound) / ranks for bound in zip(*by_rank.values())]
    for name, (at_least, at_most) in (("min", by_rank[least]), ("max", by_rank[most]), ("mean", mean)):
        failures.check(0.999 * at_least <= total[name] <= 1.001 * at_most, f"{how}: {name} is right", (at_least, total[name], at_most))
    failures.equal(int(total["sum"], 16), row["total_ns"], f"{how}: the ranks' times are the whole")
    imbalance = total["max"] / total["mean"] - 1
    failures.check(abs(across["imbalance"] - imbalance) < 0.001, f"{how}: imbalance", (across["imbalance"], imbalance))
    rank_numbers = [process["rank"] for process in profile["processes"] if process.get("rank") is not None]
    failures.equal(sorted(rank_numbers), list(range(ranks)), f"{how}: its processes")
    failures.equal([machine["host"] for machine in profile["machines"]], [os.uname().nodename], f"{how}: the machine that all of them are on")
    failures.check(all(process.get("thread_list") for process in profile["processes"] if process.get("rank") is not None), f"{how}: their threads", profile["processes"])
    if uneven_regions is not None:
        # On a machine that does other work, ranks may take equal times: less than 2 % is not reported.
        uneven_regions = uneven_regions if imbalance >= 0.02 else 0
        failures.equal(done.stderr.count(": imbalance "), uneven_regions, f"{how}: nothing is reported for a region that takes no time to speak of")
    if ranks > 1:
        failures.equal(region(profile, "odd")["across_ranks"]["ranks"], ranks // 2, f"{how}: a region of some ranks")


def case_ways_to_end():
    for way in ("finalize", "destructor", "stop"):
        done, at = start(4, way)
        check_report(done, at, 4, way)


def case_numbers_of_ranks():
    for ranks in (1, 2, 3, 7, 16):
        done, at = start(ranks, "destructor")
        if ranks == 1:
            failures.equal(profiles.read((at / "all.json").read_text()).get("ranks"), 1, "one rank is one as well")
        else:
            check_report(done, at, ranks, f"{ranks} ranks")


def case_observed_together():
    done, at = start(4, "destructor", options="", before=[ADAPTYST, "run", f"--engine={ENGINE}", "--overhead=none", "--output=all.json", "--"])
    # With the adapter that the command loads, calls of MPI are regions as well, and uneven.
    check_report(done, at, 4, "adaptyst run", uneven_regions=None)
    profile = profiles.read((at / "all.json").read_text())
    failures.equal(profile["engine"], ENGINE, "its engine")


def case_library():
    """The program's own collector steps back."""
    if not (pathlib.Path(ADAPTYST).parent.parent / "adapters" / f"libadaptyst-{IMPLEMENTATION}.so").exists():
        raise Missing("the library")
    done, at = start(4, "destructor", options="", behind=[ADAPTYST, "run", "--with=mpi", "--engine=inline", "--overhead=none",
                                                          "--output=all.json", "--"])
    check_report(done, at, 4, "adaptyst run --with mpi", uneven_regions=None)  # those of MPI as well


def case_sampled_together():
    done, at = start(4, "short", options="", before=[ADAPTYST, "run", f"--engine={ENGINE}", "--overhead=0.5%", "--output=all.json", "--"])
    failures.equal(done.returncode, 0, "status")
    row = region(profiles.read((at / "all.json").read_text()), "short")
    failures.check(row["count"] > row.get("sampled", row["count"]), "the budget has left events out", row)
    failures.equal("kernel" in row["measured_on"], ENGINE == "ebpf", "before, the kernel has counted them")
    across = row.get("across_ranks")
    if across is None:  # on a busy machine the estimate is too far off to be taken apart
        return print("(brought down to the run)")
    failures.equal(across["ranks"], 4, "all ranks")
    failures.equal(int(across["total_ns"]["sum"], 16), row["total_ns"], "what the kernel has counted, and what the programs have")


def case_groups():
    done, at = start(4, "split", options="report=none,output=all-%p.json")
    failures.equal(done.returncode, 0, "status")
    both = [profiles.read(file.read_text()) for file in at.iterdir()]
    failures.equal([report["ranks"] for report in both], [2, 2], "a report for each group")


def case_a_rank_that_does_not_come():
    done, at = start(4, "stuck", 1)
    profile = profiles.read((at / "all.json").read_text())
    failures.equal(region(profile, "work")["count"], 15, "the others are in the report")
    failures.equal(profile["ranks"], 3, "as many as came")
    failures.check("missing, in no figure: 1 rank (1)" in done.stderr, "it is named", done.stderr)
    failures.check(list(at.glob("all-1.json")), "it writes what it has", list(at.iterdir()))


def case_a_first_rank_that_is_late():
    done, at = start(4, "late", 2)
    profile = profiles.read((at / "all.json").read_text())
    failures.equal(sorted(file.name for file in at.iterdir()), ["all.json"], f"one report: {done.stderr[-2000:]}")
    failures.equal((profile["ranks"], region(profile, "work")["count"]), (4, 20), "all ranks are in it")


def case_exit():
    done, at = start(2, "exit", launcher=[*LAUNCHER, *KEEP_RANKS])
    failures.equal(done.returncode, 7, "the program's status")
    failures.equal(sorted(file.name for file in at.iterdir()), ["all-0.json", "all-1.json"], "each rank writes its own")
    failures.check("no report of all ranks" in done.stderr, "it is reported", done.stderr)


def case_abort():
    done, _ = start(2, "abort")
    failures.equal(done.returncode, 5, "the program's status, and no hang")


run_cases(globals(), sys.argv[4:], failures)
