// Finds devices that do not compute: idle devices, copies, and gaps between short kernels.
#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

bool is_a_copy(const region& row) {
  return row.kind == region_kind::copy_to || row.kind == region_kind::copy_from || row.kind == region_kind::fill;
}

// If kernels take four times as long as their launches, the device idles for a fifth of its time (min_part).
constexpr double times_the_launch = 1 / min_part - 1;
// With fewer kernels, a median is unreliable, and launches are not typical of the program.
constexpr std::uint64_t min_kernels = 100;

}  // namespace

void find_starved_devices(const profile& in, findings& all_findings) {
  for (std::uint32_t at = 1; at < in.devices.size(); ++at) {  // the first is the host
    const device_usage& device = in.devices[at];
    if (!device.starved_ns() || device.operations < min_events) continue;
    // Before the first submission, the program prepares its work: earlier submissions are rarely possible.
    const std::uint64_t unused_ns = std::min(device.unused_ns.value_or(0), *device.starved_ns());
    const auto used_ns = static_cast<double>(device.observed_ns - std::min(device.observed_ns, unused_ns));
    const auto starved_ns = static_cast<double>(*device.starved_ns() - unused_ns);
    if (starved_ns < min_part * used_ns || !is_significant(starved_ns, static_cast<double>(device.observed_ns)))
      continue;
    finding made = found_on(in, at, finding_kind::starved_device, starved_ns);
    made.count = device.operations;
    made.value = starved_ns / used_ns;
    made.against = min_part;
    made.next = next_step::submit_earlier;
    all_findings.push_back(std::move(made));
  }
}

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

void find_launch_bound_devices(const profile& in, findings& all_findings) {
  for (std::uint32_t at = 1; at < in.devices.size(); ++at) {  // the first is the host
    const device_usage& device = in.devices[at];
    const auto idle_ns = static_cast<double>(device.launch_idle_ns.value_or(0));
    const auto busy_ns = static_cast<double>(device.busy_ns.value_or(0));
    if (!device.launch_latency || idle_ns < min_part * (idle_ns + busy_ns) ||
        !is_significant(idle_ns, static_cast<double>(device.observed_ns)))
      continue;
    const region* most_frequent = nullptr;
    std::uint64_t kernels = 0;
    double kernels_ns = 0;
    for (const region& row : in.regions) {
      if (row.device != at || row.kind != region_kind::kernel) continue;
      kernels += row.count;
      kernels_ns += static_cast<double>(row.total_ns);
      if (most_frequent == nullptr || row.count > most_frequent->count) most_frequent = &row;
    }
    if (kernels < min_kernels) continue;
    const double mean_ns = kernels_ns / static_cast<double>(kernels);
    const auto launch_ns = static_cast<double>(device.launch_latency->durations.quantile(0.5).value_or(0));
    if (mean_ns > times_the_launch * launch_ns) continue;  // idle for another reason
    finding made = found_on(in, at, finding_kind::launch_bound, idle_ns);
    made.path = most_frequent->path;
    made.region = most_frequent->id;
    made.count = kernels;
    made.unit = finding_unit::ns;
    made.value = mean_ns;
    made.against = launch_ns;
    made.next = next_step::launch_fewer_kernels;
    all_findings.push_back(std::move(made));
  }
}

}  // namespace adaptyst::lib
