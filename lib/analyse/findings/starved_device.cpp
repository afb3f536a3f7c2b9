#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

void find_starved_devices(const profile& in, findings& all_findings) {
  for (std::uint32_t at = 1; at < in.devices.size(); ++at) {  // the first is the host
    const device_usage& device = in.devices[at];
    if (!device.starved_ns() || device.operations < min_events) continue;
    const auto observed_ns = static_cast<double>(device.observed_ns);
    const auto starved_ns = static_cast<double>(*device.starved_ns());
    if (starved_ns < min_part * observed_ns || !is_significant(starved_ns, observed_ns)) continue;
    finding made = found_on(in, at, finding_kind::starved_device, starved_ns);
    made.count = device.operations;
    made.value = made.share;
    made.against = min_part;
    made.next = next_step::submit_earlier;
    all_findings.push_back(std::move(made));
  }
}

}  // namespace adaptyst::lib
