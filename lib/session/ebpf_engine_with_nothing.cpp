// For builds without libbpf or a compiler for BPF.
#include "../support/error.hpp"
#include "engine.hpp"

namespace adaptyst::lib {

std::unique_ptr<engine> make_ebpf_engine(detail::process&, const options&) {
  throw error("cannot use eBPF: this build of adaptyst is without it", 0,
              "build it where CMake finds libbpf, clang and bpftool; engine=inline works here");
}

}  // namespace adaptyst::lib
