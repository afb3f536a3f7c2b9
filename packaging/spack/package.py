# SPDX-License-Identifier: Apache-2.0
"""Recipe for Spack. UNTESTED: written from Spack's documentation (package API 2); docs/cluster.md describes its use.

There is no release to download. Spack builds the sources of a folder: in an environment, `spack develop --path FOLDER adaptyst@0.1.0`.
"""
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Adaptyst(CMakePackage):
    """Shows where a heterogeneous simulation spends its time, by USDT markers, a recorder and eBPF."""

    license("Apache-2.0")

    version("0.1.0")

    variant("shared", default=False, description="Build the collector as a shared library")
    variant("command", default=True, description="Build the command adaptyst")
    variant("sqlite", default=True, description="Traces in SQLite, adaptyst convert and variability")
    variant("otf2", default=False, description="OTF2 archives in adaptyst convert and variability")
    variant("listen", default=True, description="adaptyst top --listen, for Prometheus")
    variant("python", default=False, description="Build the Python package")
    variant("ebpf", default=False, description="Build the eBPF engine; bpftool must be in PATH")
    variant("mpi", default=True, description="Build the adapter for MPI")
    variant("opencl", default=False, description="Build the adapter for OpenCL")
    variant("openmp", default=False, description="Build the adapter for LLVM's OpenMP")
    variant("kokkos", default=True, description="Build the adapter for Kokkos, which needs no Kokkos")
    variant("cuda", default=True, description="Build the adapter for CUDA, which opens CUPTI at run time")
    variant("annotations", default=True, description="Build the adapters for ITT, NVTX and ROCTX, which need nothing")
    variant("heap", default=True, description="Build the adapter for the C heap, which needs nothing")
    variant("timer", default=True, description="Build the adapter for samples by timers, which needs nothing")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost@1.75:")  # headers of Boost.PFR
    depends_on("fmt")
    depends_on("nlohmann-json@3.10:")
    depends_on("elfutils")  # libelf, libdw
    depends_on("zlib-api")
    depends_on("cli11", when="+command", type="build")
    depends_on("sqlite@3.31:", when="+sqlite")
    depends_on("rapidjson", type="build", when="+sqlite")
    depends_on("otf2@3:", when="+otf2")
    conflicts("+otf2", when="~sqlite")
    depends_on("libmicrohttpd@0.9.71:", when="+listen")
    depends_on("python@3.9:", when="+python", type=("build", "link", "run"))
    depends_on("libbpf@1:", when="+ebpf")
    depends_on("llvm+clang", when="+ebpf", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("opencl@1.2:", when="+opencl")
    depends_on("llvm-openmp", when="+openmp", type="build")  # omp-tools.h

    def cmake_args(self):
        off = ("ADAPTYST_BUILD_TESTS", "ADAPTYST_BUILD_BENCH", "ADAPTYST_BUILD_EXAMPLES")
        return [
            *(self.define(name, False) for name in off),
            # CMake does not search the folder of py-torch.
            self.define("ADAPTYST_WITH_TORCH", False),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("ADAPTYST_BUILD_TOOLS", "command"),
            self.define_from_variant("ADAPTYST_BUILD_PYTHON", "python"),
            self.define_from_variant("ADAPTYST_WITH_SQLITE", "sqlite"),
            self.define_from_variant("ADAPTYST_WITH_OTF2", "otf2"),
            self.define_from_variant("ADAPTYST_WITH_MICROHTTPD", "listen"),
            self.define_from_variant("ADAPTYST_WITH_EBPF", "ebpf"),
            self.define_from_variant("ADAPTYST_WITH_MPI", "mpi"),
            self.define_from_variant("ADAPTYST_WITH_OPENCL", "opencl"),
            self.define_from_variant("ADAPTYST_WITH_OMPT", "openmp"),
            self.define_from_variant("ADAPTYST_WITH_KOKKOS", "kokkos"),
            self.define_from_variant("ADAPTYST_WITH_CUDA", "cuda"),
            self.define_from_variant("ADAPTYST_WITH_ITT", "annotations"),
            self.define_from_variant("ADAPTYST_WITH_NVTX", "annotations"),
            self.define_from_variant("ADAPTYST_WITH_ROCTX", "annotations"),
            self.define_from_variant("ADAPTYST_WITH_HEAP", "heap"),
            self.define_from_variant("ADAPTYST_WITH_TIMER", "timer"),
        ]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):  # the default of ADAPTYST_PYTHON_INSTALL_DIR
            env.prepend_path("PYTHONPATH", f"{self.prefix}/lib/python3/dist-packages")
