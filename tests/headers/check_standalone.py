"""Each header compiles by itself and twice in a row, with strict warnings, in every way that a program may choose.

usage: check_standalone.py ROOT COMPILER STANDARD [PFR]
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from compiling import STRICT, Failures, Includes, run, scratch, tool

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Headers for a vendor's interface: what makes the vendor's header known. CUDA's need not be there, so a stub stands for it.
BESIDE = {
    "adaptyst/cuda.hpp": ("cuda_runtime_api.h", ["-isystem", str(ROOT / "tests/adapters/cuda/cudart_stub")]),
    "adaptyst/hip.hpp": ("hip/hip_runtime_api.h", ["-D__HIP_PLATFORM_AMD__"]),
}

MODES = {
    "plain": [],
    "optimised, position-independent": ["-O2", "-fPIC", "-fvisibility=hidden"],
    "without exceptions and RTTI": ["-fno-exceptions", "-fno-rtti"],
    "disabled": ["-DADAPTYST_DISABLE"],
}


def main(root, compiler, standard, pfr=None):
    language = "c" if standard.startswith("c") and not standard.startswith("c++") else "c++"
    program = tool(compiler)
    includes = Includes(root, pfr)
    # In C, there are only two.
    headers = includes.headers("*.h") if language == "c" else includes.headers("*.h", "*.hpp", "detail/*.hpp")
    work = scratch()
    failures = Failures()
    for header in headers:
        beside, extra = BESIDE.get(header, (None, []))
        if beside is not None:
            known = run([program, *extra, "-E", "-x", "c++", "-"], input=f"#include <{beside}>\n")
            if known.returncode != 0:
                print(f"{header}: left out: no <{beside}>")
                continue
        unit = work / ("unit.c" if language == "c" else "unit.cpp")
        unit.write_text(f"#include <{header}>\n#include <{header}>\nint used;\n")
        for mode, flags in MODES.items():
            if language == "c" and "-fno-rtti" in flags:
                continue
            done = run([program, "-std=" + standard, *STRICT, *flags, *extra, *includes.flags, "-c", unit, "-o", work / "unit.o"])
            failures.check(done.returncode == 0 and not done.said, f"{header}, {mode}", done.said)
    failures.exit(least_checks=2 * (len(MODES) - 1) if language == "c" else 20 * len(MODES))


if __name__ == "__main__":
    main(*sys.argv[1:])
