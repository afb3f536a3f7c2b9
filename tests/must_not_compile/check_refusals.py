"""Misuses do not compile, and the compiler prints the remedy of each; without the misuses the same files compile.

usage: check_refusals.py ROOT PFR COMPILER [without_pfr]

Each case of misuses.cpp ("// case: NAME") becomes a file. It holds a misuse behind #ifdef MISUSE, or is one with certain flags
("// misuse:"). Its first lines give the message that the compiler must print then ("// expect:", a regular expression), further
flags ("// flags:"), whether Boost.PFR is not to be found ("// without: pfr": these are tried by a call of their own), and whether
it begins with something that must come before any header ("// alone"). Cases that need the same are compiled together, each in a
namespace of its own.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures, Includes, run, scratch, skip, tool

# With one of these, a payload's header is there, and cannot be missed any more.
BRINGS_PAYLOADS = ("adaptyst/adaptyst.hpp", "adaptyst/payload.hpp")

# Lines before the error that they belong to.
BEFORE_ERROR = re.compile(r"^In file included from |^ +from |: (In|At) .*:$|: +required (from|by) |\[ skipping ")


class Misuse:
    def __init__(self, name, text, folder):
        self.path = folder / f"{name}.cpp"
        self.path.write_text(text)
        self.expected = self.directive(text, "expect")
        self.flags = self.directive(text, "flags").split()
        self.misuse = self.directive(text, "misuse").split()
        self.without_pfr = self.directive(text, "without") == "pfr"
        self.alone = re.search("^// alone$", text, re.MULTILINE) is not None
        self.includes = re.findall(r"^#include <(.*)>", text, re.MULTILINE)
        self.complete = bool(self.expected) and ("#ifdef MISUSE" in text or bool(self.misuse))

    @staticmethod
    def directive(text, name):
        found = re.search(rf"^// {name}: (.*)$", text, re.MULTILINE)
        return found.group(1).strip() if found else ""

    def needs(self):
        """What the files that it is compiled with must need as well."""
        return (self.path.name if self.alone else "", *self.flags, *self.misuse, any(header in BRINGS_PAYLOADS for header in self.includes))


def together(misuses):
    """A unit with all of them."""
    if misuses[0].alone:
        return f'#include "{misuses[0].path}"\n'
    headers = sorted({header for misuse in misuses for header in misuse.includes})
    return "".join([*(f"#include <{header}>\n" for header in headers),
                    *(f'namespace {misuse.path.stem} {{\n#include "{misuse.path}"\n}}\n' for misuse in misuses)])


def errors(messages):
    """A compiler's errors, each with its origin and its notes. Long messages are broken anywhere."""
    lines = messages.splitlines()
    begins = []
    for at, line in enumerate(lines):
        if re.search(r"\berror: ", line):
            while at > 0 and BEFORE_ERROR.search(lines[at - 1]):
                at -= 1
            begins.append(at)
    return [" ".join(" ".join(lines[begin:end]).split()) for begin, end in zip(begins, [*begins[1:], len(lines)])]


def check(misuses, command, label, failures):
    names = ", ".join(misuse.path.stem for misuse in misuses)
    right = run(command)
    failures.check(right.returncode == 0, f"right use compiles, {label}: {names}", right.printed)
    wrong = run([*command, "-DMISUSE", *misuses[0].misuse])
    failures.check(wrong.returncode != 0, f"misuse is refused, {label}: {names}")
    found = errors(wrong.printed)
    for misuse in misuses:
        of_this = [error for error in found if f"/{misuse.path.name}:" in error]
        failures.check(of_this, f"{misuse.path.stem} is refused, {label}")
        failures.check(any(re.search(misuse.expected, error) for error in of_this),
                       f"{misuse.path.stem}: the message has \"{misuse.expected}\", {label}", "\n".join(of_this))


def main(root, pfr, compiler, without_pfr=None):
    program = tool(compiler)
    includes = Includes(root, pfr if without_pfr is None else None)
    if without_pfr and run([program, "-fsyntax-only", "-x", "c++", "-"], input="#include <boost/pfr/core.hpp>\n").returncode == 0:
        skip("Boost.PFR is among the system's headers, and cannot be done without")
    folder = scratch()
    unit = folder / "unit.cpp"
    failures = Failures()
    groups = {}
    _, *cases = (HERE / "misuses.cpp").read_text().split("\n// case: ")
    for case in cases:
        name, text = case.split("\n", 1)
        misuse = Misuse(name, text, folder)
        failures.check(misuse.complete, f"{name} has a misuse, and the message to expect")
        if misuse.without_pfr == bool(without_pfr):
            groups.setdefault(misuse.needs(), []).append(misuse)
    for misuses in groups.values():
        unit.write_text(together(misuses))
        for standard in ["c++17", "c++20"]:
            check(misuses, [program, "-std=" + standard, "-Werror=unused-result", "-fsyntax-only", *misuses[0].flags, *includes.flags,
                            "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0", unit], standard, failures)
    failures.exit(min_checks=40 if without_pfr else 150)


if __name__ == "__main__":
    main(*sys.argv[1:])
