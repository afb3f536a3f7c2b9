#include <adaptyst/profile.hpp>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

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

json histogram_of(const region& row) {
  json counts = json::array();  // pairs of bucket and count
  const std::vector<std::uint64_t>& buckets = row.durations.buckets();
  for (std::size_t bucket = 0; bucket != buckets.size(); ++bucket)
    if (buckets[bucket] != 0) counts.push_back({bucket, buckets[bucket]});
  return counts;
}

json region_of(const region& row) {
  const bool timed = row.durations.count() != 0;
  const auto only_timed = [&](std::uint64_t value) { return timed ? json(value) : json(nullptr); };
  return {{"path", row.path},
          {"id", id_of(row.id)},
          {"parent", row.parent != 0 ? id_of(row.parent) : json(nullptr)},
          {"site", {{"file", row.site.file}, {"line", row.site.line}, {"function", row.site.function}}},
          {"kind", row.kind},
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
          {"histogram", histogram_of(row)},
          {"attributes", attributes_of(row)},
          {"overhead_ns", absent_or(row.overhead_ns)}};
}

json device_of(const device_usage& device, std::size_t id) {
  return {{"id", id},
          {"kind", device.kind},
          {"index", device.index},
          {"name", device.name},
          {"observed_ns", device.observed_ns},
          {"busy_ns", absent_or(device.busy_ns)},
          {"kernel_ns", absent_or(device.kernel_ns)},
          {"copy_ns", absent_or(device.copy_ns)},
          {"exposed_copy_ns", absent_or(device.exposed_copy_ns)},
          {"idle_ns", absent_or(device.idle_ns())},
          {"queue_wait_ns", absent_or(device.queue_wait_ns)},
          {"utilisation", absent_or(device.utilisation())},
          {"late", device.late},
          {"skipped", device.skipped}};
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
  all["regions"] = json::array();
  for (const region& row : of.regions) all["regions"].push_back(region_of(row));
  all["accounting"] = {{"begun", of.accounting.begun},
                       {"ended", of.accounting.ended},
                       {"open", of.accounting.open},
                       {"lost", json(of.accounting.lost)},
                       {"unmatched", of.accounting.unmatched},
                       {"unnamed", of.accounting.unnamed},
                       {"overhead_ns", absent_or(of.accounting.overhead_ns)}};
  if (all["accounting"]["lost"].is_null()) all["accounting"]["lost"] = json::object();
  all["process"] = of.processes.empty() ? json(nullptr) : process_of(of.processes.front());
  if (of.processes.size() > 1)
    for (const process_info& process : of.processes) all["processes"].push_back(process_of(process));
  return all.dump(1, ' ', false, replacing) + "\n";
}

}}  // namespace adaptyst::v1
