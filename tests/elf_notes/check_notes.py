"""Whatever way a program is built, each of its ELF objects carries our probes once, as documented.

usage: check_notes.py ROOT COMPILER VARIANT[,VARIANT…] [PROBE_LIST]

Variants that are compiled in the same way, and linked in others, share what is compiled. PROBE_LIST FILE prints what
the collector's own reader finds in a file: it must agree with readelf.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import LONG, STRICT, Failures, Includes, output, run, scratch, skip, tool
from elf_file import ElfFile

X86_REGISTERS = ["%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9"]
# Kernels look for exactly these nops: a longer or another one of the same length is not replaced.
NOP1, NOP10, NOP5 = "90", "662e0f1f840000000000", "0f1f440000"
ARM_REGISTERS = ["x0", "x1", "x2", "x3", "x4", "x5"]

# What each variant adds when compiling and when linking. "library": the second and third unit are a shared library.
VARIANTS = {
    "pie": (["-fPIE"], ["-pie"]),
    "non_pie": (["-fno-pie"], ["-no-pie"]),
    "static": (["-fno-pie"], ["-static", "-no-pie"]),
    "static_pie": (["-fPIE"], ["-static-pie"]),
    "library": (["-fPIC"], []),
    "lto": (["-flto"], ["-flto"]),
    "lto_library": (["-flto", "-fPIC"], ["-flto"]),
    "thin_lto": (["-flto=thin"], ["-flto=thin"]),
    "sections": (["-ffunction-sections", "-fdata-sections"], ["-Wl,--gc-sections"]),
    "cet": (["-fcf-protection=full"], ["-fcf-protection=full"]),
    "lld": (["-fPIE"], ["-pie", "-fuse-ld=lld"]),
    "lld_icf": (["-ffunction-sections", "-fdata-sections"], ["-fuse-ld=lld", "-Wl,--icf=all", "-Wl,--gc-sections"]),
    "gold": (["-fPIE"], ["-pie", "-fuse-ld=gold"]),
    "mold": (["-fPIE"], ["-pie", "-fuse-ld=mold"]),
    "gold_icf": (["-ffunction-sections", "-fdata-sections"], ["-fuse-ld=gold", "-Wl,--icf=all", "-Wl,--gc-sections"]),
    "aarch64": (["-fPIE"], ["-static"]),
}
LINKERS = {"-fuse-ld=lld": "ld.lld", "-fuse-ld=gold": "ld.gold", "-fuse-ld=mold": "mold"}


def documented_arguments(root):
    """Name of a probe → number of its arguments, from the list at the top of probe_abi.h."""
    text = (pathlib.Path(root) / "include/adaptyst/probe_abi.h").read_text()
    found = re.findall(r"^ \*   (\w+) *\(([\w, ]+)\)", text, re.MULTILINE)
    return {name: len(arguments.split(",")) for name, arguments in found}


class Variant:
    compiled = {}  # of all variants: how → the units

    def __init__(self, root, compiler, variant, probe_list, failures):
        self.arm = variant == "aarch64"
        self.prefix = "aarch64-linux-gnu-" if self.arm else ""
        self.compiler = tool(self.prefix + "g++" if self.arm else compiler)
        self.root = root
        self.name = variant
        self.compile_flags, self.link_flags = VARIANTS[variant]
        # GNU ld needs a plugin of the right version for clang's link-time optimisation; lld needs none.
        if "clang" in compiler and "lto" in variant:
            self.link_flags = self.link_flags + ["-fuse-ld=lld"]
        if variant == "thin_lto" and "clang" not in compiler:
            skip("GCC has no thin link-time optimisation")
        for flag in self.link_flags:
            if flag in LINKERS:
                tool(LINKERS[flag])
        self.includes = Includes(root).flags + ["-I", str(HERE.parent / "support")]
        if self.arm:
            # <sys/sdt.h> is the same on all architectures, but Debian has it in the directory of the host's.
            text = output([tool("g++"), "-E", "-x", "c++", "-"], input="#include <sys/sdt.h>\n")
            sdt = re.search(r'"(/\S+)/sys/sdt\.h"', text).group(1)
            self.includes += ["-idirafter", sdt]
        self.registers = ARM_REGISTERS if self.arm else X86_REGISTERS
        self.probe_list = None if self.arm else probe_list
        self.arguments = documented_arguments(root)
        self.failures = failures

    def compile(self, work, *flags):
        """The units; none if one does not compile."""
        how = (*self.compile_flags, *flags)
        if how not in self.compiled:
            units = {}
            for name in ["main", "second_unit", "third_unit"]:
                unit = work / (name + ".o")
                done = run([self.compiler, "-std=c++17", *STRICT, *self.includes, *how, "-c", HERE / "traced" / (name + ".cpp"), "-o", unit])
                if self.failures.check(done.returncode == 0 and not done.printed, f"{name}.cpp compiles, {' '.join(how)}", done.printed):
                    units[name] = unit
            self.compiled[how] = units if len(units) == 3 else {}
        return self.compiled[how]

    def build(self, work, *flags):
        """The ELF objects that come out, the program first; none if it does not build."""
        work.mkdir()
        units = self.compile(work, *flags)
        if not units:
            return []
        program = work / "traced"
        linking = [[self.compiler, *flags, *self.link_flags, *units.values(), "-o", program]]
        objects = [program]
        if "library" in self.name:
            library = work / "libtraced.so"
            linking = [[self.compiler, *flags, *self.link_flags, "-shared", units["second_unit"], units["third_unit"], "-o", library],
                       [self.compiler, *flags, *self.link_flags, units["main"], library, f"-Wl,-rpath,{work}", "-o", program]]
            objects.append(library)
        for command in linking:
            done = run(command)
            # A static program that may look up names at run time is warned about; it does not.
            if not self.failures.check(done.returncode == 0, f"it links, {' '.join(flags)}", done.line + "\n" + done.printed):
                return []
        return objects

    def check_object(self, path, label):
        failures = self.failures
        elf = ElfFile(path, self.prefix)
        label = f"{path.name}, {label}: "
        ours = [probe for probe in elf.probes if probe.provider == "adaptyst"]
        failures.equal(sorted(probe.name for probe in ours), sorted([*self.arguments, *(["region_end"] if ours else [])]),
                       label + "each probe once, region_end twice")
        slow = [probe for probe in ours if probe.name == "region_end"][1:]  # for forked children
        slow += [probe for probe in ours if probe.name == "thread"]

        expected = {name: " ".join("8@" + register for register in self.registers[:count])
                    for name, count in self.arguments.items()}
        base = elf.named(".stapsdt.base")
        # gold, with --gc-sections, drops this section: only notes refer to it, and they are not loaded.
        failures.check(len(base) == (0 if "gold_icf" == self.name else 1), label + "one base section", base)
        for probe in ours:
            failures.equal(probe.arguments, expected.get(probe.name), label + "arguments of " + probe.name)
            failures.check(not re.search(r"[(\[]", probe.arguments), label + f"no memory operand in {probe.name}")
            code = "1f2003d5" "c0035fd6" if self.arm else "90" "c3" if probe in slow else NOP1 + NOP10 + NOP5 + "c3"
            failures.equal(elf.at(probe.location, len(code) // 2).hex(), code, label + "code of " + probe.name)
            segment = elf.load_segment(probe.location)
            failures.check(segment and "E" in segment.flags and "W" not in segment.flags, label + f"{probe.name} is code")
            if probe not in slow and not self.arm:
                failures.equal(probe.location % 16, 0, label + f"no nop of {probe.name} crosses a page")
            failures.equal(probe.base, base[0].address if base else 0, label + "base of " + probe.name)
        if ours:
            shown = elf.instructions(ours[0].location, 8 if self.arm else 17)
            failures.equal(shown, ["nop", "ret"] if self.arm else ["nop", "cs nopw 0x0(%rax,%rax,1)", "nopl 0x0(%rax,%rax,1)", "ret"], label + "instructions")

        self.check_semaphores(elf, ours, label)
        self.check_control_block(elf, ours, label)
        init_functions = elf.init_functions()
        failures.equal(len([name for name in init_functions if "adaptyst" in name]), 1,
                       label + f"one entry of ours in .init_array, {init_functions}")
        failures.equal(len(elf.named(".fini_array")), 1, label + "a section .fini_array")
        for symbol in elf.symbols(dynamic=True):
            state = re.search(r"^adaptyst_(object|probe)_|^adaptyst_\w+_semaphore$|this_thread_recorder", symbol.name)
            failures.check(not state, label + f"{symbol.name} is not exported")
            # A unique symbol binds its library to the process for ever: dlclose() would no longer unload it.
            failures.check(symbol.binding != "UNIQUE" or "adaptyst" not in symbol.name, label + f"{symbol.name} is not unique")
        self.check_own_reader(elf, ours, label)
        return elf

    def check_semaphores(self, elf, ours, label):
        failures = self.failures
        sections = elf.named(".probes")
        if not failures.equal(len(sections), 1, label + "one section .probes"):
            return
        section = sections[0]
        failures.equal(section.flags, "WA", label + "flags of .probes")
        failures.equal(section.size, 24, label + "one control block in .probes")
        places = {}
        for probe in ours:
            if probe.name == "thread":
                failures.equal(probe.semaphore, 0, label + "thread has no semaphore")
                continue
            place = places[probe.name] = probe.semaphore
            failures.check(section.address <= place and place + 2 <= section.address + section.size,
                           label + f"semaphore of {probe.name} is in .probes")
            failures.equal(place % 2, 0, label + f"alignment of the semaphore of {probe.name}")
            segment = elf.load_segment(place)
            failures.check(segment and segment.flags == "RW", label + f"semaphore of {probe.name} is writable data")
            failures.equal(elf.number_at(place, 2), 0, label + f"nothing listens to {probe.name}")
        if len(places) == len(self.arguments) - 1:
            first = places["region_begin"]
            failures.equal({name: place - first for name, place in places.items()},
                           {"region_begin": 0, "region_end": 2, "metric": 4, "mark": 4, "operation": 4}, label + "semaphores")

    def check_control_block(self, elf, ours, label):
        failures = self.failures
        sections = elf.named(".note.adaptyst")
        if not failures.equal(len(sections), 1, label + "one section .note.adaptyst"):
            return
        note = sections[0]
        failures.check(note.kind == "NOTE" and "A" in note.flags and "W" not in note.flags, label + "it is a loaded note", note)
        failures.check(any(segment.kind == "NOTE" and 0 <= note.address - segment.address and
                           note.address + note.size <= segment.address + segment.file_size for segment in elf.segments),
                       label + "a note segment leads to it")
        content = elf.at(note.address, note.size)
        failures.equal(content[:24], bytes([9, 0, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0]) + b"adaptyst\0\0\0\0", label + "head of the note")
        block = (note.address + 24 + elf.number_at(note.address + 24)) % 2**64
        starts = {probe.semaphore for probe in ours if probe.name == "region_begin"}
        failures.equal({block}, starts, label + "the note leads to the control block")
        failures.equal(block % 8, 0, label + "alignment of the control block")
        for symbol in elf.symbols():
            if symbol.name == "adaptyst_object_v5":
                failures.equal(symbol.value, block, label + "symbol of the control block")
                failures.check(symbol.binding == "LOCAL" or symbol.visibility == "HIDDEN", label + "it is hidden", symbol)

    def check_own_reader(self, elf, ours, label):
        if not self.probe_list:
            return
        done = run([self.probe_list, elf.path])
        if not self.failures.check(done.returncode == 0, label + "our own reader reads it", done.printed):
            return
        fast = bytes.fromhex(NOP1 + NOP10 + NOP5)
        expected = sorted(f"{probe.name} {elf.offset(probe.location)} {elf.offset(probe.semaphore) if probe.semaphore else 0} "
                          f"{int(elf.at(probe.location, len(fast)) == fast)} {probe.arguments}" for probe in ours)
        self.failures.equal(sorted(done.stdout.splitlines()), expected, label + "our own reader agrees")

    def check_run(self, program, label):
        command = [program]
        if self.arm:
            command = [tool("qemu-aarch64"), program]
        done = run(command)
        self.failures.check(done.returncode == 0 and not done.printed, f"{program.name} runs and counts, {label}",
                            f"exit status {done.returncode}\n{done.printed}")

    def check_unloading(self, library, label):
        """After dlclose(), nothing of a library is left in the process."""
        script = ("import _ctypes, ctypes, sys\n"
                 "loaded = ctypes.CDLL(sys.argv[1])\n"
                 "there = sys.argv[1] in open('/proc/self/maps').read()\n"
                 "_ctypes.dlclose(loaded._handle)\n"
                 "print(there, sys.argv[1] in open('/proc/self/maps').read())\n")
        messages = run([sys.executable, "-c", script, library]).printed.split()
        self.failures.equal(messages, ["True", "False"], f"{library.name}, {label}: it was loaded, and is unloaded")

    def check_stripped(self, path, elf, label):
        """Stripping takes symbols, and nothing of what leads to the probes."""
        for flags in [["--strip-all"], ["--strip-debug"], ["--strip-unneeded", "--remove-section=.comment"]]:
            stripped = path.with_suffix(".stripped")
            output([tool(self.prefix + "strip"), *flags, path, "-o", stripped])
            left = ElfFile(stripped, self.prefix)
            self.failures.equal(left.probes, elf.probes, f"{path.name}, {label}, {' '.join(flags)}: probes")
            ours = [probe for probe in left.probes if probe.provider == "adaptyst"]
            self.check_control_block(left, ours, f"{path.name}, {label}, {' '.join(flags)}: ")
            self.check_own_reader(left, ours, f"{path.name}, {label}, {' '.join(flags)}: ")
            if flags == ["--strip-all"]:
                self.failures.equal([symbol.name for symbol in left.symbols() if symbol.name == "adaptyst_object_v5"], [],
                                    f"{path.name}, {label}: no symbol is left")
                stripped.replace(path)
        self.check_run(path.parent / "traced", label + ", stripped")


def check_disabled(compiler, work, optimised):
    """A program with its markers compiled away has no probes, and runs."""
    disabled = compiler.build(work, optimised, "-DADAPTYST_DISABLE")
    for path in disabled:
        bare = ElfFile(path, compiler.prefix)
        compiler.failures.equal([probe for probe in bare.probes if probe.provider == "adaptyst"], [],
                           f"{path.name}, {optimised}: no probes when disabled")
        compiler.failures.check(not any("adaptyst" in name for name in bare.init_functions()),
                           f"{path.name}, {optimised}: nothing of ours in .init_array when disabled")
    if disabled:
        compiler.check_run(disabled[0], optimised + ", disabled")


# Variants that are built with and without optimisation, and disabled, in each run; the others in scripts/test --long only.
WHOLE = ["pie", "library", "aarch64"]


def check(compiler, work):
    whole = LONG or compiler.name in WHOLE
    compiler.failures.equal(sorted(compiler.arguments), ["mark", "metric", "operation", "region_begin", "region_end", "thread"], "documented probes")
    for optimised in ["-O0", "-O2"] if whole else ["-O2"]:
        if whole:
            check_disabled(compiler, work / f"disabled{optimised}", optimised)
        for number, path in enumerate(compiler.build(work / f"enabled{optimised}", optimised)):
            elf = compiler.check_object(path, optimised)
            if number == 0:
                compiler.check_run(path, optimised)
            else:
                compiler.check_unloading(path, optimised)
            compiler.check_stripped(path, elf, optimised)


def main(root, compiler, variants, probe_list=None):
    failures = Failures()
    for variant in variants.split(","):
        check(Variant(root, compiler, variant, probe_list, failures), scratch())
        print(f"{variant}: {failures.count} failed", flush=True)
    failures.exit(min_checks=50 * len(variants.split(",")))


if __name__ == "__main__":
    main(*sys.argv[1:])
