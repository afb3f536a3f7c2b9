"""What CONTRIBUTING.md shows works: its examples are put into a copy of the sources and built there.

usage: check_contributing.py ROOT PFR COMPILER CMAKE
"""
import ctypes
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures, Includes, run, scratch, tool
from pages import Page

INTO = re.compile(r'into (\S+) (before|instead of) "(.*)"$', re.DOTALL)


def put_in(block, copy, failures):
    """The file that a block makes or changes; None: it is no part of an example."""
    if block.argument("file") is not None:
        file = copy / block.argument("file").strip()
        file.parent.mkdir(parents=True, exist_ok=True)
        failures.check(not file.exists(), f"{block.place}: {file.name} is new")
        file.write_text(block.text)
        return file
    found = INTO.match(block.directive)
    if found is None:
        return None
    name, where, anchor = found.groups()
    file = copy / name
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if failures.check(text.count(anchor) == 1, f"{block.place}: \"{anchor}\" stands {text.count(anchor)} times in {name}, must be once"):
        own = block.text if where == "before" else block.text.rstrip("\n")
        file.write_text(text.replace(anchor, own + (anchor if where == "before" else "")), encoding="utf-8")
    return file


def build_adapter(copy, cmake, pfr, failures):
    options = [f"-DADAPTYST_WITH_{part}=OFF" for part in ("OPENCL", "OMPT", "KOKKOS", "CUDA", "ITT", "NVTX", "ROCTX")]
    if not pfr.endswith("NOTFOUND"):
        options.append(f"-DADAPTYST_PFR_INCLUDE_DIR={pfr}")
    made = run([cmake, "-S", copy, "-B", copy / "build", "-DADAPTYST_WITH_EBPF=OFF", "-DADAPTYST_BUILD_TESTS=OFF", "-DADAPTYST_BUILD_BENCH=OFF",
                "-DADAPTYST_BUILD_EXAMPLES=OFF", "-DCMAKE_BUILD_TYPE=Debug", *options])
    failures.check(made.returncode == 0, "with the adapter it configures", made.printed)
    built = run([cmake, "--build", copy / "build", "--target", "adaptyst_taskpool"])
    library = copy / "build/adapters/libadaptyst-taskpool.so"
    if failures.check(built.returncode == 0 and library.is_file(), "the adapter builds", built.printed):
        loaded = ctypes.CDLL(str(library))
        loaded.taskpool_task_begin(b"task")
        loaded.taskpool_task_begin(None)
        loaded.taskpool_task_end()
        loaded.taskpool_task_end()
        loaded.taskpool_task_end()  # one too many does no harm


def main(root, pfr, compiler, cmake):
    failures, copy = Failures(), scratch() / "adaptyst"
    root = pathlib.Path(root)
    for folder in ("include", "lib", "fortran", "adapters", "tools", "cmake"):
        shutil.copytree(root / folder, copy / folder)
    shutil.copy(root / "CMakeLists.txt", copy)
    shutil.copy(root / "LICENSE", copy)
    changed = {file for block in Page(root / "CONTRIBUTING.md", root).blocks for file in [put_in(block, copy, failures)] if file}
    for file in sorted(changed):
        if file.suffix != ".cpp" or "adapters" in file.parent.parts[-2:]:
            continue
        done = run([tool(compiler), "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *Includes(copy, pfr).flags,
                    "-I", copy / "lib", '-DADAPTYST_TOOLS_LIBRARIES="lib"', file])
        failures.check(done.returncode == 0, f"with the examples, {file.relative_to(copy)} compiles", done.printed)
    build_adapter(copy, cmake, pfr, failures)
    failures.exit(min_checks=14)


if __name__ == "__main__":
    main(*sys.argv[1:])
