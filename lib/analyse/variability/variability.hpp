// Finds where and when the same work took longer: windows, kernels or regions, devices or ranks.
//
// docs/variability.md has the definitions. Pure: parts come from lib/distribute/, which reads traces with threads and
// ranks.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_VARIABILITY_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_VARIABILITY_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device_efficiency.hpp"
#include "host_efficiency.hpp"
#include "parts.hpp"

namespace adaptyst::lib {

enum class variability_metric { duration, stall, busy, launch_gap };
enum class variability_by { device, kernel, region, rank };

struct variability_settings {
  variability_metric metric = variability_metric::duration;
  variability_by by = variability_by::device;
  double iqr = 1.5;
  std::uint64_t top = 10;
  bool has_regions = false;  // analyses regions instead of device work

  // A copy belongs to a device or a process, so stalls are unknown by name and for regions.
  bool has_stalls() const noexcept { return !by_name() && !has_regions; }
  bool by_name() const noexcept { return by == variability_by::kernel || by == variability_by::region; }
};

// The meaning of a group. By device or kernel, groups are device numbers and need no description.
struct variability_group {
  enum class kind { device, rank, process };
  kind what = kind::device;
  std::uint64_t number = 0;
  std::string host, trace;                 // empty: unknown, or the only one
  std::optional<std::uint32_t> user_rank;  // of a device: the only rank that uses it
};

using variability_groups = std::map<std::uint32_t, variability_group>;

// There may be millions of windows with few names, so the texts are in the result.
struct variability_window {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t group = 0;
  std::string_view name;  // empty: windows differ by group
  std::uint64_t count = 0;
  double mean = 0, std = 0, p50 = 0, p95 = 0;
  std::uint64_t min = 0, max = 0;
  std::uint64_t busy_ns = 0, copy_ns = 0, stall_ns = 0, active_ns = 0;
  std::uint64_t copied_bytes = 0;  // by find_copied_bytes()
  std::optional<double> value;     // of the metric
  bool is_flagged = false, has_unknown_bytes = false;
  std::uint32_t reason = no_reason;  // index of the reason of a flag
  // The name with most of the window's time.
  std::string_view longest;
  double longest_share = 0;

  static constexpr std::uint32_t no_reason = std::numeric_limits<std::uint32_t>::max();
};

// A kernel or region that took longer in a window than in windows without a flag.
struct variability_cause {
  std::string_view name;
  std::uint32_t group = 0;
  std::uint64_t count = 0;  // in the window
  double mean = 0, usual_mean = 0;
  double extra_ns = 0;  // of all its spans in the window
  double share = 0;     // share of the extra time of the window
  double z = 0;         // extra time in standard errors
};

// A quantity of a window. `usual`: the median of its device or rank.
struct variability_measure {
  double value = 0, usual = 0;
  bool is_unusual = false;
};

// Numbers and causes of a flag.
struct variability_reason {
  std::size_t window = 0;        // index of the window
  double usual = 0;              // median of the values of the series
  std::optional<double> effect;  // value over usual
  std::optional<double> z;       // difference from the median in standard deviations; empty: the series does not vary
  double z_limit = 0;
  std::uint64_t compared = 0;  // windows of the series
  // Time above that of the same kernels in windows without a flag; empty: none of them runs there.
  std::optional<double> extra_ns;
  std::vector<variability_cause> kernels;  // with most extra time first
  std::uint64_t other_kernels = 0;         // further ones
  std::optional<variability_measure> copied_bytes, copy_time, launch_gap, starts;
  std::string text;
};

struct variability_name {
  std::string name;
  std::uint32_t group = 0;
  std::uint64_t count = 0, min = 0, max = 0;
  double total = 0, mean = 0, std = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0, p99 = 0;
  double share = 0;                       // share of the time of all names of its group
  double log_mean = 0, log_variance = 0;  // of log2 of the durations
};

// The copies of a device, rank or process in a direction.
struct variability_copies {
  std::uint32_t group = 0;
  std::optional<copy_direction> direction;  // empty: unknown
  std::uint64_t count = 0;
  double total_ns = 0;                 // sum of durations; copies may overlap
  std::optional<std::uint64_t> bytes;  // empty: unknown for a copy
};

// A kernel that starts later after longer copies, over windows of a device: a correlation, which is not a cause.
struct variability_wait {
  std::string name;
  std::uint32_t group = 0;
  std::uint64_t windows = 0, count = 0;  // `count`: kernels that followed a copy
  double r = 0, limit = 0;               // Pearson's coefficient of the logarithms of means, and what chance reaches
  double copy_ns = 0, delay_ns = 0;      // means
};
constexpr std::uint64_t min_wait_windows = 10;
constexpr double least_wait_r = 0.5;

// The ratio of a group's durations to those of the other groups, for the same names.
struct group_difference {
  std::uint32_t group = 0;
  double ratio = 1;
  std::optional<double> z;  // of the logarithm, in standard errors; empty: nothing varies
  bool is_slow() const noexcept;
};
// The ratio from a difference of natural logarithms and its standard error.
group_difference make_difference(std::uint32_t group, double slower, double error);
// A difference counts from this ratio (least_ratio in flags.hpp) and this z on. Names with fewer spans are not compared.
constexpr double least_errors = 6;
constexpr std::uint64_t min_compared_count = 30;

// Tukey's fences of one series of windows, in the unit of the values.
struct variability_fences {
  std::uint32_t group = 0;
  std::string name;
  std::uint64_t count = 0;  // number of windows
  fences at;
};

enum class variability_finding_kind { slow_windows, stalls, slow_group, stalls_go_with_slowness };

struct variability_finding {
  variability_finding_kind kind = variability_finding_kind::slow_windows;
  std::optional<std::uint32_t> group;
  double value = 0;  // unit by kind: windows, share of time, ratio, correlation
  std::string text;
};

struct rank_work {
  std::uint32_t rank = 0;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // sent to other ranks
  double seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
};

struct variability_result {
  variability_settings settings;
  window_grid grid;
  std::vector<std::string> traces;
  bool is_simulated = false;
  std::vector<std::string> remarks;                       // missing and omitted parts
  variability_groups groups;                              // of devices, only those with a known rank
  std::shared_ptr<const std::vector<std::string>> texts;  // texts that windows refer to
  std::vector<variability_window> windows;
  std::vector<variability_reason> reasons;  // in the order of windows
  std::vector<std::size_t> top;             // indices of windows
  std::vector<variability_name> names;
  std::vector<variability_copies> copies;      // by group and direction
  std::vector<variability_wait> waits;         // longest delay first; by device only
  std::vector<group_difference> differences;   // of groups that share names with other groups
  std::map<std::uint32_t, std::string> uuids;  // of devices that have one
  std::vector<variability_fences> fence_list;
  std::optional<double> pearson, spearman;
  std::uint64_t pairs = 0;
  std::optional<device_efficiencies> efficiency;     // by device only
  std::optional<host_efficiencies> host_efficiency;  // by device only, if host calls are known
  std::vector<variability_finding> findings;
  std::vector<rank_work> ranks;
  // First start and last end of the whole trace.
  std::uint64_t first_ns = 0, last_ns = 0;
};

// Compares all windows. `names`: by the name numbers of the parts. Throws error if idle windows have to be compared and
// are too many.
variability_result find_variability(variability_parts parts, const std::vector<std::string>& names, window_grid grid,
                                    const variability_settings& settings, variability_groups groups = {});

using sums_by_name = std::map<std::pair<std::uint32_t, std::uint32_t>, const name_sums*>;  // by group and name
std::vector<group_difference> find_differences(const sums_by_name& sums);
// Makes the findings as sentences.
std::vector<variability_finding> find_findings(const variability_result& result);

// Whether the trace covers at least 99 % of a window.
bool is_whole(const variability_result& in, const variability_window& window);
// Time without copies and kernels for each kernel. Empty: unknown, or the window is not whole.
std::optional<double> find_launch_gap(const variability_result& in, const variability_window& window);
// By copies that start in the window. Empty: unknown.
std::optional<std::uint64_t> find_copied_bytes(const variability_result& in, const variability_window& window);

variability_group find_group(const variability_result& in, std::uint32_t group);
// The label of a group: "GPU 3", "rank 3", "process 4711 of node7".
std::string group_name(const variability_result& in, std::uint32_t group);

// The value below which a share `q` of a histogram lies, within 3 %.
double histogram_quantile(const name_sums& of, double q);
constexpr double histogram_error = 0.03;

}  // namespace adaptyst::lib

#endif
