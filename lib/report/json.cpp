#include <adaptyst/profile.hpp>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using json = nlohmann::ordered_json;

template <class T>
json absent_or(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

// JSON has no infinities and no NaN: a number that is none is absent.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

// Text, because many readers keep numbers as double, which 64 bits do not fit.
json id_of(std::uint64_t id) { return fmt::format("{:016x}", id); }

// Names may hold any bytes; what is not UTF-8 is replaced rather than refused.
constexpr auto replacing = json::error_handler_t::replace;

// By the names that will stand in the file: two that differ only in what is replaced become one, as a file with a key
// twice would say one or the other, depending on who reads it.
std::map<std::string, attribute> writable(const std::map<std::string, attribute>& all) {
  std::map<std::string, attribute> made;
  for (const auto& [name, values] : all) {
    const json as_written = json::parse(json(name).dump(-1, ' ', false, replacing));
    const auto [entry, is_new] = made.try_emplace(as_written.get<std::string>(), values);
    if (!is_new) entry->second.merge(values);
  }
  return made;
}

json attributes_of(const region& row) {
  json all = json::object();
  for (const auto& [name, values] : writable(row.attributes)) {
    json& one = all[name] = {
        {"count", values.count}, {"sum", number(values.sum)}, {"min", number(values.min)}, {"max", number(values.max)}};
    if ((name == "bytes" || name == "flops") && row.total_ns != 0)
      one["per_second"] = number(values.sum / static_cast<double>(row.total_ns) * 1e9);
  }
  return all;
}

json histogram_of(const histogram& durations) {
  json counts = json::array();  // pairs of bucket and count
  const std::vector<std::uint64_t>& buckets = durations.buckets();
  for (std::size_t bucket = 0; bucket != buckets.size(); ++bucket)
    if (buckets[bucket] != 0) counts.push_back({bucket, buckets[bucket]});
  return counts;
}

json context_of(const std::optional<kernel_context>& context) {
  if (!context) return nullptr;
  return {{"wall_ns", context->wall_ns},
          {"open", context->open},
          {"on_cpu_ns", absent_or(context->on_cpu_ns())},
          {"runnable_ns", context->runnable_ns},
          {"sleep_ns", context->sleep_ns},
          {"lock_ns", context->lock_ns},
          {"io_ns", context->io_ns},
          {"other_ns", context->other_ns},
          {"voluntary_switches", context->voluntary_switches},
          {"involuntary_switches", context->involuntary_switches},
          {"migrations", context->migrations},
          {"minor_faults", absent_or(context->minor_faults)},
          {"major_faults", absent_or(context->major_faults)},
          {"cycles", absent_or(context->cycles)},
          {"instructions", absent_or(context->instructions)},
          {"cache_misses", absent_or(context->cache_misses)}};
}

json region_of(const region& row) {
  const bool timed = row.durations.count() != 0;
  const auto only_timed = [&](std::uint64_t value) { return timed ? json(value) : json(nullptr); };
  json made = {{"path", row.path},
               {"id", id_of(row.id)},
               {"parent", row.parent != 0 ? id_of(row.parent) : json(nullptr)},
               {"site", {{"file", row.site.file}, {"line", row.site.line}, {"function", row.site.function}}},
               {"kind", word_of(row.kind)},
               {"device", row.device},
               {"threads", row.threads},
               {"count", row.count},
               {"total_ns", only_timed(row.total_ns)},
               {"self_ns", only_timed(row.self_ns)},
               {"min_ns", only_timed(row.min_ns)},
               {"max_ns", only_timed(row.max_ns)},
               {"p50_ns", absent_or(row.quantile_ns(0.5))},
               {"p90_ns", absent_or(row.quantile_ns(0.9))},
               {"p99_ns", absent_or(row.quantile_ns(0.99))},
               {"histogram", histogram_of(row.durations)},
               {"attributes", attributes_of(row)},
               {"overhead_ns", absent_or(row.overhead_ns)},
               {"context", context_of(row.context)},
               {"self_context", context_of(row.self_context)},
               {"samples", absent_or(row.samples)}};
  if (row.sampled) {
    made["sampled"] = *row.sampled;
    made["count_error"] = row.count_variance ? number(*row.count_error()) : json(nullptr);
    made["total_error_ns"] = row.total_variance ? number(*row.total_error_ns()) : json(nullptr);
  }
  if (!row.measured_on.empty()) made["measured_on"] = lib::by_word(row.measured_on);
  return made;
}

json latencies_of(const std::optional<latencies>& all) {
  if (!all) return nullptr;
  return {{"total_ns", all->total_ns},
          {"p50_ns", absent_or(all->durations.quantile(0.5))},
          {"p99_ns", absent_or(all->durations.quantile(0.99))},
          {"histogram", histogram_of(all->durations)}};
}

json amount_of(const std::optional<amount>& all) {
  if (!all) return nullptr;
  return {{"sum", number(all->sum)}, {"time_ns", all->time_ns}, {"per_second", absent_or(all->per_second())}};
}

json clock_of(const std::optional<device_clock_usage>& clock) {
  if (!clock) return nullptr;
  return {{"name", word_of(clock->clock)},
          {"sync_points", clock->sync_points},
          {"offset_ns", clock->offset_ns},
          {"drift_ppm", number(clock->drift_ppm)},
          {"residual_ns", clock->residual_ns}};
}

json device_of(const device_usage& device, std::size_t id) {
  json made = {{"id", id},
               {"kind", word_of(device.kind)},
               {"index", device.index},
               {"name", device.name},
               {"observed_ns", device.observed_ns},
               {"busy_ns", absent_or(device.busy_ns)},
               {"kernel_ns", absent_or(device.kernel_ns)},
               {"copy_ns", absent_or(device.copy_ns)},
               {"exposed_copy_ns", absent_or(device.exposed_copy_ns)},
               {"other_ns", absent_or(device.other_ns())},
               {"idle_ns", absent_or(device.idle_ns())},
               {"launch_idle_ns", absent_or(device.launch_idle_ns)},
               {"starved_ns", absent_or(device.starved_ns())},
               {"awaited_ns", absent_or(device.awaited_ns)},
               {"overlap", absent_or(device.overlap())},
               {"work_ns", absent_or(device.work_ns)},
               {"concurrency", absent_or(device.concurrency())},
               {"operations", device.operations},
               {"queues", device.queues}};
  made["queue_wait_ns"] = device.queue_wait ? json(device.queue_wait->total_ns) : json(nullptr);
  made["queue_wait"] = latencies_of(device.queue_wait);
  made["launch_latency"] = latencies_of(device.launch_latency);
  made["bytes_to"] = amount_of(device.to_device);
  made["bytes_from"] = amount_of(device.from_device);
  made["flops"] = amount_of(device.flops);
  made["clock"] = clock_of(device.clock);
  made["utilisation"] = absent_or(device.utilisation());
  made["late"] = device.late;
  made["skipped"] = device.skipped;
  made["context"] = context_of(device.context);
  return made;
}

json offload_of(const offload_usage& of) {
  return {{"observed_ns", of.observed_ns}, {"waited_ns", absent_or(of.waited_ns)}, {"busy_ns", absent_or(of.busy_ns)}};
}

json efficiency_of(const efficiencies& of) {
  return {{"device_parallel", absent_or(of.device_parallel)},
          {"device_load_balance", absent_or(of.device_load_balance)},
          {"device_communication", absent_or(of.device_communication)},
          {"device_orchestration", absent_or(of.device_orchestration)},
          {"device_offload", absent_or(of.device_offload)}};
}

json lost_of(const losses& by_reason) {
  json all = json::object();
  for (const auto& [reason, count] : lib::by_word(by_reason)) all[reason] = count;
  return all;
}

json process_of(const process_info& process) {
  return {
      {"pid", process.pid}, {"command", process.command}, {"host", process.host}, {"duration_ns", process.duration_ns}};
}

}  // namespace

std::string to_json(const profile& of) {
  json all = {{"schema", 1}, {"engine", of.engine}, {"mechanism", of.mechanism}, {"reason", of.reason}};
  all["devices"] = json::array();
  for (std::size_t at = 0; at != of.devices.size(); ++at) all["devices"].push_back(device_of(of.devices[at], at));
  all["offload"] = offload_of(of.offload);
  all["efficiency"] = efficiency_of(efficiencies_of(of));
  all["regions"] = json::array();
  for (const region& row : of.regions) all["regions"].push_back(region_of(row));
  all["accounting"] = {{"begun", of.accounting.begun},
                       {"ended", of.accounting.ended},
                       {"open", of.accounting.open},
                       {"lost", lost_of(of.accounting.lost)},
                       {"unmatched", of.accounting.unmatched},
                       {"unnamed", of.accounting.unnamed},
                       {"overhead_ns", absent_or(of.accounting.overhead_ns)}};
  if (of.context) all["context"] = {{"threads", of.context->threads}, {"lost", lost_of(of.context->lost)}};
  if (of.samples)
    all["samples"] = {{"samples", of.samples->samples},
                      {"observed_ns", of.samples->observed_ns},
                      {"lost", lost_of(of.samples->lost)}};
  if (of.timeline) all["timeline"] = {{"events", of.timeline->events}, {"lost", of.timeline->lost}};
  all["process"] = of.processes.empty() ? json(nullptr) : process_of(of.processes.front());
  if (of.processes.size() > 1)
    for (const process_info& process : of.processes) all["processes"].push_back(process_of(process));
  return all.dump(1, ' ', false, replacing) + "\n";
}

}}  // namespace adaptyst::v1
