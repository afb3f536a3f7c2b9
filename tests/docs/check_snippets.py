"""Checks the blocks of code in the documentation: check_snippets.py ROOT PFR COMPILER CMAKE

Blocks of C++, C and Fortran are compiled, blocks of CMake are configured, blocks of JSON and Python are parsed. Commands are not run: the
subcommands, options, values and files that they name must exist. Blocks without a language are not checked.

A block of C++ with a main() is a program. Any other is put into a function, below all of our headers that need no other project's. A
line that has only … stands for lines that were left out, and is removed. A comment right above a block says what else it needs:

  <!-- snippet: given int n; -->         C++: these declarations come before the function; #include lines among them come before all else
  <!-- snippet: declarations -->         C++: the block is not put into a function; "declarations: int n;" adds what "given" would
  <!-- snippet: part of FILE -->         the block is not compiled here; its lines must be in FILE
  <!-- snippet: file FILE -->, <!-- snippet: into FILE before "TEXT" -->   not checked here: check_contributing.py does it
  <!-- snippet: not compiled: WHY -->    the block is not checked; only a few may be like this
"""
import ast
import json
import pathlib
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures, Includes, run, scratch, tool
from pages import all_pages

# Headers of ours that need another project's header: a snippet that includes ours is compiled only where theirs is installed.
NEEDS = {"adaptyst/opencl.hpp": "CL/cl.h", "adaptyst/cuda.hpp": "cuda_runtime_api.h", "adaptyst/hip.hpp": "hip/hip_runtime_api.h",
         "adaptyst/mpi.hpp": "mpi.h"}
CHECKED_ELSEWHERE = ("part of", "file", "into")
failures = Failures()


def stripped_lines(text):
    return [line.strip() for line in text.strip().splitlines()]


class Cpp:
    """The snippets of C++. Those without a main() are one translation unit, so that the headers, which take longest, are compiled once;
    each is in a namespace of its own."""

    def __init__(self):
        self.includes, self.bodies, self.programs = [], [], []

    def add(self, block):
        given, outside = "", False
        for word in ("given", "declarations"):
            if block.argument(word) is not None:
                given, outside = block.argument(word), word == "declarations"
        text = re.sub(r"^\s*…\s*$", "", block.text, flags=re.MULTILINE)
        if re.search(r"^int main\(", text, re.MULTILINE):
            self.programs.append((block, f'{given}\n#line {block.line + 1} "{block.page.path}"\n{text}'))
            return
        includes = [line for line in (given + "\n" + text).splitlines() if line.startswith("#include")]
        given = "\n".join(line for line in given.splitlines() if not line.startswith("#include"))
        text = re.sub(r"^#include.*$", "", text, flags=re.MULTILINE)
        condition = [f"__has_include(<{header}>)" for ours, header in NEEDS.items() if any(ours in line for line in includes)]
        self.includes.append("\n".join(["#if " + (" && ".join(condition) or "1"), *includes, "#endif"]))
        begin, end = ("", "") if outside else ("[[maybe_unused]] static void snippet() {", "}")
        self.bodies.append(f"#if {' && '.join(condition) or '1'}\nnamespace snippet_{len(self.bodies)} {{\n{given}\n{begin}\n"
                           f'#line {block.line + 1} "{block.page.path}"\n{text}\n#line 1 "behind {block.page.name}"\n{end}\n}}\n#endif\n')

    def compile(self, command, headers, folder):
        unit = folder / "snippets.cpp"
        unit.write_text("".join(f"#include <{header}>\n" for header in headers) + "\n".join(self.includes + self.bodies))
        done = run([*command, unit])
        failures.check(done.returncode == 0, f"{len(self.bodies)} snippets compile", done.printed)
        for block, text in self.programs:
            unit.write_text(text)
            mpi_flags = []
            if "<mpi.h>" in text:
                mpi = run(["pkg-config", "--cflags", "ompi"])
                if mpi.returncode != 0:
                    print(f"{block.place}: left out: no MPI")
                    continue
                mpi_flags = ["-DOMPI_SKIP_MPICXX", *mpi.printed.split()]
            done = run([*command, *mpi_flags, unit])
            failures.check(done.returncode == 0, f"{block.place}: the program compiles", done.printed)
        failures.check(len(self.bodies) + len(self.programs) >= 8, "there are snippets of C++")


class Command:
    """Checks command lines of adaptyst, cmake and ctest.

    The subcommands and options that exist are read from docs/cli.md, the keys of ADAPTYST=… from docs/options.md; other tests compare
    both pages with the command itself. The presets are read from CMakePresets.json.
    """

    def __init__(self, root):
        self.root = root
        self.options, section = {}, ""  # by subcommand, "" for none: each option with its values, which are empty for a flag
        for line in (root / "docs/cli.md").read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                section = line.split()[-1]
            for names in re.findall(r"^\| `(-[^`]*)`", line):
                for name in names.split(", "):
                    flag, _, value = name.partition(" ")
                    self.options.setdefault(section, {})[flag] = value.replace("\\|", "|")
            self.options.setdefault(section, {})
        text = (root / "docs/options.md").read_text(encoding="utf-8")
        self.keys = {name: values.replace("\\|", "|") for name, values in re.findall(r"^\| `(\w+)` \| `([^`.][^`]*)` \|", text, re.MULTILINE)}
        presets = json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))
        self.presets = {preset["name"] for kind in ("configurePresets", "buildPresets", "testPresets") for preset in presets[kind]}

    def check_lines(self, text, place, whole=True):
        """Checks each command of a script. `whole`: False for one in prose, where the value of an option may be left out."""
        self.whole = whole
        for line in re.sub(r"\\\n", " ", text).splitlines():
            # A | within quotes does not end a command.
            line = re.sub(r"'[^']*'", lambda quoted: quoted.group().replace("|", "¦"), line)
            for part in re.split(r"\||&&|;(?=\s|$)|\$\(|&$", line):
                self.check(part, place)

    def check(self, text, place):
        try:
            words = shlex.split(text, comments=True)
        except ValueError:  # a quote that is not closed: not a command line, or a part of one only
            return
        for word in words:
            if word.startswith("ADAPTYST="):
                self.check_options(word.partition("=")[2], place)
            elif re.match(r"scripts/[\w-]+$", word):
                failures.check((self.root / word).is_file(), f"{place}: there is no {word}")
        if words[:2] in (["cmake", "--preset"], ["ctest", "--preset"]):
            failures.check(words[2] in self.presets, f"{place}: no preset is called {words[2]}")
        # The command may follow others, as in "mpirun -n 2 adaptyst run …"; a path that ends in /adaptyst may as well be a folder, and is
        # taken for the command where it comes first or where a subcommand follows. To cmake, adaptyst is a target.
        for at, word in enumerate(words[:-1]):
            if words[0] != "cmake" and pathlib.PurePath(word).name == "adaptyst" and (words[at + 1] in self.options or at == 0 or word == "adaptyst"):
                return self.check_subcommand(words[at + 1:], place)
        return None

    def check_options(self, text, place):
        for pair in re.split(r",(?=\w+=)", text):
            name, equals, value = pair.partition("=")
            failures.check(equals and name in self.keys, f"{place}: no option is called {name}")
            self.check_value(self.keys.get(name, ""), value, f"{place}: {name}")

    @staticmethod
    def check_value(values, value, place):
        """`values` is what the page allows. It is "a|b", or "a,b" for a list; all else, such as PERCENT, describes a value: not checked."""
        words = values.split("|")
        if not re.fullmatch(r"[a-z,|…\[\]]+", values) or "PERCENT" in values:
            return
        allowed = {item for word in words for item in word.split(",")}
        for item in filter(None, re.split(r"[,;]", value)):
            failures.check(item in allowed or ":" in item or not item.isalpha(), f"{place}: '{item}' is none of {values}")

    def check_subcommand(self, words, place):
        name = words[0]
        if name.startswith("-"):
            return failures.check(name in self.options[""], f"{place}: no option is called {name}")
        if not failures.check(name in self.options, f"{place}: adaptyst has no subcommand {name}"):
            return None
        values, at = self.options[name], 1
        while at < len(words) and not (name in ("run", "levels") and words[at] == "--"):
            flag, equals, value = words[at].partition("=")
            if flag.startswith("-") and flag not in ("-", "--"):
                if failures.check(flag in values, f"{place}: adaptyst {name} has no option {flag}") and values[flag]:
                    if not equals:
                        at += 1
                    value = value if equals else words[at] if at < len(words) else ""
                    failures.check(value or not self.whole, f"{place}: {flag} needs a value")
                    self.check_value(values[flag], value, f"{place}: {flag}")
            elif name == "run" and not flag.startswith("["):
                break  # the program, and its own options
            at += 1
        return None


def check_part(root, block):
    file = root / block.argument("part of").strip()
    wanted = [line for line in stripped_lines(block.text) if line]
    lines = [line for line in stripped_lines(file.read_text(encoding="utf-8")) if line] if file.is_file() else []
    failures.check(any(lines[at:at + len(wanted)] == wanted for at in range(len(lines))), f"{block.place}: these lines are not in {file.name}")


def check_cmake(root, pfr, cmake, blocks):
    """Configures each block. Whether it calls find_package, FetchContent or add_subdirectory for adaptyst, it gets these sources."""
    folder = scratch()
    for at, block in enumerate(blocks):
        text = block.text
        target = "" if re.search(r"add_executable\(solver\b", text) else "add_executable(solver main.cpp)\n"
        preamble = "" if "project(" in text else "cmake_minimum_required(VERSION 3.25)\nproject(consumer CXX)\n" + target
        (folder / "main.cpp").write_text("int main() {}\n")
        (folder / "CMakeLists.txt").write_text(preamble + text)
        (folder / "provide.cmake").write_text(
            "macro(provide method)\n"
            f'  if("${{ARGV1}}" STREQUAL adaptyst)\n    if(NOT TARGET adaptyst::adaptyst)\n      add_subdirectory({root} adaptyst)\n    endif()\n'
            "    set(adaptyst_FOUND TRUE)\n  endif()\nendmacro()\n"
            "cmake_language(SET_DEPENDENCY_PROVIDER provide SUPPORTED_METHODS FIND_PACKAGE)\n")
        if not (folder / "adaptyst").exists():
            (folder / "adaptyst").symlink_to(root)
        done = run([cmake, "-S", folder, "-B", folder / "build", "-DADAPTYST_WITH_EBPF=OFF", f"-DFETCHCONTENT_SOURCE_DIR_ADAPTYST={root}",
                    f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={folder}/provide.cmake",
                    *([f"-DADAPTYST_PFR_INCLUDE_DIR={pfr}"] if not pfr.endswith("NOTFOUND") else [])])
        failures.check(done.returncode == 0, f"{block.place}: configures ({at + 1} of {len(blocks)})", done.printed)


def check_c(includes, blocks, folder):
    """Compiles each block as a unit of its own."""
    unit = folder / "snippet.c"
    for block in blocks:
        unit.write_text(block.text)
        done = run([tool("gcc"), "-std=c99", "-pedantic", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *includes.flags, unit])
        failures.check(done.returncode == 0, f"{block.place}: it compiles", done.printed)


def check_fortran(root, blocks, folder):
    """Compiles each block: it is a program, or the body of one."""
    modules = root / "fortran"
    for name in ("adaptyst.F90", "adaptyst_collector.f90"):
        done = run([tool("gfortran"), "-fsyntax-only", "-J", folder, modules / name])
        failures.check(done.returncode == 0, f"{name} compiles", done.printed)
    unit = folder / "snippet.f90"
    for block in blocks:
        is_whole = block.text.lstrip().startswith("program ")
        unit.write_text(block.text if is_whole else f"program snippet\n{block.text}\nend program\n")
        done = run([tool("gfortran"), "-std=f2018", "-fsyntax-only", "-Wall", "-Werror", "-I", folder, "-I", modules, unit])
        failures.check(done.returncode == 0, f"{block.place}: it compiles", done.printed)


def main(root, pfr, compiler, cmake):
    root = pathlib.Path(root)
    includes = Includes(root, pfr)
    cpp, command, cmake_blocks, c_blocks, fortran_blocks, not_compiled = Cpp(), Command(root), [], [], [], 0
    for page in all_pages(root):
        for block in page.blocks:
            language = block.language
            if block.argument("part of") is not None:
                check_part(root, block)
            if any(block.argument(word) is not None for word in CHECKED_ELSEWHERE):
                continue
            if block.argument("not compiled") is not None:
                not_compiled += 1
                failures.check(len(block.argument("not compiled")) > 5, f"{block.place}: not compiled, and no reason why")
            elif language == "cpp":
                cpp.add(block)
            elif language == "c":
                c_blocks.append(block)
            elif language == "fortran":
                fortran_blocks.append(block)
            elif language == "cmake":
                cmake_blocks.append(block)
            elif language == "json":
                try:
                    json.loads(block.text)
                except ValueError as wrong:
                    failures.add(f"{block.place}: {wrong}")
            elif language == "python":
                try:
                    ast.parse(block.text)
                except SyntaxError as wrong:
                    failures.add(f"{block.place}: {wrong}")
            elif language in ("console", "sh"):
                for line in [command for command, _ in block.session()] if language == "console" else [block.text]:
                    command.check_lines(line, block.place)
            else:
                failures.check(language == "", f"{block.place}: what is {language}?")
        # `adaptyst calibration` in prose is the name of a marker.
        for number, line in enumerate(page.prose, 1):
            for words in re.findall(r"`(adaptyst (?!calibration)[a-z]+[^`]*|ADAPTYST=[^`]*)`", line):
                if "…" not in words:
                    command.check_lines(words.replace("\\|", "|"), f"{page.name}:{number}", whole=False)
    cpp.compile([tool(compiler), "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-unused-result",
                 "-DCL_TARGET_OPENCL_VERSION=120", *includes.flags,
                 "-idirafter", root / "tests/adapters/cuda/cudart_stub"],  # for snippets of CUDA where it is not installed
                [header for header in includes.headers("*.hpp", "adapter/*.hpp") if header not in NEEDS], scratch())
    check_c(includes, c_blocks, scratch())
    check_fortran(root, fortran_blocks, scratch())
    check_cmake(root, pfr, cmake, cmake_blocks)
    print(f"{not_compiled} snippets are not compiled, and say why")
    failures.check(not_compiled <= 8, "most snippets are tried")
    failures.exit(min_checks=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
