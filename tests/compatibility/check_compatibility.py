"""What was written for an earlier state of the headers compiles, in C++17 and without a warning.

usage: check_compatibility.py ROOT PFR COMPILER
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import STRICT, Failures, Includes, run, tool

# Headers of vendors that need not be there; a stub stands for CUDA's.
CUDA = ["-isystem", str(HERE.parent / "adapters/cuda/cudart_stub")]
OPENCL = ["-DCL_TARGET_OPENCL_VERSION=120"]
VENDORS = {"adaptyst/cuda.hpp": ("cuda_runtime_api.h", CUDA), "adaptyst/opencl.hpp": ("CL/cl.h", OPENCL)}


def main(root, pfr, compiler):
    program = tool(compiler)
    failures = Failures()
    for source in sorted(HERE.glob("*/**/*.cpp")):
        flags = ["-std=c++17", *STRICT, "-fopenmp", "-fsyntax-only", *Includes(root, pfr).flags]
        text = source.read_text(encoding="utf-8")
        left_out = False
        for header, (vendors, more) in VENDORS.items():
            if header in text:
                flags += more
                left_out |= run([program, *more, "-E", "-x", "c++", "-"], input=f"#include <{vendors}>\n").returncode != 0
        if left_out:
            print(f"{source.relative_to(HERE)}: left out: a vendor's header is not there")
            continue
        done = run([program, *flags, source])
        failures.check(done.returncode == 0 and not done.said, str(source.relative_to(HERE)), done.said)
    failures.exit(min_checks=8)


if __name__ == "__main__":
    main(*sys.argv[1:])
