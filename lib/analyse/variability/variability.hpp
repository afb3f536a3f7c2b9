// Finds where and when the same work took longer: windows, kernels or regions, devices or ranks.
//
// docs/variability.md has the definitions. Pure: parts come from lib/distribute/, which reads traces with threads and
// ranks.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_VARIABILITY_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_VARIABILITY_HPP

#include <cstdint>
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
  std::string host, trace;  // empty: unknown, or the only one
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
  std::uint64_t busy_ns = 0, copy_ns = 0, stall_ns = 0;
  std::optional<double> value;  // of the metric
  bool is_flagged = false;
  // The name with most of the window's time.
  std::string_view longest;
  double longest_share = 0;
};

struct variability_name {
  std::string name;
  std::uint32_t group = 0;
  std::uint64_t count = 0, min = 0, max = 0;
  double total = 0, mean = 0, std = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0, p99 = 0;
  double share = 0;  // share of the time of all names of its group
};

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
  variability_groups groups;                              // of all groups other than devices
  std::shared_ptr<const std::vector<std::string>> texts;  // texts that windows refer to
  std::vector<variability_window> windows;
  std::vector<std::size_t> top;  // indices of windows
  std::vector<variability_name> names;
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

// Makes the findings as sentences. `sums`: by group and name.
std::vector<variability_finding> find_findings(
    const variability_result& result, const std::map<std::pair<std::uint32_t, std::uint32_t>, const name_sums*>& sums);

variability_group find_group(const variability_result& in, std::uint32_t group);
// The label of a group: "GPU 3", "rank 3", "process 4711 of node7".
std::string group_name(const variability_result& in, std::uint32_t group);

// The value below which a share `q` of a histogram lies, within 3 %.
double histogram_quantile(const name_sums& of, double q);
constexpr double histogram_error = 0.03;

}  // namespace adaptyst::lib

#endif
