// Merges profiles. fields.hpp defines the method for each member; this file has the cases that need more than a sum.
// The result must not depend on the order of merging.
#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fields.hpp"
#include "measurements.hpp"
#include "merging.hpp"
#include "order.hpp"
#include "ranks.hpp"
#include "stack_trees.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

// Keeps the value with the largest error, so that the order of merging does not matter.
void add(std::optional<device_clock_sync>& value, const std::optional<device_clock_sync>& from) {
  if (from && (!value || lib::order(*value) < lib::order(*from))) value = from;
}

template <class Struct>
void add_fields(Struct& object, const Struct& from);

template <class Value>
void add(Value& value, const Value& from) {
  if constexpr (lib::listed::is_listed<Value>) add_fields(value, from);
  else value += from;
}

void add(histogram& sum, const histogram& from) { sum.merge(from); }

template <class Value>
void add(std::optional<Value>& value, const std::optional<Value>& from) {
  if (!from) return;
  if (!value) value.emplace();
  add(*value, *from);
}

template <class Key, class Value>
void add(std::map<Key, Value>& map, const std::map<Key, Value>& from) {
  for (const auto& [key, value] : from) add(map[key], value);
}

template <class Value>
constexpr bool can_be_added = !std::is_enum_v<Value>;
template <class Value>
constexpr bool can_be_added<std::vector<Value>> = false;
template <>
constexpr bool can_be_added<std::optional<level>> = false;
template <>
constexpr bool can_be_added<std::optional<rank_spread>> = false;
template <>
constexpr bool can_be_added<std::optional<rank_account>> = false;
template <>
constexpr bool can_be_added<std::optional<mpi_usage>> = false;
template <>
constexpr bool can_be_added<std::optional<heat_map>> = false;

template <class Struct, class = void>
constexpr bool has_count = false;
template <class Struct>
constexpr bool has_count<Struct, std::void_t<decltype(&Struct::count)>> = true;

// Merges members that depend on the counts, and must be done before the counts are added.
template <class Struct>
struct compared {
  Struct& to;
  const Struct& from;
  lib::empty_sides empty{};

  template <class Value>
  void operator()(const lib::listed::member<Struct, Value>& field) {
    if constexpr (lib::listed::is_number<Value>) {
      if (field.how == lib::listed::sum_if_complete)
        to.*field.at = lib::add_if_known(to.*field.at, from.*field.at, empty);
      // An absent number is less than any number.
      if (field.how == lib::listed::greatest) to.*field.at = std::max(to.*field.at, from.*field.at);
    } else if constexpr (std::is_integral_v<Value>) {
      if (field.how == lib::listed::sum) empty = {empty.a && to.*field.at == 0, empty.b && from.*field.at == 0};
    }
    if constexpr (std::is_arithmetic_v<Value>) {
      if (field.how == lib::listed::least) take(field, std::min(to.*field.at, from.*field.at));
      if (field.how == lib::listed::greatest) take(field, std::max(to.*field.at, from.*field.at));
    } else if constexpr (has_count<Struct> && std::is_same_v<Value, std::optional<std::uint64_t>>) {
      if (field.how == lib::listed::part && (to.*field.at || from.*field.at))
        to.*field.at = (to.*field.at).value_or(to.count) + (from.*field.at).value_or(from.count);
    }
  }
  template <class Other>
  void operator()(const Other& /*no member*/) {}

  template <class Value>
  void take(const lib::listed::member<Struct, Value>& field, Value both) const {
    if constexpr (has_count<Struct>) {
      if (from.count == 0) return;
      if (to.count == 0) both = from.*field.at;
    }
    to.*field.at = both;
  }
};

template <class Struct>
struct added {
  Struct& to;
  const Struct& from;

  template <class Value>
  void operator()(const lib::listed::member<Struct, Value>& field) const {
    using namespace lib::listed;
    if constexpr (std::is_same_v<Value, std::string>) {
      if (field.how == lib::listed::joined) to.*field.at = lib::joined(to.*field.at, from.*field.at);
    } else if constexpr (std::is_same_v<Value, std::map<std::string, std::string>>) {
      for (const auto& [key, text] : from.*field.at) (to.*field.at)[key] = lib::joined((to.*field.at)[key], text);
    } else if constexpr (can_be_added<Value>) {
      if (field.how == sum || field.how == worst) add(to.*field.at, from.*field.at);
    }
  }
  template <class Other>
  void operator()(const Other& /*no member*/) const {}
};

template <class Struct>
void add_fields(Struct& object, const Struct& from) {
  lib::listed::for_each<Struct>(compared<Struct>{object, from});
  lib::listed::for_each<Struct>(added<Struct>{object, from});
}

template <class Struct>
void unite(std::optional<Struct>& value, const std::optional<Struct>& from) {
  if (from && value) value->merge(*from);
  else if (from) value = from;
}

// Whether rows are in the order of merge(), each once.
bool is_canonical(const std::vector<region>& rows) {
  const auto key_of = [](const region& row) { return std::tie(row.path, row.id, row.device); };
  return std::adjacent_find(rows.begin(), rows.end(),
                            [&](const region& a, const region& b) { return key_of(a) >= key_of(b); }) == rows.end();
}

// Gives rows the device numbers of the merged profile.
void merge_devices_and_rows(profile& into, const profile& from) {
  std::vector<device_usage> devices = into.devices;
  for (const device_usage& device : from.devices) {
    const auto same = std::find_if(devices.begin(), devices.end(),
                                   [&](const device_usage& usage) { return lib::order(usage) == lib::order(device); });
    if (same == devices.end()) devices.push_back(device);
    else add_fields(*same, device);
  }
  std::sort(devices.begin(), devices.end(),
            [](const device_usage& a, const device_usage& b) { return lib::order(a) < lib::order(b); });
  const auto place = [&](const device_usage& device) {
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const device_usage& usage) { return lib::order(usage) == lib::order(device); });
    return static_cast<std::uint32_t>(found - devices.begin());
  };

  for (region& row : into.regions)
    if (row.device < into.devices.size()) row.device = place(into.devices[row.device]);
  if (!from.regions.empty() || !is_canonical(into.regions)) {
    // A row's identity is its path's id and the device; two programs may have different devices with equal numbers.
    using key = std::tuple<std::vector<std::string>, std::uint64_t, std::uint32_t>;
    std::map<key, region> rows;
    const auto add_row = [&](region&& row) {
      key present{row.path, row.id, row.device};
      const auto [entry, is_new] = rows.try_emplace(std::move(present), std::move(row));
      if (is_new) return;
      add_fields(entry->second, row);
      unite(entry->second.across_ranks, row.across_ranks);
    };
    for (region& row : into.regions) add_row(std::move(row));
    for (region row : from.regions) {
      if (!into.ceilings) row.roofline.reset();
      if (row.device < from.devices.size()) row.device = place(from.devices[row.device]);
      add_row(std::move(row));
    }
    into.regions.clear();
    for (auto& [present, row] : rows) into.regions.push_back(std::move(row));
  }
  into.devices = std::move(devices);
}

}  // namespace

void attribute::merge(const attribute& other) { add_fields(*this, other); }
void heap_usage::merge(const heap_usage& other) { add_fields(*this, other); }
void os_context::merge(const os_context& other) { add_fields(*this, other); }
void thread_spread::merge(const thread_spread& other) { add_fields(*this, other); }

std::optional<std::string> profile::date() const {
  std::optional<std::string> first;
  for (const process_info& process : processes)  // texts of the same form, in which alphabetical order is order of time
    if (!process.started.empty() && (!first || process.started < *first)) first = process.started;
  return first;
}

std::optional<std::uint32_t> profile::rank() const {
  std::optional<std::uint32_t> only;
  for (const process_info& process : processes) {
    if (process.rank && only && *process.rank != *only) return std::nullopt;
    if (process.rank) only = process.rank;
  }
  return only;
}

bool profile::has_markers() const {
  return !regions.empty() || accounting.begun != 0 || accounting.unmatched != 0 || accounting.unnamed != 0 ||
         accounting.refused || accounting.unread;
}

bool profile::is_host(std::uint32_t device) const {
  return device == 0 && !devices.empty() && devices[0].kind == device_kind::cpu;
}

std::optional<std::uint64_t> region::quantile_ns(double q) const {
  const std::optional<std::uint64_t> value = durations.quantile(q);
  // A high quantile of a few events is the longest event, which is known exactly and may exceed the middle of its
  // bucket.
  if (value && std::ceil(q * static_cast<double>(durations.count())) >= static_cast<double>(durations.count()))
    return max_ns;
  return value ? std::optional(std::clamp(*value, min_ns, max_ns)) : std::nullopt;
}

std::optional<double> region::count_error() const {
  return count_variance ? std::optional(std::sqrt(*count_variance)) : std::nullopt;
}
std::optional<double> region::total_error_ns() const {
  return total_variance ? std::optional(std::sqrt(*total_variance)) : std::nullopt;
}

// A missed budget in a run of some milliseconds is not reported: the user cannot change it.
bool budget_usage::is_exceeded() const {
  constexpr double significant_ns = 10e6;
  return cost_ns > 4.0 / 3 * allowed_ns && cost_ns - allowed_ns > significant_ns;
}

void merge(profile& into, const profile& from) {
  if (&into == &from) return merge(into, profile(from));
  const std::optional<rank_place> here = lib::find_place(into), there = lib::find_place(from);
  const bool has_ranks = into.ranks || from.ranks || (here && there && here->rank != there->rank);
  if (has_ranks && there) {
    profile spread = from;
    lib::spread_over_ranks(spread, *there);
    return merge(into, spread);
  }
  if (has_ranks && here) lib::spread_over_ranks(into, *here);
  add_fields(into, from);
  add(into.ranks, from.ranks);
  add(into.unlisted, from.unlisted);
  unite(into.about_ranks, from.about_ranks);
  unite(into.mpi, from.mpi);
  // Other ranks may use other bins and have other rows.
  const auto is_empty = [](const profile& part) {
    return part.devices.empty() && part.regions.empty() && part.processes.empty();
  };
  if (is_empty(into)) {
    into.heat = from.heat;
    into.ceilings = from.ceilings;
  } else if (!is_empty(from)) {
    into.heat.reset();
    // Sums have other rates, and perhaps other machines.
    into.ceilings.reset();
    for (region& row : into.regions) row.roofline.reset();
  }
  merge_devices_and_rows(into, from);
  lib::add_machines(into.machines, from.machines);
  if (!into.stacks.empty() || !from.stacks.empty()) {
    lib::stack_trees both;
    both.add(into.stacks);
    both.add(from.stacks);
    into.stacks = both.list();
  }

  into.processes.insert(into.processes.end(), from.processes.begin(), from.processes.end());
  std::sort(into.processes.begin(), into.processes.end(),
            [](const process_info& a, const process_info& b) { return lib::order(a) < lib::order(b); });
  lib::cut_processes(into);
}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

void add(account& sum, const account& from) { add_fields(sum, from); }

void add_refused(account& sum, const refused_programs& more) {
  if (more.programs == 0) return;
  account all;
  all.lost[loss_reason::not_read] = all.begun = more.programs;
  all.refused = more;
  all.overhead_ns = 0;  // no event was recorded there
  add(sum, all);
}

}  // namespace adaptyst::lib
