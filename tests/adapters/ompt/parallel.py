"""Parallel regions: one call tree over all threads, and how long threads wait for one another, against the program's own
clock. With each of the runtimes, and with one that knows nothing of tools."""
import pathlib
import re
import shutil

from openmp_programs import (Runtime, attribute, check_account, command, failures, here, output, regions, run, sources, tool, total,
                             work)

REPEATS = 10


def near(found, expected, label):
    failures.check(abs(found - expected) <= 0.1 * expected, f"{label}: {found / 1e6:.2f} ms, by the program {expected / 1e6:.2f} ms")


def check(runtime):
    printed, messages, profile = runtime.observed(runtime.program("uneven.cpp"))
    imbalance, in_barriers = map(int, printed)
    label = f"LLVM {runtime.version}"
    check_account(profile, label)
    failures.equal("target callbacks: unavailable" in messages and '"never"' in messages, runtime.version == 14,
                   f"{label}: whether targets are seen is reported")

    loops = regions(profile, "loops", "parallel")
    failures.equal((len(loops), total(loops, "count")), (1, REPEATS), f"{label}: the region of the loop")
    failures.equal(attribute(loops, "threads"), 2 * REPEATS, f"{label}: its threads")
    near(attribute(loops, "imbalance_ns"), imbalance, f"{label}: imbalance")
    # Less where others take the processor of the thread that has less to do.
    failures.check(attribute(loops, "imbalance_ns") > 0.5 * REPEATS * 5e6, f"{label}: 5 ms of imbalance in each")
    failures.equal(attribute(loops, "barrier_ns"), 0, f"{label}: no inner barrier")
    # The threads' work is below the construct that the first thread met.
    for path in [("thread",), ("thread", "loop"), ("thread", "loop", "share")]:
        found = regions(profile, "loops", "parallel", *path)
        failures.equal([(row["count"], row["threads"]) for row in found], [(2 * REPEATS, 2)], f"{label}: {path}")
    loop = regions(profile, "loops", "parallel", "thread", "loop")[0]
    failures.check(loop["max_ns"] >= 6e6 and 1e6 <= loop["min_ns"] < 6e6, f"{label}: a loop is as long as the thread's share")

    barriers = regions(profile, "barriers", "parallel")
    near(attribute(barriers, "barrier_ns"), in_barriers, f"{label}: inner barriers")
    inner = regions(profile, "barriers", "parallel", "thread", "barrier")
    failures.equal(total(inner, "count"), 2 * 2 * REPEATS, f"{label}: inner barriers are regions")
    near(total(inner, "total_ns"), in_barriers, f"{label}: time in them")

    alone = regions(profile, "alone", "parallel")
    failures.equal((attribute(alone, "threads"), "imbalance_ns" in alone[0]["attributes"]), (1, False),
                   f"{label}: one thread does not wait")
    nested = regions(profile, "nested", "parallel", "thread", "parallel", "thread", "innermost")
    failures.equal(total(nested, "count"), 4, f"{label}: nested regions")
    failures.equal(attribute(regions(profile, "nested", "parallel", "thread", "parallel"), "threads"), 4,
                   f"{label}: threads of nested regions")


def find_line(text):
    return next(number for number, line in enumerate((here / "uneven.cpp").read_text().splitlines(), 1) if text in line)


def names(runtime, *flags, before=lambda program: None):
    program = runtime.program("uneven.cpp", *flags)
    before(program)
    _, _, profile = runtime.observed(program)
    return {kind: [region for path in [("loops", "parallel"), ("loops", "parallel", "thread", "loop")] if path[-1] == kind
                   for region in regions(profile, *path)] for kind in ("parallel", "loop")}


def check_names(runtime):
    """The places of constructs: with debugging information, by symbols, and with neither."""
    label = f"LLVM {runtime.version}"
    # Of another compiler, which lists its code where Clang does not.
    (work / "other.c").write_text("int other(int x) { return x * 3; }\n")
    output([tool("gcc"), "-g", "-c", work / "other.c", "-o", work / "other.o"])
    for more in ([], [work / "other.o"]):
        with_lines = names(runtime, "-g", *more)
        for kind, pragma in [("parallel", "#pragma omp parallel num_threads(2)"), ("loop", "#pragma omp for")]:
            name = f"uneven_loop uneven.cpp:{find_line(pragma)} {kind}"
            failures.equal([line["path"][-1] for line in with_lines[kind]], [name], f"{label}: with -g, a {kind}")
    for kind, pragma in [("parallel", "#pragma omp parallel num_threads(2)"), ("loop", "#pragma omp for")]:
        site = with_lines[kind][0]["site"]
        failures.equal((site["function"], site["line"], pathlib.Path(site["file"]).name),
                       ("uneven_loop", find_line(pragma), "uneven.cpp"), f"{label}: its site")
    named = names(runtime)["parallel"][0]["path"][-1]
    failures.check(re.fullmatch(r"(main|\(anonymous namespace\)::uneven_loop)\+0x[0-9a-f]+ parallel", named),
                   f"{label}: by symbols", named)
    stripped = names(runtime, before=lambda program: run(["strip", program]))["parallel"][0]["path"][-1]
    failures.check(re.fullmatch(r"parallel @uneven.cpp-\d+\+0x[0-9a-f]+", stripped), f"{label}: stripped", stripped)


for version in (14, 19):
    runtime = Runtime(version)
    if runtime.is_there:
        check(runtime)
        check_names(runtime)
    else:
        print(f"skipped: LLVM {version}'s OpenMP is not there (scripts/install-dependencies test)")

# GCC's runtime never loads the library; the command reports it, and the program runs as usual.
if shutil.which("g++"):
    program = work / "libgomp"
    done = run(["g++", "-std=c++17", "-O1", "-fopenmp", "-I", sources / "include", here / "uneven.cpp", "-o", program])
    failures.equal(done.returncode, 0, done.printed)
    done = run([command, "run", "--engine", "inline", "--format", "none", "--with", "openmp", "--", program])
    failures.equal((done.returncode, len(done.stdout.split())), (0, 2), "with libgomp the program runs")
    failures.check("libgomp" in done.stderr and "OMPT" in done.stderr, "that libgomp is of no use is reported", done.stderr)

failures.exit(min_checks=20)
