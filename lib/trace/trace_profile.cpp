#include "trace_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "../model/words.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_row_threads = 4096, max_reasons = 64;
// Paths grow with the square of their depth, and are copied for each level.
constexpr std::size_t max_row_path_bytes = std::size_t{32} << 20;
const traced_site unknown_beginning{"(unknown)", region_kind::region, 0, nullptr, {}};

std::size_t bytes_of_path(const std::vector<std::string>& path) {
  std::size_t sum = 0;
  for (const std::string& text : path) sum += sizeof(std::string) + text.size();
  return sum;
}

// From the name that a reader gives: "gpu0 NVIDIA A100". Other devices are taken for GPUs.
device_kind find_kind(const traced_device& from) {
  const std::string label = from.name.substr(0, from.name.find(' '));
  if (label == "host") return device_kind::other;  // copies in the host's memory
  for (const device_kind kind : {device_kind::cpu, device_kind::fpga, device_kind::accelerator, device_kind::other})
    if (label == device_label(kind, from.physical)) return kind;
  return device_kind::gpu;
}

bool has_bytes(region_kind kind) {
  return kind == region_kind::copy_to || kind == region_kind::copy_from || kind == region_kind::fill;
}

}  // namespace

std::string row_name(const traced_site& site) {
  constexpr std::string_view step = "ProfilerStep#";
  const std::string& name = site.name;
  const bool is_step = site.level == level::model && name.size() > step.size() && name.rfind(step, 0) == 0 &&
                       name.find_first_not_of("0123456789", step.size()) == std::string::npos;
  return is_step ? "ProfilerStep" : name;
}

trace_profile::trace_profile() {
  made_.devices.resize(1);
  made_.devices[0].kind = device_kind::cpu;
  made_.devices[0].name = "host";
}

void trace_profile::name_process(std::int64_t process, const traced_process& what) {
  process_info about;
  about.pid = what.number;
  about.command = what.name;
  about.host = what.host;
  about.rank = what.rank;
  processes_[process] = {about, {std::numeric_limits<std::uint64_t>::max(), 0}};
}

void trace_profile::name_thread(std::int64_t process, std::uint32_t thread, const std::string&) {
  threads_.emplace(process, thread);
}

bool trace_profile::knows_thread(std::int64_t process, std::uint32_t thread) const {
  return threads_.count({process, thread}) != 0;
}

void trace_profile::name_device(std::int64_t process, std::uint32_t device, const traced_device& what) {
  device_usage about;
  about.kind = find_kind(what);
  about.index = what.physical;
  about.name = what.name;
  const auto same = std::find_if(made_.devices.begin() + 1, made_.devices.end(), [&](const device_usage& usage) {
    return usage.kind == about.kind && usage.index == about.index;
  });
  devices_[{process, device}] = static_cast<std::uint32_t>(same - made_.devices.begin());
  if (same == made_.devices.end()) made_.devices.push_back(std::move(about));
}

bool trace_profile::knows_device(std::int64_t process, std::uint32_t device) const {
  return devices_.count({process, device}) != 0;
}

std::uint32_t trace_profile::find_device(std::int64_t process, std::uint32_t number) {
  if (number == 0) return 0;
  if (!knows_device(process, number)) name_device(process, number, {"", number - 1, ""});
  return devices_[{process, number}];
}

trace_profile::row_sums& trace_profile::add_row(row_sums* around, const traced_site& site, std::uint32_t device) {
  const std::uint64_t parent = around != nullptr ? made_.regions[around->row].id : 0;
  std::string name = row_name(site);
  const auto [found, is_new] = rows_.try_emplace({parent, name, site.kind, device});
  if (!is_new) return found->second;
  region row;
  if (around != nullptr) row.path = made_.regions[around->row].path;
  row.path.push_back(std::move(name));
  row.id = made_.regions.size() + 1;
  row.parent = parent;
  row.kind = site.kind;
  row.level = site.level;
  row.device = device;
  row.min_ns = std::numeric_limits<std::uint64_t>::max();
  path_bytes_ += bytes_of_path(row.path);
  found->second.row = made_.regions.size();
  made_.regions.push_back(std::move(row));
  return found->second;
}

trace_profile::row_sums& trace_profile::find_row(std::int64_t process, const traced_site& site) {
  std::vector<const traced_site*> missing;
  row_sums* around = nullptr;
  for (const traced_site* at = &site; at != nullptr; at = at->parent) {
    const auto found = rows_of_sites_.find({process, at});
    if (found != rows_of_sites_.end()) around = found->second;
    if (found != rows_of_sites_.end()) break;
    missing.push_back(at);
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (path_bytes_ > max_row_path_bytes && around != nullptr) {
      has_unknown_beginnings_ = true;
      around = &add_row(nullptr, unknown_beginning, 0);
    }
    around = &add_row(around, **at, find_device(process, (*at)->device));
    rows_of_sites_[{process, *at}] = around;
  }
  return *around;
}

void trace_profile::add(std::int64_t process, const traced_event& event) {
  if (const auto found = processes_.find(process); found != processes_.end()) {
    time_span& life = found->second.second;
    life.begin_ns = std::min(life.begin_ns, event.begin_ns);
    life.end_ns = std::max(life.end_ns, event.end_ns);
  }
  if (event.as == traced_as::metric || event.as == traced_as::instant_event) return;
  row_sums& sums = find_row(process, *event.site);
  region& row = made_.regions[sums.row];
  ++row.count;
  row.total_ns += event.duration_ns();
  row.min_ns = std::min(row.min_ns, event.duration_ns());
  row.max_ns = std::max(row.max_ns, event.duration_ns());
  if (has_bytes(row.kind) && event.bytes == 0) sums.has_unknown_bytes = true;
  if (event.bytes != 0) {
    const auto value = static_cast<double>(event.bytes);
    row.attributes["bytes"].merge({1, value, value, value, 0});
  }
  if (sums.threads.size() < max_row_threads) sums.threads.emplace(process, event.thread);
}

void trace_profile::add_loss(std::int64_t, const std::string& reason, std::uint64_t events) {
  losses_[losses_.size() < max_reasons || losses_.count(reason) != 0 ? reason : "other reasons"] += events;
}

std::vector<std::string> trace_profile::remarks() const {
  std::vector<std::string> made;
  for (const auto& [reason, events] : losses_)
    made.push_back(fmt::format("{} events are missing in the trace: {}", events, printable(reason)));
  if (has_unknown_beginnings_)
    made.emplace_back("the call paths have too many names: further regions and operations are below \"(unknown)\"");
  return made;
}

profile trace_profile::take() {
  for (const auto& [key, sums] : rows_) {
    region& row = made_.regions[sums.row];
    const bool is_known = sums.threads.size() < max_row_threads;
    row.threads = is_known ? static_cast<std::uint32_t>(sums.threads.size()) : 0;
    if (row.count == 0) row.min_ns = 0;
    if (sums.has_unknown_bytes) row.attributes.erase("bytes");
  }
  for (auto& [id, entry] : processes_) {
    if (entry.second.end_ns < entry.second.begin_ns) continue;
    entry.first.duration_ns = entry.second.duration_ns();
    made_.processes.push_back(std::move(entry.first));
  }
  return std::move(made_);
}

}  // namespace adaptyst::lib
