"""Builds programs of this folder in every way that their consumers may, and runs them.

usage: check_programs.py ROOT PFR COMPILER PROGRAM[,PROGRAM…] [linked]

"linked": the code that markers call is not compiled with each unit, but linked. It is compiled for all programs of a run.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import LONG, STRICT, Failures, Includes, LinkedMarkers, output, run, scratch, tool

MODES = {
    "unoptimised": ["-O0"],
    "optimised": ["-O2"],
    "without exceptions and RTTI": ["-O2", "-fno-exceptions", "-fno-rtti"],
    "disabled": ["-DADAPTYST_DISABLE"],
}
# Each mode and each standard once; scripts/test --long: all modes with the older standard.
WAYS = [("c++17", "unoptimised"), ("c++20", "optimised"), ("c++17", "disabled")]
WAYS_LINKED = [("c++20", "without exceptions and RTTI")]
if LONG:
    WAYS = [*[("c++17", mode) for mode in MODES], ("c++20", "optimised")]
    WAYS_LINKED += [("c++17", "optimised")]


class Builder:
    def __init__(self, root, pfr, compiler, linked=False):
        self.compiler = tool(compiler)
        includes = Includes(root, pfr)
        self.flags = includes.flags + ["-I", str(HERE.parent / "support")]
        self.work = scratch()
        self.failures = Failures()
        self.linked = []
        self.ways = WAYS_LINKED if linked else WAYS
        # Each standard and each optimisation; with linked markers in the other pairs.
        self.plain_ways = [("c++17", "-O2"), ("c++20", "-O0")] if linked else [("c++17", "-O0"), ("c++20", "-O2")]
        if linked:
            markers = LinkedMarkers(self.compiler, includes, self.work)
            self.flags += markers.unit_flags
            self.linked = [markers.archive]

    def compile(self, source, label, *flags):
        """The object of a source, or None and a failure if it does not compile without a word."""
        target = self.work / (pathlib.Path(source).stem + ".o")
        done = run([self.compiler, *STRICT, *self.flags, *flags, "-c", HERE / source, "-o", target])
        fine = self.failures.check(done.returncode == 0 and not done.printed, f"{source} compiles, {label}", done.printed)
        return target if fine else None

    def link(self, label, target, *inputs):
        if None in inputs:
            return None
        done = run([self.compiler, *inputs, *self.linked, "-o", self.work / target])
        fine = self.failures.check(done.returncode == 0 and not done.printed, f"{target} links, {label}", done.printed)
        return self.work / target if fine else None

    def runs(self, program, label):
        if program is None:
            return
        done = run([program])
        self.failures.check(done.returncode == 0 and not done.printed, f"{program.name} runs, {label}",
                            f"exit status {done.returncode}\n{done.printed}")

    def symbols(self, file, *flags):
        return output([tool("nm"), *flags, file])


def grammar(build):
    for standard, mode in build.ways:
        flags = MODES[mode]
        label = f"{standard}, {mode}"
        unit = build.compile("grammar.cpp", label, "-std=" + standard, *flags)
        build.runs(build.link(label, "grammar", unit), label)
        if unit is None:
            continue
        # Sites are constants: nothing runs before main() or on first use because of them.
        text = build.symbols(unit, "-C")
        build.failures.check("guard variable" not in text, f"no site is initialised at run time, {label}",
                             "\n".join(line for line in text.splitlines() if "guard variable" in line))
        if mode == "disabled":
            marker_symbols = [line for line in build.symbols(unit).splitlines() if re.search(r"adaptyst_|stapsdt", line)]
            build.failures.check(not marker_symbols, f"nothing is left of markers, {label}", "\n".join(marker_symbols))
            sections = re.findall(r"\.(?:note|probes)\S*", output([tool("readelf"), "-SW", unit]))
            build.failures.equal([name for name in sections if name not in (".note.GNU-stack", ".note.gnu.property")], [],
                                 f"no notes are left, {label}")


def together(build):
    for standard, mode in build.ways:
        flags = MODES[mode]
        label = f"{standard}, {mode}"
        units = [build.compile(f"together/{name}.cpp", label, "-std=" + standard, *flags) for name in ["main", "other_unit"]]
        for visibility in [[], ["-fvisibility=hidden"]]:
            object_file = build.compile("together/library.cpp", label, "-std=" + standard, *flags, "-fPIC", *visibility)
            library = build.link(label, "libtogether.so", "-shared", object_file)
            if library is None:
                continue
            build.runs(build.link(label, "together", *units, library, f"-Wl,-rpath,{build.work}"), label)
            # As a program does that lets its plugins see its symbols: each object must still use its own state.
            build.runs(build.link(label, "together_rdynamic", *units, library, f"-Wl,-rpath,{build.work}", "-rdynamic"),
                       label + ", -rdynamic")
            build.runs(build.link(label, "together_static", *units, object_file), label + ", in one")


def notes(program):
    """Provider:name → semaphore's address, of all probes of a program."""
    text = output([tool("readelf"), "-nW", program])
    found = {}
    for provider, name, semaphore in re.findall(r"Provider: (\S+)\s+Name: (\S+)\s+Location: \S+, Base: \S+, Semaphore: (\S+)",
                                                text):
        found[f"{provider}:{name}"] = int(semaphore, 16)
    return found


def with_system_sdt(build):
    for standard, optimised in build.plain_ways:
        for name in ["host_first", "host_later", "guarded_host_first", "guarded_host_later"]:
            label = f"{standard} {optimised}"
            # Two things of <sys/sdt.h> itself are not pedantic.
            unit = build.compile(f"with_system_sdt/{name}.cpp", label, "-std=" + standard, optimised, "-Wno-pedantic",
                                 "-Wno-variadic-macros", "-Wno-sign-conversion", "-Wno-gnu-zero-variadic-macro-arguments")
            program = build.link(label, name, unit)
            if program is None:
                continue
            build.runs(program, label)
            found = notes(program)
            ours = [key for key in found if key.startswith("adaptyst:")]
            build.failures.equal(len(ours), 6, f"{name}: our probes, {label}")
            for key in ours:
                build.failures.check((found[key] != 0) == (key != "adaptyst:thread"), f"{name}: {key} has its semaphore, {label}")
            host_probe = "host:guarded" if name.startswith("guarded") else "host:plain"
            build.failures.check(host_probe in found, f"{name}: the host's probe is there, {label}")
            build.failures.check((found.get(host_probe, 0) != 0) == name.startswith("guarded"),
                                 f"{name}: the host's probe has a semaphore exactly if it defines one, {label}", found)


def with_disabled_unit(build):
    for standard, optimised in build.plain_ways:
        label = f"{standard} {optimised}"
        units = [build.compile(f"with_disabled_unit/{name}.cpp", label, "-std=" + standard, optimised) for name in ["main", "disabled_unit"]]
        build.runs(build.link(label, "main_first", *units), label + ", the enabled unit first")
        build.runs(build.link(label, "disabled_first", *reversed(units)), label + ", the disabled unit first")


def no_markers(build):
    for standard, optimised in build.plain_ways:
        label = f"{standard} {optimised}"
        unit = build.compile("no_markers.cpp", label, "-std=" + standard, optimised)
        program = build.link(label, "no_markers", unit)
        build.runs(program, label)
        if program is not None:
            build.failures.equal(notes(program), {}, f"no marker, no probe, {label}")


def markers_library(build):
    """What markers call needs the C library only, and is seen only by the ELF object that has it."""
    needed = [line.split()[-1] for line in build.symbols(build.linked[0], "-u").splitlines() if line.strip().startswith("U ")]
    build.failures.check("mmap" in needed, "what it needs is seen", needed)
    for name in needed:
        build.failures.check(not name.startswith(("_Z", "__cxa", "__gxx", "_Unwind")), f"the library needs {name}")
    for line in output([tool("readelf"), "-sW", build.linked[0]]).splitlines():
        words = line.split()
        if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND":
            build.failures.check(words[5] == "HIDDEN", f"{words[7]} is hidden", line)
    # A unit without the C++ library, linked as a C program is.
    unit = build.compile("c_program.cpp", "for a C program", "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti")
    of_cpp, build.compiler = build.compiler, tool(build.compiler.replace("clang++", "clang").replace("g++", "gcc"))
    program = build.link("as a C program is", "c_program", unit)
    build.compiler = of_cpp
    build.runs(program, "as a C program is")
    if program is not None:
        libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", output([tool("readelf"), "-dW", program]))
        beyond = [name for name in libraries if not name.startswith(("libc.so", "ld-linux"))]
        build.failures.equal(beyond, [], "libraries that it needs other than the C library")
        build.failures.equal(len([key for key in notes(program) if key.startswith("adaptyst:")]), 6, "its probes")


PROGRAMS = {function.__name__: function
            for function in [grammar, together, with_system_sdt, with_disabled_unit, no_markers, markers_library]}


def main(root, pfr, compiler, programs, linked=None):
    build = Builder(root, pfr, compiler, linked is not None)
    for program in programs.split(","):
        PROGRAMS[program](build)
    build.failures.exit(min_checks=4 * len(programs.split(",")))


if __name__ == "__main__":
    main(*sys.argv[1:])
