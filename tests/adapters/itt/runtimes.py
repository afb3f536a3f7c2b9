"""oneTBB and LLVM's OpenMP call ITT: adaptyst records what another tool counts in the same program.

usage: runtimes.py ADAPTYST COUNTING_TOOL
"""
import collections
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "support"))
from compiling import Failures, output, run, scratch, skip, tool
import profiles  # noqa: E402

MESSAGES, STEPS = 500, 40


def counts(counting, program, work):
    """What the other tool counts: by function, domain and name."""
    file = work / "counts"
    file.unlink(missing_ok=True)
    output(program, env={**os.environ, "INTEL_LIBITTNOTIFY64": counting, "ITT_COUNTS": str(file)}, timeout=60)
    lines = [line.split("\t") for line in file.read_text().splitlines()]
    return {(function, domain, name): int(count) for function, domain, name, count in lines}


def recorded(command, program, work):
    file = work / "profile.json"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTEL_")}
    done = run([command, "run", "--engine", "inline", "--format", "none", f"--output={file}", "--with", "itt", "--", *program],
               env=environment, timeout=60)
    return done, profiles.read(file.read_text())


def by_name(profile):
    rows = collections.Counter()
    for region in profile["regions"]:
        rows[region["path"][-1]] += region["count"]
    return rows


def check_tbb(command, counting, work, failures):
    program = work / "flow_graph"
    output([tool("g++"), "-std=c++17", "-O1", "-DTBB_USE_PROFILING_TOOLS=1", HERE / "flow_graph.cpp", "-o", program, "-ltbb",
            "-pthread"])
    total = 2 * sum(range(MESSAGES)) + sum(range(MESSAGES)) + 10
    for threads in (1, 4):
        expected = counts(counting, [program, threads], work)
        done, profile = recorded(command, [program, threads], work)
        failures.equal((done.returncode, done.stdout, done.stderr), (0, f"{total}\n", ""), "the program runs as ever")
        begun = {f"{domain}:{name or 'unnamed region'}": count for (function, domain, name), count in expected.items()
                 if function in ("task_begin", "region_begin")}
        found = by_name(profile)
        failures.equal(begun.get("tbb.flow:body"), 2 * MESSAGES, "bodies of the flow graph")
        failures.equal(set(found), {"tbb.flow:body", "tbb.flow:unnamed region", "tbb:tbb_flow_graph", "tbb:tbb_parallel_for",
                                    "tbb:tbb_custom"}, "what oneTBB reports")
        # Each thread that takes part in a parallel_for reports it. With several threads, that differs from run to run.
        names = found if threads == 1 else [name for name in found if name.startswith("tbb.flow:")]
        failures.equal({name: found[name] for name in names}, {name: begun.get(name) for name in names},
                       f"what adaptyst records of {threads} threads")
        account = profile["accounting"]
        # oneTBB does not wait for its own threads: the program may end while one of them ends its last task.
        failures.check(account["open"] < threads, "every begin has an end", account)
        failures.equal((account["unmatched"], account["begun"]), (0, account["ended"] + account["open"]), "every end has a begin")


def check_openmp(command, counting, work, failures):
    program, source = work / "loops", work / "loops.c"
    source.write_text(f"""int main(void) {{
  double sum = 0;
  for (int step = 0; step != {STEPS}; ++step)
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (int at = 0; at < 1000; ++at) sum += at;
  return sum != {STEPS} * 499500.0;
}}
""")
    if run([tool("clang"), "-g", "-fopenmp", source, "-o", program]).returncode != 0:
        return print("no OpenMP for Clang (Debian: libomp-dev)")
    expected = {domain: count for (function, domain, _), count in counts(counting, [program], work).items()
                if function == "frame_submit"}
    failures.check(sum(expected.values()) >= STEPS, "frames of parallel regions", expected)
    done, profile = recorded(command, [program], work)
    failures.equal((done.returncode, done.stderr), (0, ""), "the program runs as ever")
    metrics = collections.Counter()
    for region in profile["regions"]:
        for name, values in region["attributes"].items():
            metrics[name] += values["count"]
    failures.equal(dict(metrics), {f"{domain}:frame_ns": count for domain, count in expected.items()}, "frames of OpenMP")


def main(command, counting):
    if not pathlib.Path("/usr/include/tbb/flow_graph.h").exists():
        skip("no oneTBB (Debian: libtbb-dev)")
    failures = Failures()
    check_tbb(command, counting, scratch(), failures)
    check_openmp(command, counting, scratch(), failures)
    failures.exit(min_checks=10)


main(*sys.argv[1:])
