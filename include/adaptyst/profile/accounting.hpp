// Account of events: counted, lost by reason, skipped by a budget. Part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_ACCOUNTING_HPP
#define ADAPTYST_PROFILE_ACCOUNTING_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace adaptyst { inline namespace v1 {

// Reasons for missing data. Files use these names.
enum class loss_reason {
  // Lost events: docs/design.md, The account.
  too_deep,
  rows_full,
  tables_full,
  no_memory,
  in_signal,
  bad_times,
  no_times,
  unknown_clock,
  device_lost,
  unmatched,
  kernel_rows_full,
  kernel_no_memory,
  kernel_busy,
  not_delivered,
  not_read,
  function_too_deep,
  // Lost context and samples: docs/context.md, docs/samples.md.
  unreadable,
  other_layout,
  no_wakeup,
  counter_interrupts,
  stacks_full,
  truncated,
  clock_stopped,
  processors,
  not_announced,
  sample_ring_full,
  throttled,
  region_unknown,
  too_many_threads,
  not_unwound,
  signal_in_use,
  not_attached,
  other,  // a reason that only a later version knows
};
using losses = std::map<loss_reason, std::uint64_t>;  // without reasons that did not occur

// How a marker's events are recorded under an overhead budget; later steps are cheaper.
struct budget_step {
  bool is_in_kernel = false;  // with a trap per event; otherwise by the program's recorder
  std::uint64_t one_of = 1;   // one of this many events is recorded

  friend bool operator==(const budget_step& a, const budget_step& b) {
    return a.is_in_kernel == b.is_in_kernel && a.one_of == b.one_of;
  }
  friend bool operator<(const budget_step& a, const budget_step& b) {
    return a.is_in_kernel != b.is_in_kernel ? a.is_in_kernel : a.one_of < b.one_of;
  }
};

// Events in the file of a timeline, and events missing from it.
struct timeline_usage {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;  // no room in a thread's ring or in the file
  // Skipped: unchanged values of metrics; events of regions with event sampling (an estimate); events beyond
  // options::timeline_limit.
  std::uint64_t unchanged = 0, sampled_out = 0, beyond_limit = 0;
};

// Programs that ended without notice. Unread contents of their recorders are lost.
struct unread_programs {
  std::uint64_t programs = 0;
  std::uint64_t up_to_ns = 0;  // upper bound of the time between last read and end
};

// Programs that could not be read: no permission to read their memory, or markers built with other headers.
struct refused_programs {
  std::uint64_t programs = 0;
  std::string why;  // a reason; in a merged profile all, joined by " | "
};

// An overhead budget in ns of CPU time: used by the observed processes, allowed for observing, and spent on observing:
// events (each at its cost in an empty loop), context and samples.
struct budget_usage {
  double cpu_ns = 0;
  double allowed_ns = 0;
  double cost_ns = 0;

  // By more than a third.
  bool is_exceeded() const;
};

// Always: begun = ended + open + sum of lost.
struct account {
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t open = 0;
  losses lost;
  std::uint64_t unmatched = 0;  // begins without an end (also in lost), and ends without a begin
  std::uint64_t unnamed = 0;    // counted call paths without an available name
  std::optional<double> overhead_ns;
  std::optional<unread_programs> unread;  // its losses are estimated in "not_read"; begun is then an estimate
  // Their losses are unknown: lost contains one "not_read" per program.
  std::optional<refused_programs> refused;
};

// Names in files and tables.
const char* to_string(loss_reason reason);
std::string to_string(const budget_step& step);

}}  // namespace adaptyst::v1

#endif
