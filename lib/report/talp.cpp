// Writes a profile as the JSON of DLB's TALP. Figures are sums over ranks, in ns. A figure that the profile lacks is
// absent, where TALP writes 0.
#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "../model/mpi_usage.hpp"
#include "foreign_forms.hpp"

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

constexpr const char* whole_run = "Global";  // TALP's name

template <class Value>
void put_known(json& to, const char* name, const std::optional<Value>& value) {
  if (value) to[name] = *value;
}

bool is_outermost_mpi_call(const region& row) {
  return is_mpi_call(row) && row.device == 0 && row.durations.count() != 0 &&
         std::none_of(row.path.begin(), row.path.end() - 1,
                      [](const std::string& name) { return name.rfind("MPI_", 0) == 0; });
}

std::size_t find_host_count(const profile& from) {
  if (from.about_ranks) return from.about_ranks->count_hosts();
  std::set<std::string> hosts;
  for (const process_info& process : from.processes)
    if (!process.host.empty()) hosts.insert(process.host);
  return hosts.size();
}

std::optional<std::uint64_t> find_rank_count(const profile& from) {
  if (from.ranks) return from.ranks;
  return from.rank() ? std::optional<std::uint64_t>(1) : std::nullopt;
}

struct mpi_calls {
  std::uint64_t calls = 0, time_ns = 0;
};

// Calls below a root region, or in all of them. MPI_Init is outside the measured run.
std::map<std::string, mpi_calls> sum_mpi_calls(const profile& from, mpi_calls& all) {
  std::map<std::string, mpi_calls> made;
  for (const region& row : from.regions) {
    if (!is_outermost_mpi_call(row) || row.path.back().rfind("MPI_Init", 0) == 0) continue;
    for (mpi_calls* const sum : {&all, &made[row.path.front()]}) {
      sum->calls += row.count;
      sum->time_ns += row.total_ns;
    }
  }
  return made;
}

void put_devices(json& to, const profile& from) {
  std::optional<std::uint64_t> useful, exposed, inactive, max_useful, max_active;
  const auto add = [](std::optional<std::uint64_t>& sum, std::uint64_t value) { sum = sum.value_or(0) + value; };
  for (std::uint32_t number = 0; number != from.devices.size(); ++number) {
    const device_usage& device = from.devices[number];
    if (from.is_host(number) || !device.kernel_ns) continue;
    const std::uint64_t active_ns = *device.kernel_ns + device.exposed_copy_ns.value_or(0);
    add(useful, *device.kernel_ns);
    if (device.exposed_copy_ns) add(exposed, *device.exposed_copy_ns);
    if (device.observed_ns >= active_ns) add(inactive, device.observed_ns - active_ns);
    max_useful = std::max(max_useful.value_or(0), *device.kernel_ns);
    max_active = std::max(max_active.value_or(0), active_ns);
  }
  put_known(to, "gpuUsefulTime", useful);
  put_known(to, "gpuCommunicationTime", exposed);
  put_known(to, "gpuInactiveTime", inactive);
  put_known(to, "maxGpuUsefulTime", max_useful);
  put_known(to, "maxGpuActiveTime", max_active);
}

json make_run(const profile& from, const mpi_calls& calls) {
  json made = json::object();
  put_known(made, "numMpiRanks", find_rank_count(from));
  if (const std::size_t hosts = find_host_count(from); hosts != 0) made["numNodes"] = hosts;
  std::uint64_t longest_ns = from.mpi ? from.mpi->longest_ns : 0;
  if (longest_ns == 0)
    for (const process_info& process : from.processes) longest_ns = std::max(longest_ns, process.duration_ns);
  if (longest_ns != 0) made["elapsedTime"] = longest_ns;
  if (from.mpi) {
    if (const std::optional<double> mean = from.mpi->outside.total_ns.mean())
      made["usefulTime"] = std::llround(*mean * static_cast<double>(from.mpi->outside.ranks));
    made["numMpiCalls"] = calls.calls;
    made["mpiTime"] = calls.time_ns;
  }
  put_known(made, "gpuRuntimeTime", from.offload.waited_ns);
  put_devices(made, from);
  if (from.mpi) {
    // With devices, the waits for them would be in the product, and their overlap with MPI is unknown.
    if (!from.offload.waited_ns) put_known(made, "parallelEfficiency", from.mpi->parallel_efficiency());
    put_known(made, "mpiParallelEfficiency", from.mpi->parallel_efficiency());
    put_known(made, "mpiCommunicationEfficiency", from.mpi->communication_efficiency());
    put_known(made, "mpiLoadBalance", from.mpi->load_balance());
    put_known(made, "mpiLoadBalanceIn", from.mpi->load_balance_in());
    put_known(made, "mpiLoadBalanceOut", from.mpi->load_balance_out());
  }
  const efficiencies devices = compute_efficiencies(from);
  put_known(made, "deviceOffloadEfficiency", devices.device_offload);
  put_known(made, "gpuParallelEfficiency", devices.device_parallel);
  put_known(made, "gpuLoadBalance", devices.device_load_balance);
  put_known(made, "gpuCommunicationEfficiency", devices.device_communication);
  put_known(made, "gpuOrchestrationEfficiency", devices.device_orchestration);
  return made;
}

// A region at the root. Several threads of a rank overlap: then only counts are known.
json make_region(const profile& from, const region& row, const mpi_calls& calls) {
  json made = json::object();
  const std::uint64_t ranks = find_rank_count(from).value_or(1);
  const bool has_one_thread_per_rank = row.threads != 0 && row.threads <= ranks;
  put_known(made, "numMpiRanks", row.across_ranks ? std::optional(row.across_ranks->ranks) : find_rank_count(from));
  made["numMeasurements"] = row.count;
  if (from.mpi) made["numMpiCalls"] = calls.calls;
  if (!has_one_thread_per_rank) return made;
  if (row.across_ranks || ranks == 1)
    made["elapsedTime"] = row.across_ranks ? row.across_ranks->total_ns.max : row.total_ns;
  if (!from.mpi) return made;
  made["mpiTime"] = calls.time_ns;
  if (calls.time_ns <= row.total_ns) made["usefulTime"] = row.total_ns - calls.time_ns;
  return made;
}

}  // namespace

std::string to_talp(const profile& from) {
  mpi_calls all;
  const std::map<std::string, mpi_calls> by_root = sum_mpi_calls(from, all);
  json resources = json::object();
  put_known(resources, "numMpiRanks", find_rank_count(from));
  if (const std::size_t hosts = find_host_count(from); hosts != 0) resources["numNodes"] = hosts;
  const auto gpus = std::count_if(from.devices.begin(), from.devices.end(),
                                  [](const device_usage& device) { return device.kind == device_kind::gpu; });
  if (gpus != 0) resources["numGpus"] = gpus;
  json application = {{whole_run, make_run(from, all)}};
  // A name at several places in the source is several rows, and calls in them cannot be assigned.
  std::map<std::string, int> uses;
  for (const region& row : from.regions)
    if (row.path.size() == 1) ++uses[row.path.front()];
  for (const region& row : from.regions) {
    if (row.path.size() != 1 || row.device != 0 || row.kind != region_kind::region || row.durations.count() == 0)
      continue;
    const std::string& name = row.path.front();
    if (uses[name] != 1 || name == whole_run) continue;
    const auto calls = by_root.find(name);
    application[name] = make_region(from, row, calls != by_root.end() ? calls->second : mpi_calls());
  }
  json made = {{"dlbVersion", "3.7.0"}, {"producer", "adaptyst " + from.version}};
  put_known(made, "timestamp", from.date());
  made["resources"] = std::move(resources);
  made["Application"] = std::move(application);
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace adaptyst::lib
