#include "ebpf_trial.hpp"

namespace adaptyst::lib {

ebpf_trial try_ebpf() {
  return {false, "", "this build of adaptyst is without it", "build it where CMake finds libbpf, clang and bpftool"};
}

std::string libbpf_version() { return ""; }

}  // namespace adaptyst::lib
