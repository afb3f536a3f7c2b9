#!/usr/bin/env python3
"""A program with LLVM's OpenMP and with OpenCL: `--with auto` reports both.

usage: automatic.py ADAPTYST SOURCES
"""
from openmp_programs import command, failures, profiles, Runtime, run, sources, work

runtime = Runtime(14)
with_openmp = work / "with_openmp.c"
with_openmp.write_text((sources / "tests/adapters/opencl/unmodified.c").read_text() + """
__attribute__((constructor)) static void use_openmp(void) {
  volatile int sum = 0;
#pragma omp parallel
  sum = 1;
  (void)sum;
}
""")
program = runtime.program(with_openmp, "-lOpenCL")
file = work / "automatic.json"
done = run([command, "run", "--engine", "inline", "--with=auto", f"--output={file}", "--", program], env=runtime.environment)
failures.equal(done.returncode, 0, f"status: {done.stderr}")
profile = profiles.read(file.read_text())
failures.equal(set(profile.get("adapters", {})), {"opencl", "openmp"}, "both are found")
kinds = {row["kind"] for row in profile["regions"]}
failures.check("kernel" in kinds, "kernels of OpenCL", kinds)
failures.check(any(row["name"].startswith(("parallel", "omp")) or "parallel" in row["name"] for row in profile["regions"]), "a parallel region of OpenMP",
               [row["name"] for row in profile["regions"]])
failures.check("adapters: opencl (libOpenCL.so.1), openmp (libomp.so.5)" in done.stderr, "the report names them", done.stderr[:500])
failures.exit(min_checks=5)
