#!/usr/bin/env python3
"""<adaptyst/hip.hpp> in a source with a kernel, compiled by hipcc: hipcc.py ROOT. Nothing is run."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
from compiling import PACKAGES, Failures, run, scratch, tool  # noqa: E402

PACKAGES["hipcc"] = "hipcc"
hipcc = tool("hipcc")
failures = Failures()
for mode in (["-O2"], ["-DADAPTYST_DISABLE"]):
    done = run([hipcc, "-std=c++17", "--offload-arch=gfx90a", *mode, "-Wall", "-Wextra", "-Werror", "-I", f"{sys.argv[1]}/include",
                "-c", HERE / "in_kernel.hip.cpp", "-o", scratch() / "in_kernel.o"])
    failures.check(done.returncode == 0, f"hipcc {' '.join(mode)}", done.printed)
failures.exit(min_checks=2)
