// Tests whether eBPF works here, by loading and attaching programs.
#ifndef ADAPTYST_LIB_KERNEL_EBPF_TRIAL_HPP
#define ADAPTYST_LIB_KERNEL_EBPF_TRIAL_HPP

#include <string>

namespace adaptyst::lib {

struct ebpf_trial {
  bool works = false;
  std::string mechanism;
  std::string refusal;  // the refused step and the reason
  std::string advice;
};

ebpf_trial try_ebpf();
// The version of libbpf in this build; empty: built without libbpf.
std::string libbpf_version();

}  // namespace adaptyst::lib

#endif
