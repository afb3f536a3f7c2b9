// A profile from its JSON: the way back from json.cpp. What follows from other members is not read but made again.
#include <adaptyst/histogram.h>
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <limits>

#include "../profile/measured.hpp"
#include "json_place.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::json_place;

constexpr std::uint64_t most_32 = std::numeric_limits<std::uint32_t>::max();

std::uint32_t small_count(const json_place& at) { return static_cast<std::uint32_t>(at.count(most_32)); }

std::optional<std::uint64_t> count_or_absent(const json_place& at) {
  return at.is_null() ? std::nullopt : std::optional(at.count());
}

// JSON cannot tell a number that is none from one that is infinite.
double number_or_nan(const json_place& at) {
  return at.is_null() ? std::numeric_limits<double>::quiet_NaN() : at.number();
}

std::optional<double> cost_or_absent(const json_place& at) {
  if (at.is_null()) return std::nullopt;
  if (at.number() < 0) at.fail("a number of at least 0");
  return at.number();
}

std::uint64_t id_of(const json_place& at) {
  const std::string& digits = at.text();
  std::uint64_t id = 0;
  for (const char c : digits) {
    const bool decimal = c >= '0' && c <= '9';
    if (digits.size() != 16 || !(decimal || (c >= 'a' && c <= 'f'))) at.fail("16 hexadecimal digits");
    id = id << 4U | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
  }
  if (digits.empty()) at.fail("16 hexadecimal digits");
  return id;
}

template <class Enum>
Enum word(const json_place& at) {
  constexpr bool of_region = std::is_same_v<Enum, region_kind>;  // which is no metric
  constexpr std::size_t count = lib::words<Enum>.size() - (of_region ? 1 : 0);
  const std::optional<Enum> found = lib::from_word<Enum>(at.text());
  if (!found || static_cast<std::size_t>(*found) >= count)
    at.fail(fmt::format("one of {}", fmt::join(lib::words<Enum>.begin(), lib::words<Enum>.begin() + count, ", ")));
  return *found;
}

std::string engine_of(const json_place& at) {
  const std::string& all = at.text();
  for (std::size_t from = 0; !all.empty() && from <= all.size();) {
    const std::size_t end = std::min(all.find(" | ", from), all.size());
    const std::string one = all.substr(from, end - from);
    if (one != "ebpf" && one != "inline" && one != "off") at.fail("ebpf, inline, off, or several, joined by \" | \"");
    from = end + 3;
    if (end == all.size()) break;
  }
  return all;
}

histogram histogram_of(const json_place& at) {
  histogram made;
  for (std::size_t index = 0; index != at.size(); ++index) {
    const json_place pair = at[index];
    if (pair.size() != 2) pair.fail("a pair of bucket and count");
    const auto bucket = static_cast<unsigned>(pair[std::size_t{0}].count(ADAPTYST_HISTOGRAM_BUCKETS - 1));
    const std::uint64_t times = pair[1].count();
    if (times == 0) pair[1].fail("a count of at least 1");
    if (times > std::numeric_limits<std::uint64_t>::max() - made.count()) pair[1].fail("a sum within 64 bits");
    made.add_bucket(bucket, times);
  }
  return made;
}

attribute attribute_of(const json_place& at) {
  at.require_keys({"count", "sum", "min", "max"}, {"per_second"});
  if (at.has("per_second")) number_or_nan(at["per_second"]);
  return {at["count"].count(), number_or_nan(at["sum"]), number_or_nan(at["min"]), number_or_nan(at["max"])};
}

// What is there only where an overhead budget was kept.
void read_sampling(region& to, const json_place& at) {
  if (at.has("sampled")) {
    to.sampled = at["sampled"].count(to.count);
    const auto square_of = [&](const char* key) {
      const std::optional<double> error = at.has(key) ? cost_or_absent(at[key]) : std::nullopt;
      return error ? std::optional(*error * *error) : std::nullopt;  // its root is the same number again
    };
    to.count_variance = square_of("count_error");
    to.total_variance = square_of("total_error_ns");
  }
  if (!at.has("measured_on")) return;
  const json_place times = at["measured_on"];
  times.require_object();
  for (const auto& entry : times.value().items()) {
    const std::optional<budget_step> step = lib::step_from_word(entry.key());
    if (!step) times[entry.key()].fail("kernel, recorder or 1 of N as its key");
    to.measured_on[*step] = times[entry.key()].count();
  }
}

std::optional<kernel_context> context_of(const json_place& at) {
  if (at.is_null()) return std::nullopt;
  at.require_keys({"wall_ns", "open", "on_cpu_ns", "runnable_ns", "sleep_ns", "lock_ns", "io_ns", "other_ns",
                   "voluntary_switches", "involuntary_switches", "migrations", "minor_faults", "major_faults", "cycles",
                   "instructions", "cache_misses"});
  count_or_absent(at["on_cpu_ns"]);
  kernel_context made;
  made.wall_ns = at["wall_ns"].count();
  made.open = at["open"].count();
  made.runnable_ns = at["runnable_ns"].count();
  made.sleep_ns = at["sleep_ns"].count();
  made.lock_ns = at["lock_ns"].count();
  made.io_ns = at["io_ns"].count();
  made.other_ns = at["other_ns"].count();
  made.voluntary_switches = at["voluntary_switches"].count();
  made.involuntary_switches = at["involuntary_switches"].count();
  made.migrations = at["migrations"].count();
  made.minor_faults = count_or_absent(at["minor_faults"]);
  made.major_faults = count_or_absent(at["major_faults"]);
  made.cycles = count_or_absent(at["cycles"]);
  made.instructions = count_or_absent(at["instructions"]);
  made.cache_misses = count_or_absent(at["cache_misses"]);
  return made;
}

// A later version may have more reasons: what it lost is lost all the same.
losses lost_of(const json_place& at) {
  at.require_object();
  losses made;
  for (const auto& entry : at.value().items())
    made[lib::from_word<loss_reason>(entry.key()).value_or(loss_reason::other)] += at[entry.key()].count();
  return made;
}

region region_of(const json_place& at) {
  at.require_keys({"path", "id", "parent", "site", "kind", "device", "threads", "count", "total_ns", "self_ns",
                   "min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns", "histogram", "attributes", "overhead_ns"},
                  {"sampled", "count_error", "total_error_ns", "measured_on", "context", "self_context", "samples"});
  region made;
  const json_place path = at["path"];
  if (path.size() == 0 || path.size() > lib::most_names_of_path)
    path.fail(fmt::format("from 1 to {} names", lib::most_names_of_path));
  for (std::size_t index = 0; index != path.size(); ++index) made.path.push_back(path[index].text());
  made.id = id_of(at["id"]);
  if (!at["parent"].is_null()) made.parent = id_of(at["parent"]);
  const json_place site = at["site"];
  site.require_keys({"file", "line", "function"});
  made.site = {site["file"].text(), small_count(site["line"]), site["function"].text()};
  made.kind = word<region_kind>(at["kind"]);
  made.device = small_count(at["device"]);
  made.threads = small_count(at["threads"]);
  made.count = at["count"].count();
  made.durations = histogram_of(at["histogram"]);
  for (const auto& [key, to] : {std::pair{"total_ns", &made.total_ns}, std::pair{"self_ns", &made.self_ns},
                                std::pair{"min_ns", &made.min_ns}, std::pair{"max_ns", &made.max_ns}}) {
    const std::optional<std::uint64_t> found = count_or_absent(at[key]);
    if (!found && made.durations.count() != 0) at[key].fail("a time, since there is a histogram");
    *to = found.value_or(0);
  }
  if (made.min_ns > made.max_ns) at["min_ns"].fail("at most max_ns");
  for (const char* const key : {"p50_ns", "p90_ns", "p99_ns"}) count_or_absent(at[key]);
  const json_place attributes = at["attributes"];
  attributes.require_object();
  for (const auto& entry : attributes.value().items())
    made.attributes[entry.key()] = attribute_of(attributes[entry.key()]);
  made.overhead_ns = cost_or_absent(at["overhead_ns"]);
  read_sampling(made, at);
  if (at.has("context")) made.context = context_of(at["context"]);
  if (at.has("self_context")) made.self_context = context_of(at["self_context"]);
  if (at.has("samples")) made.samples = count_or_absent(at["samples"]);
  return made;
}

std::optional<latencies> latencies_of(const json_place& at) {
  if (at.is_null()) return std::nullopt;
  at.require_keys({"total_ns", "p50_ns", "p99_ns", "histogram"});
  for (const char* const key : {"p50_ns", "p99_ns"}) count_or_absent(at[key]);
  return latencies{at["total_ns"].count(), histogram_of(at["histogram"])};
}

std::optional<amount> amount_of(const json_place& at) {
  if (at.is_null()) return std::nullopt;
  at.require_keys({"sum", "time_ns", "per_second"});
  cost_or_absent(at["per_second"]);
  return amount{number_or_nan(at["sum"]), at["time_ns"].count()};
}

std::optional<device_clock_usage> clock_of(const json_place& at) {
  if (at.is_null()) return std::nullopt;
  at.require_keys({"name", "sync_points", "offset_ns", "drift_ppm", "residual_ns"});
  return device_clock_usage{word<clock_id>(at["name"]), small_count(at["sync_points"]), at["offset_ns"].integer(),
                            number_or_nan(at["drift_ppm"]), at["residual_ns"].count()};
}

void fraction_or_absent(const json_place& at) {
  if (cost_or_absent(at).value_or(0) > 1) at.fail("at most 1");
}

// What the first profiles did not have.
void read_account(device_usage& to, const json_place& at) {
  const auto count_if_there = [&](const char* key) { return at.has(key) ? count_or_absent(at[key]) : std::nullopt; };
  to.launch_idle_ns = count_if_there("launch_idle_ns");
  to.awaited_ns = count_if_there("awaited_ns");
  to.work_ns = count_if_there("work_ns");
  to.operations = count_if_there("operations").value_or(0);
  if (at.has("queues")) to.queues = small_count(at["queues"]);
  if (at.has("queue_wait")) to.queue_wait = latencies_of(at["queue_wait"]);
  if (at.has("launch_latency")) to.launch_latency = latencies_of(at["launch_latency"]);
  if (at.has("bytes_to")) to.to_device = amount_of(at["bytes_to"]);
  if (at.has("bytes_from")) to.from_device = amount_of(at["bytes_from"]);
  if (at.has("flops")) to.flops = amount_of(at["flops"]);
  if (at.has("clock")) to.clock = clock_of(at["clock"]);
  if (at.has("context")) to.context = context_of(at["context"]);
  count_if_there("other_ns");
  count_if_there("starved_ns");
  if (at.has("overlap")) fraction_or_absent(at["overlap"]);
  if (at.has("concurrency")) cost_or_absent(at["concurrency"]);
}

device_usage device_of(const json_place& at, std::size_t place) {
  at.require_keys(
      {"id", "kind", "index", "name", "observed_ns", "busy_ns", "kernel_ns", "copy_ns", "exposed_copy_ns", "idle_ns",
       "queue_wait_ns", "utilisation", "late", "skipped"},
      {"other_ns", "launch_idle_ns", "starved_ns", "awaited_ns", "overlap", "work_ns", "concurrency", "operations",
       "queues", "queue_wait", "launch_latency", "bytes_to", "bytes_from", "flops", "clock", "context"});
  if (at["id"].count() != place) at["id"].fail(fmt::format("{}, its place in the list", place));
  device_usage made;
  made.kind = word<device_kind>(at["kind"]);
  made.index = small_count(at["index"]);
  made.name = at["name"].text();
  made.observed_ns = at["observed_ns"].count();
  made.busy_ns = count_or_absent(at["busy_ns"]);
  made.kernel_ns = count_or_absent(at["kernel_ns"]);
  made.copy_ns = count_or_absent(at["copy_ns"]);
  made.exposed_copy_ns = count_or_absent(at["exposed_copy_ns"]);
  made.late = at["late"].count();
  made.skipped = at["skipped"].count();
  count_or_absent(at["idle_ns"]);
  count_or_absent(at["queue_wait_ns"]);
  fraction_or_absent(at["utilisation"]);
  read_account(made, at);
  return made;
}

offload_usage offload_of(const json_place& at) {
  at.require_keys({"observed_ns", "waited_ns", "busy_ns"});
  return {at["observed_ns"].count(), count_or_absent(at["waited_ns"]), count_or_absent(at["busy_ns"])};
}

account account_of(const json_place& at) {
  at.require_keys({"begun", "ended", "open", "lost", "unmatched", "unnamed", "overhead_ns"});
  account made;
  made.begun = at["begun"].count();
  made.ended = at["ended"].count();
  made.open = at["open"].count();
  made.lost = lost_of(at["lost"]);
  made.unmatched = at["unmatched"].count();
  made.unnamed = at["unnamed"].count();
  made.overhead_ns = cost_or_absent(at["overhead_ns"]);
  return made;
}

process_info process_of(const json_place& at) {
  at.require_keys({"pid", "command", "host", "duration_ns"});
  return {at["pid"].integer(), at["command"].text(), at["host"].text(), at["duration_ns"].count()};
}

std::vector<process_info> processes_of(const json_place& all) {
  std::vector<process_info> made;
  const json_place first = all["process"];
  if (!first.is_null()) made.push_back(process_of(first));
  if (!all.has("processes")) return made;
  const json_place list = all["processes"];
  if (list.size() < 2) list.fail("at least two processes");
  if (list[std::size_t{0}].value() != first.value()) first.fail("the first of \"processes\"");
  for (std::size_t index = 1; index != list.size(); ++index) made.push_back(process_of(list[index]));
  return made;
}

}  // namespace

profile from_json(std::string_view text) {
  const nlohmann::json parsed = lib::parse_json(text);
  const json_place all(parsed);
  all.require_object();
  // Said before what a later schema may have added is called wrong.
  if (all.has("schema") && all["schema"].count() != 1) all["schema"].fail("1, all that this version reads");
  all.require_keys({"schema", "engine", "mechanism", "reason", "devices", "regions", "accounting", "process"},
                   {"processes", "offload", "efficiency", "context", "samples", "timeline"});
  profile made;
  made.engine = engine_of(all["engine"]);
  made.mechanism = all["mechanism"].text();
  made.reason = all["reason"].text();
  const json_place devices = all["devices"];
  for (std::size_t index = 0; index != devices.size(); ++index)
    made.devices.push_back(device_of(devices[index], index));
  if (all.has("offload")) made.offload = offload_of(all["offload"]);
  if (all.has("efficiency")) {
    const json_place ratios = all["efficiency"];
    ratios.require_keys(
        {"device_parallel", "device_load_balance", "device_communication", "device_orchestration", "device_offload"});
    for (const auto& entry : ratios.value().items()) cost_or_absent(ratios[entry.key()]);
  }
  const json_place regions = all["regions"];
  for (std::size_t index = 0; index != regions.size(); ++index) made.regions.push_back(region_of(regions[index]));
  made.accounting = account_of(all["accounting"]);
  if (all.has("context")) {
    const json_place context = all["context"];
    context.require_keys({"threads", "lost"});
    made.context = {context["threads"].count(), lost_of(context["lost"])};
  }
  if (all.has("samples")) {
    const json_place samples = all["samples"];
    samples.require_keys({"samples", "observed_ns", "lost"});
    made.samples = {samples["samples"].count(), samples["observed_ns"].count(), lost_of(samples["lost"])};
  }
  if (all.has("timeline")) {
    const json_place timeline = all["timeline"];
    timeline.require_keys({"events", "lost"});
    made.timeline = {timeline["events"].count(), timeline["lost"].count()};
  }
  made.processes = processes_of(all);
  return made;
}

}}  // namespace adaptyst::v1
