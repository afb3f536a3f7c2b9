"""The Fortran module, compiled with a program in every way that users may, and what `adaptyst run` sees of it.

usage: check_fortran.py ROOT ADAPTYST LIBRARY ENGINE COMPILER
"""
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import profiles  # noqa: E402
from compiling import Failures, output, run, scratch, tool  # noqa: E402

ROOT, ADAPTYST, LIBRARY, ENGINE, COMPILER = sys.argv[1:6]
MODULE = pathlib.Path(ROOT) / "fortran/adaptyst.F90"
GNU = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fimplicit-none"]
# gfortran takes a scope's pass-through optional arguments and a comparison of reals for granted, flang warns of nothing.
WAYS = {
    "gfortran": [["-std=f2008", "-O0", *GNU], ["-std=f2018", "-O3", *GNU], ["-O2", "-fopenmp"],
                 ["-fdefault-integer-8", "-fdefault-real-8", "-fdefault-double-8"]],
    "flang-new-19": [["-O0"], ["-O3", "-fdefault-integer-8"]],
}
# What a project may have chosen for all of its files; a program uses the modules, or includes the file, in the same way.
FORMS = {
    "gfortran": [["-fdefault-real-8"], ["-fdefault-integer-8"], ["-ffixed-form"], ["-ffixed-form", "-ffixed-line-length-none"],
                 ["-ffree-line-length-72"]],
    "flang-new-19": [["-fdefault-real-8"], ["-ffixed-form"]],
}
USER = """      program old
      use adaptyst
      use adaptyst_collector
      implicit none
      logical :: started
      integer, save :: step = 0
      call adaptyst_start('engine=off', started)
      if (step == 0) step = adaptyst_region('step', 'old.f', 7)
      call adaptyst_begin(step)
      call adaptyst_metric('r', 1.0)
      call adaptyst_metric('d', 1.0d0)
      call adaptyst_metric('i', 1)
      call adaptyst_end(step)
      call included()
      end program
      subroutine included()
      use, intrinsic :: iso_c_binding
      implicit none
      include 'adaptyst.inc'
      call adaptyst_f_begin_named('a', 1_c_size_t, '', 0_c_size_t, 0)
      call adaptyst_f_end()
      end subroutine
"""
failures = Failures()


def build(compiler, flags, work):
    units = []
    for source in (MODULE, HERE / "marked.F90"):
        unit = work / (source.stem + ".o")
        place = ["-J", work] if compiler == "gfortran" else ["-module-dir", work]
        done = run([tool(compiler), *flags, *place, "-I", work, "-I", MODULE.parent, "-c", source, "-o", unit], cwd=work)
        if not failures.check(done.returncode == 0 and not done.printed, f"{source.name} compiles", f"{done.line}\n{done.printed}"):
            return None
        units.append(unit)
    program = work / "marked"
    openmp = ["-fopenmp"] if "-fopenmp" in flags else []
    done = run([tool(compiler), *openmp, *units, LIBRARY, "-o", program])
    return program if failures.check(done.returncode == 0, "the program links", f"{done.line}\n{done.printed}") else None


def compile_in_forms():
    for flags in FORMS[COMPILER]:
        work = scratch()
        user = work / ("old.f" if "-ffixed-form" in flags else "old.f90")
        user.write_text(USER.replace(" 0)\n", " 0_c_int)\n") if "-fdefault-integer-8" in flags else USER, encoding="utf-8")
        for source in (MODULE, MODULE.parent / "adaptyst_collector.f90", user):
            done = run([tool(COMPILER), *flags, "-I", MODULE.parent, "-c", source], cwd=work)
            failures.check(done.returncode == 0 and not done.printed, f"{source.name} compiles, {' '.join(flags)}", f"{done.line}\n{done.printed}")


def observe(program, work):
    written = work / "profile.json"
    done = run([ADAPTYST, "run", f"--engine={ENGINE}", "--context=none", "--overhead=none", f"--output={written}", "--", program],
               env={**os.environ, "OMP_NUM_THREADS": "4"})
    if not failures.check(done.returncode == 0 and written.exists(), "it is observed", done.printed):
        return None
    return profiles.read(written.read_text(encoding="utf-8"))


def check(profile, threads):
    counts = {"/".join(region["path"]): region["count"] for region in profile["regions"]}
    failures.equal(profile["engine"], ENGINE, "engine")
    wanted = {
        "step": 3, "step/advect": 3, "step/checkpoint": 3, "/".join(["level"] * 50): 1,
        # A return from within the block, or a jump out of it, ends both.
        "scope of a procedure": 4, "scope of a procedure/scope of a block": 3 + 1 + 1 + 3, "scope of a procedure/at the end": 3,
        "blanks behind": 1, "": 2, "größe": 1, "n" * 127: 1, "included": 1, "handle": 1, "offload": 1, "upload": 1, "wait": 1,
        "of threads": 400, "of threads/below, of threads": 400, "same": 1, "inside": 1,
        "load": 3, "compute": 3, "compute/in compute": 3, "store": 3,
    }
    for path, count in wanted.items():
        failures.equal(counts.get(path), count, f"events of '{path[:60]}'")
    never_ended = {"lost", "same/left open"}
    beyond = {path for path in counts if path not in wanted and path not in never_ended and set(path.split("/")) != {"level"}}
    failures.equal(beyond, set(), "regions that nothing has begun")
    by_path = {"/".join(region["path"]): region for region in profile["regions"]}
    if counts.get("step/advect") != 3:
        return
    residual = by_path["step/advect"]["attributes"]["residual"]
    failures.equal((residual["count"], residual["min"], residual["max"]), (12, 0.5, 3), "the metric, of every kind")
    for path in ("step", "step/advect"):
        failures.check(by_path[path]["site"]["file"].endswith("marked.F90"), f"file of {path}", by_path[path])
        failures.check(by_path[path]["site"]["line"] > 50, f"line of {path}", by_path[path])
    failures.equal((by_path["included"]["site"]["file"], by_path["included"]["site"]["line"]), ("included.f90", 7), "a given place")
    if "of threads" in by_path:
        failures.equal(by_path["of threads"]["threads"] > 1, threads, "several threads")
    failures.equal(by_path["upload"]["attributes"]["bytes"]["sum"], 1000, "what was copied")
    failures.check(any(device.get("name") == "GPU of Fortran" and device.get("index") == 2 for device in profile["devices"]), "the device",
                   profile["devices"])
    failures.equal(profile["metadata"]["written in"], "Fortran", "metadata without blanks behind")
    account = profile["accounting"]
    # Ends: of a handle twice, one too many by name, one too many by number. Begins: 'left open'; two of no region.
    failures.equal(account["unmatched"], 3 + 1, "ends without begin, and a begin without an end")
    failures.equal(account["lost"], {"unmatched": 1, "tables_full": 2, "device_lost": 1}, "lost")
    failures.equal(account["open"], 0, "open")
    failures.equal(account["begun"], account["ended"] + sum(account["lost"].values()), "the account adds up")


def main():
    if not (pathlib.Path(ADAPTYST).exists() and pathlib.Path(LIBRARY).exists()):
        sys.exit(f"no {ADAPTYST} or no {LIBRARY}")
    for flags in WAYS[COMPILER]:
        print(" ".join([COMPILER, *flags]))
        work = scratch()
        program = build(COMPILER, flags, work)
        if program is None:
            continue
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output([tool("readelf"), "-dW", program]))
        failures.check(not [name for name in needed if name.startswith("libstdc++")], "no C++ library is needed", needed)
        profile = observe(program, work)
        if profile is not None:
            check(profile, threads="-fopenmp" in flags)
    if ENGINE == "inline":
        compile_in_forms()
    failures.exit(min_checks=10)


if __name__ == "__main__":
    main()
