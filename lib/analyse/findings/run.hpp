// What all findings are compared with: the run, and bounds below which nothing is reported.
#ifndef ADAPTYST_LIB_ANALYSE_FINDINGS_RUN_HPP
#define ADAPTYST_LIB_ANALYSE_FINDINGS_RUN_HPP

#include <adaptyst/profile/findings.hpp>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace adaptyst::lib {

// One run differs from the next by more than this share: a smaller gain would not show.
constexpr double min_share = 0.02;
// A gain of some milliseconds would not be noticed.
constexpr double min_time_ns = 10e6;
// A region or device that loses less than a fifth of its own time mostly does its work.
constexpr double min_part = 0.2;
// The standard error of a count of independent events is its root: of ten or more, less than a third.
constexpr std::uint64_t min_events = 10;

// The duration of the run, summed over processes.
double compute_duration(const profile& profile);

// Whether a time is enough of `whole`, and enough at all. False where there is no whole.
bool is_significant(double time_ns, double whole_ns);

// A finding in a region, with its time as a share of the run.
finding found_in(const profile& profile, const region& row, finding_kind kind, double time_ns);
// A finding on a device, with its time as a share of the time for which the device was observed.
finding found_on(const profile& profile, std::uint32_t device, finding_kind kind, double time_ns);

// The standard error of a rank's time in a region, the root of the mean square of all ranks; 0 where times are exact.
double find_rank_error(const region& row);

// Whether the region of a finding is nested in that of another.
bool is_below(const finding& inner, const finding& outer);

// The kernel's context of a region without those nested in it, but with nested ones that an overhead budget has thinned:
// what happened in these cannot be told apart.
struct own_context {
  kernel_context of;
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t expected_ns = 0;  // that it would describe if all were known

  // Empty: all of it is known.
  std::optional<double> known_part() const;
};
class own_contexts {
 public:
  explicit own_contexts(const profile& in);
  // Null if there is none, or if it is not complete.
  const own_context* find(const region& row) const;

 private:
  std::unordered_map<const region*, own_context> all_;
};
// Empty where all is known, to within a hundredth.
std::optional<double> find_known_part(double known_ns, double all_ns);

// Whether what it waits for are pages that are read from a disk.
bool is_paging(const kernel_context& own);

// Whether the purpose of the region is to wait: of the host for a device, of a rank for others.
bool is_a_wait(const region& row);

}  // namespace adaptyst::lib

#endif
