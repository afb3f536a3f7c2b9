"""A misuse does not compile, and the compiler says what to do; without the misuse the same file compiles.

usage: check_refusal.py ROOT PFR COMPILER FILE

FILE holds the misuse behind #ifdef MISUSE. Its first lines say what the compiler must say then ("// expect:", a regular
expression), further flags ("// flags:"), and what is not to be found ("// without: pfr").
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures, Includes, run, skip, tool


def directive(text, name):
    found = re.search(rf"^// {name}: (.*)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def main(root, pfr, compiler, name):
    source = HERE / name
    text = source.read_text()
    program = tool(compiler)
    includes = Includes(root, pfr)
    if directive(text, "without") == "pfr":
        includes = Includes(root)
        if run([program, "-fsyntax-only", "-x", "c++", "-"], input="#include <boost/pfr/core.hpp>\n").returncode == 0:
            skip("Boost.PFR is among the system's headers, and cannot be done without")
    expected = directive(text, "expect")
    failures = Failures()
    failures.check(expected and "#ifdef MISUSE" in text, "the file says what to expect")
    for standard in ["c++17", "c++20"]:
        command = [program, "-std=" + standard, *directive(text, "flags").split(), *includes.flags, "-fsyntax-only"]
        right = run([*command, source])
        failures.check(right.returncode == 0, f"right use compiles, {standard}", right.said)
        wrong = run([*command, "-DMISUSE", source])
        failures.check(wrong.returncode != 0, f"misuse is refused, {standard}")
        # Compilers break long messages where they like.
        failures.check(re.search(expected, " ".join(wrong.said.split())), f"the message says \"{expected}\", {standard}", wrong.said)
    failures.exit(least_checks=7)


if __name__ == "__main__":
    main(*sys.argv[1:])
