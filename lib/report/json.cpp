// Results as JSON, by their lists of fields. This file adds parts of profiles that the lists do not contain: names of
// rows, rates of attributes, numbers of devices, and the shorter form for the HTML report.
#include "forms.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "../advise/fields.hpp"
#include "../analyse/levels/fields.hpp"
#include "../discover/fields.hpp"
#include "../discover/inspection.hpp"
#include "../model/comparison_fields.hpp"
#include "../model/fields.hpp"
#include "../model/measured_ceilings.hpp"
#include "../model/mpi_usage.hpp"
#include "json_writer.hpp"

namespace adaptyst::lib {

namespace {

using profile_writer = json_writer<profile>;

std::size_t count_buckets(const histogram& durations) {
  return static_cast<std::size_t>(std::count_if(durations.buckets().begin(), durations.buckets().end(),
                                                [](std::uint64_t count) { return count != 0; }));
}

// Whether the HTML report has coarse histograms.
bool has_many_buckets(const profile& of) {
  constexpr std::size_t max_buckets = 4096;
  std::size_t sum = 0;
  for (const region& row : of.regions) sum += count_buckets(row.durations);
  return sum > max_buckets;
}

// A histogram for drawing: 32 bars of several buckets, with a digit for the height of each bar, 0 to z. The size does
// not grow with the number of events.
void put_coarser(json_stream& to, const histogram& durations) {
  constexpr std::size_t bar_count = 32;
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  to.begin_array();
  to.end_array();
  const std::vector<std::uint64_t>& counts = durations.buckets();
  const auto is_full = [](std::uint64_t count) { return count != 0; };
  const auto first = static_cast<std::size_t>(std::find_if(counts.begin(), counts.end(), is_full) - counts.begin());
  if (first == counts.size()) return;
  const auto last = counts.size() - 1 -
                    static_cast<std::size_t>(std::find_if(counts.rbegin(), counts.rend(), is_full) - counts.rbegin());
  const std::size_t step = (last - first) / bar_count + 1;
  std::vector<double> bars(bar_count);
  for (std::size_t at = first; at <= last; ++at) bars[(at - first) / step] += static_cast<double>(counts[at]);
  const double highest = *std::max_element(bars.begin(), bars.end());
  std::string heights;
  for (const double bar : bars) heights += digits[static_cast<std::size_t>(std::ceil(35 * bar / highest))];
  to.key("histogram_first").put(std::uint64_t{first});
  to.key("histogram_step").put(std::uint64_t{step});
  to.key("histogram_heights").put_text(heights);
}

}  // namespace

// A row has its name and the id of the row above it, because whole paths would grow with the square of the depth.
template <>
struct own_form<std::vector<region>> {
  static constexpr bool is_present = true;
  static void put(const profile_writer& by, const profile& /*owner*/, const std::vector<region>& rows) {
    json_stream& to = by.stream();
    const std::vector<std::string> root;
    std::unordered_map<std::uint64_t, const std::vector<std::string>*> paths{{0, &root}};
    to.begin_array();
    to.begin_line();
    for (const region& row : rows) {
      const auto above = paths.find(row.parent);
      const bool is_known = above != paths.end() && row.path.size() == above->second->size() + 1 &&
                            std::equal(above->second->begin(), above->second->end(), row.path.begin());
      by.put_object(row, [&](std::string_view key) {
        if (key == "name") to.key(key).put_text(row.path.empty() ? std::string() : row.path.back());
        else if (!is_known) to.key(key), by.put(row.path);
      });
      paths.try_emplace(row.id, &row.path);
    }
    to.end_line();
    to.end_array();
  }
};

template <>
struct own_form<std::map<std::string, attribute>> {
  static constexpr bool is_present = true;
  static void put(const profile_writer& by, const region& row, const std::map<std::string, attribute>& all) {
    json_stream& to = by.stream();
    to.begin_object();
    for (const auto& [name, values] : profile_writer::writable(all)) {
      const bool has_rate = (name == "bytes" || name == "flops") && row.total_ns != 0 && !is_nonblocking_call(row);
      to.key(name);
      by.put_object(values, [&, &sum = values.sum](std::string_view key) {
        if (has_rate) to.key(key).put(sum / static_cast<double>(row.total_ns) * 1e9);
      });
    }
    to.end_object();
  }
};

template <>
struct own_form<std::vector<device_usage>> {
  static constexpr bool is_present = true;
  static void put(const profile_writer& by, const profile& /*owner*/, const std::vector<device_usage>& devices) {
    json_stream& to = by.stream();
    std::uint64_t id = 0;
    to.begin_array();
    for (const device_usage& device : devices) {
      by.put_object(device, [&](std::string_view key) { to.key(key).put(id); });
      ++id;
    }
    to.end_array();
  }
};

template <>
struct own_form<histogram> {
  static constexpr bool is_present = true;
  template <class Owner>
  static void put(const profile_writer& by, const Owner& /*owner*/, const histogram& durations) {
    if (std::is_same_v<Owner, region> && by.is_coarse()) put_coarser(by.stream(), durations);
    else by.put(durations);
  }
};

namespace {

void put_profile(const profile& from, json_stream& to, page_form form) {
  const profile_writer by(to, from, form);
  by.put_object(from, [&](std::string_view name) {
    if (name == "schema") {
      to.key(name).put(std::uint64_t{1});
    } else if (name == "process") {
      to.key(name);
      if (from.processes.empty()) to.put_null();
      else by.put_object(from.processes.front());
    } else if (from.processes.size() > 1) {
      to.key(name);
      by.put(from.processes);
    }
  });
}

}  // namespace

void write_json(const profile& from, const text_taker& taker) {
  json_stream to(taker);
  put_profile(from, to, page_form::none);
  to.finish();
}

std::string to_page_json(const profile& from) {
  std::string made;
  json_stream to([&](std::string_view piece) { made += piece; }, true);
  put_profile(from, to, has_many_buckets(from) ? page_form::coarse : page_form::fine);
  to.finish();
  return made;
}

std::string to_json(const measured_ceilings& ceilings) { return make_json(ceilings); }
std::string to_json(const advice_report& report) { return make_json(report); }
std::string to_json(const levels_report& report) { return make_json(report); }

}  // namespace adaptyst::lib

namespace adaptyst { inline namespace v1 {

std::string to_json(const profile& profile) {
  std::string made;
  lib::write_json(profile, [&](std::string_view piece) { made += piece; });
  return made;
}

std::string to_json(const comparison& comparison) { return lib::make_json(comparison); }
std::string to_json(const diagnosis& diagnosis) { return lib::make_json(diagnosis); }

std::string to_json(const std::vector<inspection>& inspections) {
  std::string made;
  lib::json_stream to([&](std::string_view piece) { made += piece; });
  lib::json_writer<std::vector<inspection>>(to, inspections).put(inspections);
  to.finish();
  return made;
}

}}  // namespace adaptyst::v1
