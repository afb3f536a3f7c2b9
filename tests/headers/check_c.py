"""Markers of C, in programs as users build them: units of C and C++, a shared library, link-time optimisation, disabled.

usage: check_c.py ROOT PFR COMPILER

COMPILER is gcc or clang.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import STRICT, Failures, Includes, output, run, scratch, tool

WAYS = {
    "c99, unoptimised": ("c99", ["-O0"]),
    "c99, optimised": ("c99", ["-O2"]),
    "c11, link-time optimisation": ("c11", ["-O2", "-flto"]),
    "disabled": ("c99", ["-O2", "-DADAPTYST_DISABLE"]),
}


class Builder:
    def __init__(self, root, pfr, compiler):
        self.c, self.cpp = tool(compiler), tool({"gcc": "g++", "clang": "clang++"}[compiler])
        self.includes = Includes(root, pfr)
        self.work, self.failures = scratch(), Failures()
        self.flags = [*self.includes.flags, "-I", HERE / "c", "-I", HERE.parent / "support"]
        members = [self.unit(self.cpp, self.includes.root / "lib/markers" / f"{name}_markers.cpp", "the library",
                             ["-std=c++17", "-O2", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden"])
                   for name in ("c", "fortran")]
        self.archive = self.work / "libadaptyst_c.a"
        output([tool("ar"), "rcs", self.archive, *members])

    def unit(self, compiler, source, label, flags, name=None):
        made = self.work / ((name or pathlib.Path(source).stem) + ".o")
        done = run([compiler, *STRICT, *self.flags, *flags, "-c", source, "-o", made])
        self.failures.check(done.returncode == 0 and not done.printed, f"{pathlib.Path(source).name} compiles, {label}", done.printed)
        return made

    def link(self, compiler, label, name, *inputs):
        made = self.work / name
        done = run([compiler, *inputs, "-o", made])
        return made if self.failures.check(done.returncode == 0 and not done.printed, f"{name} links, {label}", done.printed) else None

    def runs(self, program, label):
        if program is not None:
            done = run([program])
            self.failures.check(done.returncode == 0 and not done.printed, f"{program.name} runs, {label}", f"{done.returncode}\n{done.printed}")

    def defines_of_ours(self, file):
        return [line for line in output([tool("nm"), file]).splitlines() if "adaptyst_" in line]


def check_library(build):
    """It needs the C library only, and is visible only to the ELF object that has it."""
    needed = [line.split()[-1] for line in output([tool("nm"), "-u", build.archive]).splitlines() if line.strip().startswith("U ")]
    build.failures.check("mmap" in needed, "what it needs is seen", needed)
    for name in needed:
        build.failures.check(not name.startswith(("_Z", "__cxa", "__gxx", "_Unwind")), f"the library needs {name}")
    for line in output([tool("readelf"), "-sW", build.archive]).splitlines():
        words = line.split()
        if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND":
            build.failures.check(words[5] == "HIDDEN", f"{words[7]} is hidden", line)


def check_way(build, label, standard, flags):
    c = ["-std=" + standard, *flags]
    cpp = ["-std=c++17", *flags]
    disabled = "-DADAPTYST_DISABLE" in flags
    optimise = [flag for flag in flags if flag.startswith(("-O", "-flto"))]
    archive = [] if disabled else [build.archive]
    grammar = build.unit(build.c, HERE / "c/grammar.c", label, c)
    main = build.unit(build.c, HERE / "c/main.c", label, c)
    library = build.unit(build.c, HERE / "c/library.c", label, [*c, "-fPIC"])
    program = build.link(build.c, label, "of_c", *optimise, main, grammar, library, *archive)
    build.runs(program, label)
    if program is not None:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output([tool("readelf"), "-dW", program]))
        build.failures.equal([name for name in needed if not name.startswith(("libc.so", "ld-linux"))], [], f"libraries it needs, {label}")
        probes = re.findall(r"Provider: adaptyst\s+Name: (\S+)", output([tool("readelf"), "-nW", program]))
        build.failures.equal(sorted(set(probes)), [] if disabled else ["mark", "metric", "operation", "region_begin", "region_end", "thread"],
                             f"its probes, {label}")
    if disabled:
        build.failures.equal(build.defines_of_ours(grammar), [], "nothing is left of a disabled marker")
    observing = build.unit(build.cpp, HERE / "c/observing.cpp", label, cpp)
    build.runs(build.link(build.cpp, label, "in_one", *optimise, observing, grammar, library, *archive), label)
    shared = build.link(build.c, label, "liblibrary.so", *optimise, "-shared", library, *archive)
    if shared is not None:
        exported = [line.split()[-1] for line in output([tool("nm"), "-D", "--defined-only", shared]).splitlines()]
        build.failures.equal([name for name in exported if "adaptyst" in name], [], f"what the library exports of ours, {label}")
        build.runs(build.link(build.cpp, label, "with_library", *optimise, observing, grammar, shared, *archive,
                              f"-Wl,-rpath,{build.work}"), label)


def main(root, pfr, compiler):
    build = Builder(root, pfr, compiler)
    check_library(build)
    for label, (standard, flags) in WAYS.items():
        check_way(build, label, standard, flags)
    # The same source as C++, in which some markers are those of the C++ headers.
    for standard in ("c++11", "c++17"):
        for flags in (["-O2"], ["-DADAPTYST_DISABLE"]):
            label = f"{standard} {flags[0]}"
            grammar = build.unit(build.cpp, HERE / "c/grammar.c", label, ["-x", "c++", "-std=" + standard, *flags], name="grammar_as_cpp")
            if "-DADAPTYST_DISABLE" not in flags:
                rest = [build.unit(build.c, HERE / "c" / f"{name}.c", label, ["-std=c99", "-O2"]) for name in ("main", "library")]
                build.runs(build.link(build.cpp, label, "of_cpp", grammar, *rest, build.archive), label)
    # A name that is no literal is an error, and not a marker without a name.
    wrong = build.work / "wrong.c"
    wrong.write_text('#include <adaptyst/adaptyst.h>\nvoid f(const char* n);\nvoid f(const char* n) { ADAPTYST_REGION(n); }\n')
    for flags in ([], ["-DADAPTYST_DISABLE"]):
        done = run([build.c, *build.flags, *flags, "-c", wrong, "-o", build.work / "wrong.o"])
        build.failures.check(done.returncode != 0, f"a name made at run time is refused {flags}")
    # Only a scope with phases has a next one.
    wrong.write_text('#include <adaptyst/adaptyst.h>\nvoid f(void);\nvoid f(void) { ADAPTYST_NEXT("second"); }\n')
    for flags in ([], ["-DADAPTYST_DISABLE"]):
        done = run([build.c, *build.flags, *flags, "-c", wrong, "-o", build.work / "wrong.o"])
        build.failures.check(done.returncode != 0 and "adaptyst_phases" in done.printed, f"a next phase of none is refused {flags}", done.printed)
    build.failures.exit(min_checks=30)


if __name__ == "__main__":
    main(*sys.argv[1:])
