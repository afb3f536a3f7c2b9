#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

bool is_a_copy(const region& row) {
  return row.kind == region_kind::copy_to || row.kind == region_kind::copy_from || row.kind == region_kind::fill;
}

}  // namespace

void find_exposed_copies(const profile& in, findings& all_findings) {
  for (std::uint32_t at = 1; at < in.devices.size(); ++at) {  // the first is the host
    const device_usage& device = in.devices[at];
    const auto exposed_ns = static_cast<double>(device.exposed_copy_ns.value_or(0));
    const auto busy_ns = static_cast<double>(device.busy_ns.value_or(0));
    if (busy_ns <= 0 || exposed_ns < min_part * busy_ns ||
        !is_significant(exposed_ns, static_cast<double>(device.observed_ns)))
      continue;
    finding made = found_on(in, at, finding_kind::exposed_copies, exposed_ns);
    const region* longest = nullptr;
    for (const region& row : in.regions) {
      if (row.device != at || !is_a_copy(row)) continue;
      made.count += row.count;
      if (longest == nullptr || row.total_ns > longest->total_ns) longest = &row;
    }
    if (longest != nullptr) {
      made.path = longest->path;
      made.region = longest->id;
    }
    made.value = exposed_ns / busy_ns;
    made.against = min_part;
    made.next = next_step::overlap_copies;
    all_findings.push_back(std::move(made));
  }
}

}  // namespace adaptyst::lib
