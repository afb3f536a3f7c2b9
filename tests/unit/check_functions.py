"""check_functions.py ROOT COMPILER FUNCTION_LIST: the search for functions against nm, readelf, objdump and c++filt.

Compiles the files in functions/ in many ways and holds what is found, where, and the kind of the instruction there against
what the binary utilities say.
"""
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

root, compiler, function_list = sys.argv[1:4]
sys.path.insert(0, str(pathlib.Path(root) / "tests" / "support"))
from compiling import Failures, output, run, scratch, tool  # noqa: E402

sources = pathlib.Path(root) / "tests" / "unit" / "functions"
cxx = tool(compiler)
cc = tool({"g++": "gcc", "clang++": "clang"}[compiler])
is_gcc = compiler == "g++"
readelf, objdump, strip = tool("readelf"), tool("objdump"), tool("strip")
work = scratch()
failures = Failures()


@dataclass
class Found:
    symbol: str
    version: str
    name: str
    address: int
    offset: int
    past_entry: int
    kind: str
    why: str
    aliases: list


def find(file, pattern, *more):
    found = []
    for line in output([function_list, file, pattern, *more]).splitlines():
        if line.count("\t") != 8:
            continue
        symbol, version, name, address, offset, past, kind, why, aliases = line.split("\t")
        found.append(Found(symbol, version, name, int(address, 16), int(offset, 16), int(past), kind, why, aliases.split()))
    return found


def reasons(file, pattern):
    return output([function_list, file, pattern])


def symbols(file):
    """(address, kind, section, name without version) of all functions, from both tables."""
    text = output([readelf, "-sW", file])
    found = set()
    for line in text.splitlines():
        words = line.split()
        if len(words) < 8 or not re.fullmatch(r"\d+:", words[0]) or words[3] not in ("FUNC", "IFUNC"):
            continue
        words = [word for word in words if not word.startswith("[")]
        found.add((int(words[1], 16), words[3], words[6], words[7].split("@")[0]))
    return found


def load_segments(file):
    """(offset in the file, address, size) of each."""
    found = [line.split() for line in output([readelf, "-lW", file]).splitlines()]
    return [(int(words[1], 16), int(words[2], 16), int(words[4], 16)) for words in found if words[:1] == ["LOAD"]]


def file_offset(segments, address):
    return next((address - start + offset for offset, start, size in segments if start <= address < start + size), None)


def disassembly(file):
    """address -> (bytes, instruction)"""
    return {int(address, 16): (len(code.split()), " ".join(text.split()))
            for address, code, text in re.findall(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(.*)$",
                                                  output([objdump, "-d", "-w", file]), re.MULTILINE)}


def expected_place(code, address):
    """(kind, bytes past the entry), from objdump's text."""
    past = 0
    length, text = code.get(address, (0, "?"))
    if text.startswith("endbr64"):
        past = length
        length, text = code.get(address + past, (0, "?"))
    patchable = length == 5 and text.startswith("nopl 0x0(%rax,%rax,1)")
    if patchable:
        past += length
        length, text = code.get(address + past, (0, "?"))
    word = text.split()[0]
    if word == "push" and "%r" in text and length <= 2:
        kind = "push"
    elif text == "nop":
        kind = "nop1"
    elif word.startswith("j") and "*" not in text or word == "call" and "*" not in text:
        kind = "emulated"
    else:
        return "single_stepped", past if patchable else 0
    return kind, past


def check_all(file, label):
    """Every function of the file, and nothing else, with the right place."""
    everything = find(file, "*")
    probed = {probe.address: probe for probe in everything if probe.kind != "refused"}
    listed = {}
    for address, kind, section, name in symbols(file):
        if kind == "FUNC" and section not in ("UND", "ABS"):
            listed.setdefault(address, set()).add(name)
    cold = {address for address, names in listed.items() if all(re.search(r"\.cold(\.\d+)?$", name) for name in names)}
    failures.equal(set(probed), set(listed) - cold, f"{label}: addresses of functions")
    code, segments = disassembly(file), load_segments(file)
    for address, probe in probed.items():
        where = f"{label}: {probe.symbol}"
        failures.equal({probe.symbol, *probe.aliases}, listed.get(address), f"{where}: names")
        failures.equal((probe.kind, probe.past_entry), expected_place(code, address), f"{where}: first instruction")
        failures.equal(probe.offset, file_offset(segments, address + probe.past_entry), f"{where}: offset")
    return probed


def only(found, subject):
    if failures.check(len(found) == 1, f"{subject}: found once", found):
        return found[0]
    return Found("", "", "", 0, 0, 0, "", "", [])


def compile_to(name, source, *flags, driver=cc):
    file = work / name
    output([driver, *flags, sources / source, "-o", file])
    return file


def check_plain(file, label, stripped=False, static=False):
    check_all(file, label)
    visible = only(find(file, "visible"), f"{label}: visible")
    failures.equal(visible.aliases, ["__visible", "also_visible"], f"{label}: one probe, all names")
    failures.equal(only(find(file, "*also_vis*"), f"{label}: by an alias").address, visible.address, f"{label}: same place")
    for name, kind, past in [("bare_entry", "nop1", 0), ("fast_entry", "push", 5), ("slow_entry", "single_stepped", 0),
                             ("jumping_entry", "emulated", 0), ("patched_entry", "single_stepped", 9),
                             ("high_register_entry", "push", 4)]:
        probe = only(find(file, name), f"{label}: {name}")
        failures.equal((probe.kind, probe.past_entry), (kind, past), f"{label}: {name}")
    chosen = only(find(file, "chosen"), f"{label}: chosen")
    failures.check("implementations" in chosen.why, f"{label}: an indirect function is explained", chosen)
    if not static:
        imported = only(find(file, "puts"), f"{label}: puts")
        failures.check(imported.kind == "refused" and "libc.so.6" in imported.why, f"{label}: its library is named", imported)
        failures.check("puts is imported from libc.so.6" in reasons(file, "put?"), f"{label}: no pattern finds what is imported",
                       reasons(file, "put?"))
    failures.check("is data" in reasons(file, "datum"), f"{label}: data", reasons(file, "datum"))
    failures.check("visible" in reasons(file, "visibel"), f"{label}: a name nearby", reasons(file, "visibel"))
    failures.check(("stripped" if stripped else "inlined") in reasons(file, "nothing_like_it_at_all"), f"{label}: absent",
                   reasons(file, "nothing_like_it_at_all"))
    failures.equal(len(find(file, "hidden")), 0 if stripped else 1, f"{label}: static function")
    if not stripped:
        failures.check("label" in reasons(file, "only_a_label"), f"{label}: a label", reasons(file, "only_a_label"))


for level in ("-O0", "-O2"):
    for protection in ("-fcf-protection=full", "-fcf-protection=none"):
        label = f"{level} {protection[15:]}"
        program = compile_to("program", "plain.c", level, protection, "-rdynamic")
        check_plain(program, f"{label} program")
        output([strip, program])
        check_plain(program, f"{label} stripped", stripped=True)
        library = compile_to("library.so", "plain.c", level, protection, "-shared", "-fPIC")
        check_plain(library, f"{label} library")
        names = compile_to("names", "names.cpp", level, protection, "-std=c++17", driver=cxx)
        found = {probe.name for probe in check_all(names, f"{label} names").values()}
        filtered = subprocess.run([tool("c++filt")], input="\n".join(name for _, kind, section, name in symbols(names)
                                                                     if kind == "FUNC" and section != "UND"),
                                  capture_output=True, text=True, check=True).stdout.split("\n")
        failures.check({name for name in found if "flow::" in name} <= set(filtered), f"{label}: names as c++filt has them")
        for pattern, count in [("flow::compute_flux(*)", 2), ("flow::compute_flux", 2), ("*compute_flux", 2), ("flow::tw?ce", 2), ("flow::compute_flux(double)", 1), ("*compute_flux(int)", 1),
                               ("flow::grid::operator[](int) const", 1), ("flow::grid::operator*=(int)", 1),
                               ("*flow::twice<*>(*)", 2), ("flow::tagged[abi:cxx11](int)", 1), ("flow::tagged[abi:cxx11]", 1), ("flow::tagged", 1),
                               ("flow::tagged(*)", 1), ("*tagged", 1), ("_ZN4flow12compute_flux*", 2),
                               ("compute_flux", 0)]:
            failures.equal(len(find(names, pattern)), count, f"{label}: {pattern}")
        failures.check("flow::compute_flux(int)" in reasons(names, "compute_flux"), f"{label}: C++ name nearby",
                       reasons(names, "compute_flux"))

static = compile_to("static", "plain.c", "-O2", "-static")
check_plain(static, "static", static=True)
fixed = compile_to("fixed", "plain.c", "-O2", "-no-pie", "-rdynamic")
check_plain(fixed, "non-PIE")

clones = compile_to("clones", "plain.c", "-O2", "-fcf-protection=none")
names = {name for _, kind, section, name in symbols(clones) if kind == "FUNC" and section != "UND"}
if is_gcc:
    failures.check({"rare.cold", "with_constant.constprop.0"} <= names, "the compiler makes the clones that are tested", names)
    cold = only(find(clones, "rare.cold"), "cold part")
    failures.check(cold.kind == "refused" and "jumped into" in cold.why, "a cold part is refused", cold)
    failures.equal([probe.symbol for probe in find(clones, "with_constant")], [], "a clone is no function of the plain name")
    failures.equal([probe.symbol for probe in find(clones, "with_constant", "clones")], ["with_constant.constprop.0"],
                   "a clone by its base name when asked")
    failures.equal(sorted(probe.symbol for probe in find(clones, "rare", "clones")), ["rare", "rare.cold"], "cold part on request")

versioned = compile_to("versioned.so", "versions.c", "-O2", "-shared", "-fPIC",
                       f"-Wl,--version-script={sources / 'versions.map'}")
for when in ("with .symtab", "stripped"):
    check_all(versioned, f"versions, {when}")
    found = find(versioned, "answer")
    failures.equal(sorted(probe.version for probe in found), ["TEST_1", "TEST_2"], f"versions, {when}")
    listed = dict(re.findall(r"^\s*\d+: ([0-9a-f]+) .* answer@+(TEST_\d)\b", output([readelf, "--dyn-syms", "-W", versioned]),
                             re.MULTILINE))
    failures.equal({probe.address: probe.version for probe in found},
                   {int(address, 16): version for address, version in listed.items()}, f"addresses of versions, {when}")
    output([strip, versioned])

for real in ("libz.so.1", "libm.so.6"):
    for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64"):
        if (pathlib.Path(folder) / real).exists():
            check_all(pathlib.Path(folder) / real, real)
            break

object_file = work / "plain.o"
output([cc, "-c", sources / "plain.c", "-o", object_file])
refused = run([function_list, object_file, "*"])
failures.check(refused.returncode == 1 and "linked" in refused.printed, "an object file is refused", refused.printed)
failures.exit(min_checks=1000)
