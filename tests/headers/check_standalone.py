"""Each header compiles by itself and twice in a row, and all together in every way that a program may choose; strictly.

usage: check_standalone.py ROOT COMPILER STANDARD [PFR]

Of C++, each compiler takes the headers one by one with one standard, GCC the older and Clang the newer, and all together with both.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from compiling import STRICT, Failures, Includes, run, scratch, tool

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Headers for a vendor's interface, and how the vendor's header is found. CUDA's may be missing: a stub replaces it.
COMPANIONS = {
    "adaptyst/cuda.hpp": ("cuda_runtime_api.h", ["-isystem", str(ROOT / "tests/adapters/cuda/cudart_stub")]),
    "adaptyst/hip.hpp": ("hip/hip_runtime_api.h", ["-D__HIP_PLATFORM_AMD__"]),
    "adaptyst/mpi.hpp": ("mpi.h", ["-DOMPI_SKIP_MPICXX", "-isystem", "/usr/lib/x86_64-linux-gnu/openmpi/include"]),
}
# A program may include these with all others; CUDA's and HIP's vendors define the same names.
WITH_ALL = ["adaptyst/cuda.hpp", "adaptyst/mpi.hpp"]

# What a header includes depends on the standard, and on whether markers are compiled; hardly on the compiler, since both have the
# same C++ library. Programs do not include those in detail/: of these it is enough that they are complete, for GCC, which starts
# in a third of Clang's time. Disabled ones are tried all together.
NOT_ALONE = [("g++", "c++20"), ("clang++", "c++17")]
TOGETHER = {
    "optimised, position-independent": ["-O2", "-fPIC", "-fvisibility=hidden"],
    "without exceptions and RTTI": ["-fno-exceptions", "-fno-rtti"],
    "disabled and optimised": ["-DADAPTYST_DISABLE", "-O2"],
}


def main(root, compiler, standard, pfr=None):
    language = "c" if standard.startswith("c") and not standard.startswith("c++") else "c++"
    program = tool(compiler)
    includes = Includes(root, pfr)
    # These are C.
    headers = includes.headers("*.h", "detail/*.h")
    if language == "c++":
        headers += includes.headers("*.hpp", "adapter/*.hpp", "detail/*.hpp")
    takes_private = (compiler, standard) in (("gcc", "c11"), ("g++", "c++17"))
    work = scratch()
    unit = work / ("unit.c" if language == "c" else "unit.cpp")
    failures = Failures()

    def check(label, text, *flags):
        unit.write_text(text + "int used;\n")
        done = run([program, "-std=" + standard, *STRICT, *flags, *includes.flags, "-c", unit, "-o", work / "unit.o"])
        failures.check(done.returncode == 0 and not done.printed, label, done.printed)

    together, flags_together = "", []
    for header in headers:
        text = f"#include <{header}>\n" * 2
        companion, extra = COMPANIONS.get(header, (None, []))
        if companion is None:
            together += text
        else:
            preprocessed = run([program, *extra, "-E", "-x", "c++", "-"], input=f"#include <{companion}>\n")
            if preprocessed.returncode != 0:
                print(f"{header}: left out: no <{companion}>")
                continue
            if header in WITH_ALL:
                together += text
                flags_together += extra
            else:
                for mode, flags in list(TOGETHER.items())[:1 if (compiler, standard) in NOT_ALONE else None]:
                    check(f"{header}, {mode}", text, *flags, *extra)
        if (compiler, standard) not in NOT_ALONE and (takes_private or "/detail/" not in header):
            check(f"{header}, alone", text, *extra, "-fsyntax-only")
    for mode, flags in TOGETHER.items():
        if language == "c++" or "-fno-rtti" not in flags:
            check(f"all, {mode}", together, *flags, *flags_together)
    failures.exit(min_checks=2 if language == "c" else len(TOGETHER) if (compiler, standard) in NOT_ALONE else 20)


if __name__ == "__main__":
    main(*sys.argv[1:])
