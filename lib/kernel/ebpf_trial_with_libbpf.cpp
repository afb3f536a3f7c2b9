#include <bpf/libbpf.h>

#include "../support/error.hpp"
#include "ebpf_trial.hpp"
#include "probe_links.hpp"

namespace adaptyst::lib {

ebpf_trial try_ebpf() {
  ebpf_trial made;
  try {
    probe_links links(0, true, false);
    links.start();
    made.works = true;
    made.mechanism = links.mechanism();
  } catch (const error& failed) {
    made.refusal = failed.summary();
    made.advice = failed.hint();
  }
  return made;
}

std::string libbpf_version() { return libbpf_version_string(); }

}  // namespace adaptyst::lib
