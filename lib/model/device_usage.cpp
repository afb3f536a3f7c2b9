// Derived figures of devices: utilisation, concurrency, overlap, and the efficiencies of POP and TALP.
#include <adaptyst/profile.hpp>
#include <algorithm>

namespace adaptyst { inline namespace v1 {

namespace {

std::optional<std::uint64_t> difference(std::optional<std::uint64_t> all, std::optional<std::uint64_t> part) {
  if (!all || !part) return std::nullopt;
  return *all - std::min(*all, *part);
}

std::optional<double> ratio(double value, double whole) {
  if (whole == 0) return std::nullopt;
  return value / whole;
}

}  // namespace

std::optional<double> amount::per_second() const {
  if (sum == 0) return std::nullopt;
  return ratio(sum * 1e9, static_cast<double>(time_ns));
}

std::optional<std::uint64_t> device_usage::idle_ns() const { return difference(observed_ns, busy_ns); }

std::optional<std::uint64_t> device_usage::other_ns() const {
  return difference(difference(busy_ns, kernel_ns), exposed_copy_ns);
}

std::optional<std::uint64_t> device_usage::starved_ns() const { return difference(idle_ns(), launch_idle_ns); }

std::optional<double> device_usage::utilisation() const {
  if (!busy_ns || observed_ns == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(*busy_ns) / static_cast<double>(observed_ns));
}

std::optional<double> device_usage::concurrency() const {
  if (!busy_ns || !work_ns) return std::nullopt;
  return ratio(static_cast<double>(*work_ns), static_cast<double>(*busy_ns));
}

std::optional<double> device_usage::overlap() const {
  const std::optional<std::uint64_t> hidden_ns = difference(busy_ns, host_waiting_ns);
  if (!hidden_ns) return std::nullopt;
  return ratio(static_cast<double>(*hidden_ns), static_cast<double>(*busy_ns));
}

efficiencies compute_efficiencies(const profile& profile) {
  efficiencies made;
  double count = 0, useful = 0, max_useful = 0, max_active = 0, observed = 0;
  for (const device_usage& device : profile.devices) {
    if (!device.kernel_ns || !device.exposed_copy_ns) continue;
    // The device is read slightly after the clock.
    const auto total = static_cast<double>(device.observed_ns);
    const double kernels = std::min(total, static_cast<double>(*device.kernel_ns));
    count += 1;
    useful += kernels;
    observed += total;
    max_useful = std::max(max_useful, kernels);
    max_active = std::max(max_active, std::min(total, kernels + static_cast<double>(*device.exposed_copy_ns)));
  }
  if (count != 0 && max_active != 0) {
    made.device_parallel = ratio(useful, observed);
    made.device_load_balance = ratio(useful / count, max_useful);
    made.device_communication = ratio(max_useful, max_active);
    made.device_orchestration = ratio(max_active, observed / count);
  }
  const offload_usage& host = profile.offload;
  if (host.waited_ns && host.observed_ns != 0)
    made.device_offload =
        static_cast<double>(*difference(host.observed_ns, host.waited_ns)) / static_cast<double>(host.observed_ns);
  return made;
}

}}  // namespace adaptyst::v1
