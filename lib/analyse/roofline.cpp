#include "roofline.hpp"

#include <algorithm>
#include <cmath>

namespace adaptyst::lib {

namespace {

bool is_amount(double value) { return std::isfinite(value) && value > 0; }

std::optional<double> find_attribute_sum(const region& region, const char* name) {
  const auto found = region.attributes.find(name);
  return found != region.attributes.end() ? std::optional(found->second.sum) : std::nullopt;
}

}  // namespace

std::optional<thread_ceilings> find_ceilings(const machine_ceilings& machine, std::uint32_t threads) {
  if (threads == 0 || machine.cpus == 0) return std::nullopt;
  const double parts = std::min(threads, machine.cpus);
  return thread_ceilings{std::min(machine.one_gflops, machine.all_gflops / parts),
                         std::min(machine.one_gbytes_per_s, machine.all_gbytes_per_s / parts)};
}

std::optional<roofline> compute_roofline(std::optional<double> flops, std::optional<double> bytes, double time_ns,
                                         const machine_ceilings& machine, std::uint32_t threads) {
  const std::optional<thread_ceilings> roofs = find_ceilings(machine, threads);
  if (!roofs || !is_amount(roofs->gflops) || !is_amount(roofs->gbytes_per_s)) return std::nullopt;
  if (!flops || !bytes || !is_amount(*flops) || !is_amount(*bytes) || !is_amount(time_ns)) return std::nullopt;
  roofline made;
  made.flops_per_byte = *flops / *bytes;
  made.gflops = *flops / time_ns;  // 10^9 per second is one per nanosecond
  made.gbytes_per_s = *bytes / time_ns;
  const double by_memory = made.flops_per_byte * roofs->gbytes_per_s;
  made.bound = by_memory < roofs->gflops ? roofline_bound::memory : roofline_bound::compute;
  made.attainable_gflops = std::min(roofs->gflops, by_memory);
  made.share = made.gflops / made.attainable_gflops;
  made.threads = std::min(threads, machine.cpus);
  if (!is_amount(made.flops_per_byte) || !is_amount(made.gflops) || !is_amount(made.gbytes_per_s) ||
      !is_amount(made.share))
    return std::nullopt;  // the amounts exceed the range of a double
  return made;
}

std::optional<roofline> compute_roofline(const region& region, const machine_ceilings& machine) {
  return compute_roofline(find_attribute_sum(region, "flops"), find_attribute_sum(region, "bytes"),
                          static_cast<double>(region.total_ns), machine, region.threads);
}

std::string find_host(const profile& profile) {
  if (profile.processes.empty() || profile.unlisted) return {};
  const std::string& first = profile.processes.front().host;
  const bool is_same = std::all_of(profile.processes.begin(), profile.processes.end(),
                                   [&](const process_info& info) { return info.host == first; });
  return is_same ? first : std::string();
}

void add_rooflines(profile& to, const machine_ceilings& machine) {
  bool has_roofline = false;
  for (region& region : to.regions) {
    region.roofline = to.is_host(region.device) ? compute_roofline(region, machine) : std::nullopt;
    has_roofline = has_roofline || region.roofline;
  }
  to.ceilings = has_roofline ? std::optional(machine) : std::nullopt;
}

}  // namespace adaptyst::lib
