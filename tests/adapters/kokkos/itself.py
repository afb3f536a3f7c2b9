"""Kokkos itself, Debian's 3.4 on the host: what a program of it does is what is reported.

usage: itself.py ADAPTYST SOURCES
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from compiling import Failures, output, run, scratch, skip, tool
import profiles  # noqa: E402

KOKKOS = pathlib.Path("/usr/include/trilinos")
STEPS, CELLS = 10, 1000
TOOL = """#include <cstdio>
struct space { char name[64]; };
extern "C" void kokkosp_allocate_data(space, const char*, const void*, unsigned long bytes) { std::fprintf(stderr, "%lu\\n", bytes); }
extern "C" void kokkosp_deallocate_data(space, const char*, const void*, unsigned long bytes) { std::fprintf(stderr, "-%lu\\n", bytes); }
"""


def main(command, sources):
    if not (KOKKOS / "Kokkos_Core.hpp").exists():
        skip("no Kokkos (Debian: libtrilinos-kokkos-dev)")
    failures = Failures()
    work = scratch()
    program, file = work / "program", work / "profile.json"
    output([tool("g++"), "-std=c++17", "-O1", "-fopenmp", "-isystem", KOKKOS, "-I", pathlib.Path(sources) / "include",
            pathlib.Path(__file__).parent / "program.cpp", "-o", program, "-ltrilinos_kokkoscore", "-ldl"])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KOKKOS_")}
    done = run([command, "run", "--engine", "inline", "--format", "none", f"--output={file}", "--with", "kokkos", "--", program],
               env=environment, timeout=60)
    failures.equal((done.returncode, done.stdout, done.stderr), (0, "499500\n", ""), "the program runs as ever")
    profile = profiles.read(file.read_text())
    rows = {tuple(region["path"]): region for region in profile["regions"]}

    def count(*path):
        return rows[path]["count"] if path in rows else None

    for path in [("step", "fill"), ("step", "sum"), ("step", "app::sweep"), ("step", "copy from to to"), ("step",)]:
        failures.equal(count(*path), STEPS, f"{path}")
    failures.equal(rows[("step", "fill")]["site"]["function"], "Kokkos::parallel_for", "what a kernel is")
    failures.equal(rows[("step", "sum")]["site"]["function"], "Kokkos::parallel_reduce", "what a reduction is")
    failures.equal(rows[("step", "copy from to to")]["attributes"]["bytes"]["sum"], STEPS * CELLS * 8, "bytes copied")
    failures.equal((count("setup"), count("steps"), rows[("done",)]["kind"]), (1, 1, "mark"), "region, section, mark")
    allocated = rows[("setup",)]["attributes"]["bytes allocated in Host"]
    failures.check(2 * CELLS * 8 <= allocated["sum"] < 2 * CELLS * 8 + 1024, "bytes allocated", allocated)
    # Oracle: the same numbers from another tool. Kokkos frees its scratch memory in Kokkos::finalize().
    (work / "tool.cpp").write_text(TOOL)
    output([tool("g++"), "-shared", "-fPIC", work / "tool.cpp", "-o", work / "tool.so"])
    done = run([program], env={**environment, "KOKKOS_PROFILE_LIBRARY": str(work / "tool.so")}, timeout=60)
    changes = [int(line) for line in done.stderr.split()]
    in_use = [sum(changes[:end + 1]) for end in range(len(changes))]
    [space] = profile.get("memory_spaces", [{}])
    failures.equal([space.get(name) for name in ("name", "allocated_bytes", "freed_bytes", "live_bytes", "high_water_bytes")],
                   ["Host", sum(each for each in changes if each > 0), -sum(each for each in changes if each < 0), in_use[-1], max(in_use)],
                   "memory of the host's space")
    failures.equal([region["path"] for region in profile["regions"] if region["id"] == space.get("high_water_region")], [["step", "sum"]],
                   "where most was in use: the first reduction allocates scratch memory")
    failures.equal([device["kind"] for device in profile["devices"]], ["cpu"], "no other device")
    account = profile["accounting"]
    failures.equal((account["open"], account["unmatched"], account["begun"]), (0, 0, account["ended"]), "every begin has an end")
    failures.exit(min_checks=10)


main(*sys.argv[1:])
