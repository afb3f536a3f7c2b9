// What an engine hands over: rows by the id of their path, and where each path and marker belongs.
#ifndef ADAPTYST_LIB_PROFILE_MEASURED_HPP
#define ADAPTYST_LIB_PROFILE_MEASURED_HPP

#include <adaptyst/histogram.h>
#include <adaptyst/probe_abi.h>

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace adaptyst::lib {

struct measured_site {
  std::string name, file, function, label;
  std::uint32_t line = 0;
  std::uint32_t kind = ADAPTYST_SITE_REGION;
  std::vector<std::string> attributes;
};

struct measured_path {
  std::uint64_t parent = 0;
  std::uint64_t site = 0;
  std::uint32_t device = 0;
  std::uint64_t marker = 0;  // from the kernel: the id by which the program knows it, if that is another
};

struct measured_row {
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0, self_ns = 0;
  std::uint64_t min_ns = ~std::uint64_t{0}, max_ns = 0;
  std::uint32_t threads = 0;
  histogram durations;
  std::vector<attribute> attributes;  // as the site names them
  std::optional<kernel_context> context, self_context;
  std::optional<std::uint64_t> samples;
};

// 4096 regions may be open on a thread, and one event lies above them.
constexpr std::size_t most_names_of_path = 4097;

using path_set = std::unordered_set<std::uint64_t>;  // by their ids

struct measured {
  std::unordered_map<std::uint64_t, measured_site> sites;
  std::unordered_map<std::uint64_t, measured_path> paths;
  std::unordered_map<std::uint64_t, measured_row> rows;
  account accounting;
};

constexpr bool is_instant(std::uint32_t kind) { return kind == ADAPTYST_SITE_METRIC || kind == ADAPTYST_SITE_MARK; }

// As region::kind says it; a metric has none there.
std::string site_kind_name(std::uint32_t kind);

// Adds the rows' numbers, whatever order they come in.
void add(measured_row& to, const measured_row& from);
void add(account& to, const account& from);
void add(measured& to, const measured& from);

// Functions without markers and markers know nothing of each other's times: sets the self time where they nest.
void settle_self_times(measured& in);

// States what the observing has cost the program. What a function without marker costs depends on its first instruction,
// and is not known.
void set_overhead(profile& in, double region_cost_ns);

}  // namespace adaptyst::lib

#endif
