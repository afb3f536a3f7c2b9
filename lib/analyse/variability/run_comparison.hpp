// Compares the same kernels over several runs and devices: which part of the variation is between runs, which run is
// slow, and which device is slow in every run. Pure.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_RUN_COMPARISON_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_RUN_COMPARISON_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "variability.hpp"

namespace adaptyst::lib {

struct compared_run {
  std::string trace;
  std::uint64_t count = 0;  // spans
  double total_ns = 0;
  std::uint64_t windows = 0, flagged = 0;
  std::optional<group_difference> difference;  // from the other runs; empty: no name on the same device runs elsewhere
  bool is_slow = false;
};

// A device, or a rank, in all runs. `is_slow`: in every run.
struct compared_group {
  variability_group about;
  std::string label;
  struct in_run {
    std::size_t run = 0;
    group_difference difference;
  };
  std::vector<in_run> runs;  // in which it has the same work as other groups
  std::uint64_t slow_runs = 0;
  std::optional<double> least_ratio, least_z;  // over these runs
  bool is_slow = false;
};

// A run's durations of a name over the geometric mean of all runs, with a 95 % interval; empty: too few spans.
struct run_ratio {
  std::size_t run = 0;
  double ratio = 1;
  std::optional<double> low, high;
};

// A kernel or region. Variations are standard deviations of natural logarithms, so 0.1 is 10 %.
struct compared_name {
  std::string name;
  std::uint64_t count = 0, runs = 0, groups = 0;
  double total_ns = 0, mean_ns = 0;
  std::optional<double> within;          // on one device in one run
  std::optional<double> between_runs;    // of the means of runs; empty: fewer than two runs
  std::optional<double> between_groups;  // of the means of devices; empty: fewer than two devices
  std::optional<double> ratio;           // slowest run over fastest run, of geometric means
  std::optional<std::size_t> slowest, fastest;
  std::vector<run_ratio> of_runs;  // on the devices that have it in each of its runs; empty as for between_runs
};

enum class run_finding_kind { slow_in_every_run, slow_run };

struct run_finding {
  run_finding_kind kind = run_finding_kind::slow_in_every_run;
  std::optional<std::size_t> group, run;  // by kind
  double value = 0;                       // ratio
  std::string text;
};

struct run_comparison {
  variability_by by = variability_by::device;
  bool has_regions = false, is_simulated = false;
  std::vector<std::string> remarks;
  std::vector<compared_run> runs;
  std::vector<compared_group> groups;
  std::vector<compared_name> names;  // by time, longest first
  std::vector<run_finding> findings;
};

class run_comparer {
 public:
  // One run after the other; keeps only the statistics of its names.
  void add(const std::string& trace, const variability_result& run);
  run_comparison finish();

 private:
  struct cell {
    std::size_t run = 0, group = 0, name = 0;
    double count = 0, log_mean = 0, log_variance = 0;  // natural logarithms
  };
  std::size_t find_group(const variability_result& run, std::uint32_t group);
  std::size_t find_name(const std::string& name);
  void compare_names();
  void compare_runs();
  void compare_groups();

  run_comparison made_;
  std::vector<cell> cells_;
  std::map<std::string, std::size_t> identities_, name_places_;  // places in groups and names
  std::set<std::string> labels_;                                 // of groups
};

}  // namespace adaptyst::lib

#endif
