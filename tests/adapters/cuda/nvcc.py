#!/usr/bin/env python3
"""<adaptyst/cuda.hpp> in a source with kernels, compiled by nvcc: nvcc.py ROOT. Nothing is run: on_gpu.py does, on a GPU."""
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
from compiling import Failures, run, scratch, skip  # noqa: E402

nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
if nvcc is None:
    skip("no nvcc (it comes with NVIDIA's CUDA toolkit)")
failures = Failures()
for mode in (["-std=c++20", "-O2"], ["-DADAPTYST_DISABLE"]):
    done = run([nvcc, *(mode if "-std=c++20" in mode else ["-std=c++17", *mode]), "-Xcompiler", "-Wall,-Wextra,-Werror",
                "-Werror", "all-warnings", "-I", f"{sys.argv[1]}/include", "-c", HERE / "on_gpu.cu", "-o", scratch() / "on_gpu.o"])
    failures.check(done.returncode == 0, f"nvcc {' '.join(mode)}", done.printed)
failures.exit(min_checks=2)
