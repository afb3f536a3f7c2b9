// Whether eBPF works on this machine, and the reasons for and against it.
#ifndef ADAPTYST_LIB_DISCOVER_DIAGNOSIS_HPP
#define ADAPTYST_LIB_DISCOVER_DIAGNOSIS_HPP

#include <string>
#include <vector>

namespace adaptyst { inline namespace v1 {

enum class verdict { ok, no, unknown };

struct check {
  std::string subject;  // "CAP_BPF"
  verdict is = verdict::unknown;
  std::string found;
  std::string enables;
  std::string advice;  // empty where nothing is to be done
};

struct diagnosis {
  bool ebpf_works = false;
  std::vector<check> checks;
};

}}  // namespace adaptyst::v1

#endif
