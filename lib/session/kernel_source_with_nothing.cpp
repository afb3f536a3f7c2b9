// For builds without libbpf or a compiler for BPF.
#include "../support/error.hpp"
#include "source.hpp"
#include "thread_context.hpp"

namespace adaptyst::lib {

std::unique_ptr<source> make_kernel_source(const options&, subject) {
  throw error("cannot use eBPF: this build of adaptyst is without it", 0,
              "build it where CMake finds libbpf, clang and bpftool; engine=inline works here");
}

ebpf_trial try_ebpf() {
  return {false, "", "this build of adaptyst is without it", "build it where CMake finds libbpf, clang and bpftool"};
}

std::string libbpf_version() { return ""; }

std::unique_ptr<thread_context> make_thread_context(const options&, subject, const kernel_rows*) {
  throw error("cannot ask the kernel for context", 0, "this collector was built without libbpf");
}

}  // namespace adaptyst::lib
