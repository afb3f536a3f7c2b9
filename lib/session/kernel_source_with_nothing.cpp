// For builds without libbpf or a compiler for BPF.
#include "../support/error.hpp"
#include "source.hpp"

namespace adaptyst::lib {

std::unique_ptr<source> make_kernel_source(const options&, subject) {
  throw error("cannot use eBPF: this build of adaptyst is without it", 0,
              "build it where CMake finds libbpf, clang and bpftool; engine=inline works here");
}

}  // namespace adaptyst::lib
