// The run that all findings refer to, and thresholds below which nothing is reported.
#ifndef ADAPTYST_LIB_ANALYSE_FINDINGS_RUN_HPP
#define ADAPTYST_LIB_ANALYSE_FINDINGS_RUN_HPP

#include <adaptyst/profile/findings.hpp>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace adaptyst::lib {

// Runs differ from each other by this share, so a smaller gain is not visible.
constexpr double min_share = 0.02;
// A gain of some milliseconds is not noticeable.
constexpr double min_time_ns = 10e6;
// A region or device that loses less than this share of its time mostly works.
constexpr double min_part = 0.2;
// The standard error of a count of independent events is its root: less than a third for ten or more.
constexpr std::uint64_t min_events = 10;

// The duration of the run, summed over processes.
double compute_duration(const profile& profile);

// Whether a time reaches both thresholds: the share of `whole` and the minimum. False if `whole` is 0.
bool is_significant(double time_ns, double whole_ns);

// A finding in a region, with its time as a share of the run.
finding found_in(const profile& profile, const region& row, finding_kind kind, double time_ns);
// A finding on a device, with its time as a share of the time for which the device was observed.
finding found_on(const profile& profile, std::uint32_t device, finding_kind kind, double time_ns);

// The standard error of a rank's time in a region: the root of the mean square over all ranks; 0 if times are exact.
double find_rank_error(const region& row);

// Whether the region of a finding is nested in that of another.
bool is_below(const finding& inner, const finding& outer);

// The kernel's context of a region without nested regions. Nested regions with sampled events remain included, because
// their context is unknown.
struct own_context {
  os_context of;
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t expected_ns = 0;  // the time that a complete context would cover

  // Empty: everything is known.
  std::optional<double> known_part() const;
};
class own_contexts {
 public:
  explicit own_contexts(const profile& in);
  // Null if the context is missing or incomplete.
  const own_context* find(const region& row) const;

 private:
  std::unordered_map<const region*, own_context> all_;
};
// Empty if at least 99 % is known.
std::optional<double> find_known_part(double known_ns, double all_ns);

// Whether a region waits for pages that are read from a disk.
bool is_paging(const os_context& own);

// Whether the purpose of the region is to wait: the host for a device, a rank for others.
bool is_a_wait(const region& row);

}  // namespace adaptyst::lib

#endif
