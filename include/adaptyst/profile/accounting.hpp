// All events: counted, lost for a reason, left out by a budget. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_ACCOUNTING_HPP
#define ADAPTYST_PROFILE_ACCOUNTING_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace adaptyst { inline namespace v1 {

// Why something is not in the figures. Files call them by these names.
enum class loss_reason {
  // Reasons for lost events: docs/design.md, The account.
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
  // Reasons for lost context and samples: docs/context.md, docs/samples.md.
  unreadable,
  other_layout,
  no_wakeup,
  counter_interrupts,
  stacks_full,
  truncated,
  clock_stopped,
  processors,
  not_announced,
  other,  // read from a file of a later version, which has more reasons
};
using losses = std::map<loss_reason, std::uint64_t>;  // those that did not occur are absent

// How a marker's events were recorded while an overhead budget was kept; the later, the cheaper.
struct budget_step {
  bool in_kernel = false;    // with a trap an event; otherwise by the program's own recorder
  std::uint64_t one_of = 1;  // how many events one was recorded of

  friend bool operator==(const budget_step& a, const budget_step& b) {
    return a.in_kernel == b.in_kernel && a.one_of == b.one_of;
  }
  friend bool operator<(const budget_step& a, const budget_step& b) {
    return a.in_kernel != b.in_kernel ? a.in_kernel : a.one_of < b.one_of;
  }
};

// Events in the file of a timeline, and events that are not in it.
struct timeline_usage {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;  // for which there was no room in a thread's ring, or in the file
  // Left out: values of metrics that had not changed since the first; events of regions that the overhead budget thinned
  // (an estimate); events that came when the file had the size of options::timeline_limit.
  std::uint64_t unchanged = 0, thinned = 0, beyond_limit = 0;
};

// Programs that ended without a notice; the unread contents of their recorders are lost.
struct unread_programs {
  std::uint64_t programs = 0;
  std::uint64_t up_to_ns = 0;  // between the last reading and the end, at most
};

// Programs that could not be looked into: their memory is not to be read, or markers in them were built with other
// headers.
struct refused_programs {
  std::uint64_t programs = 0;
  std::string why;  // a reason; of a merged profile all, joined by " | "
};

// An overhead budget, in nanoseconds of CPU time: the time used by the observed processes, the part allowed for observing,
// and the cost of observing: events (each at its cost in an empty loop), context and
// samples.
struct budget_usage {
  double cpu_ns = 0;
  double allowed_ns = 0;
  double cost_ns = 0;

  // By more than a third.
  bool is_missed() const;
};

// begun = ended + open + the sum of lost, always.
struct account {
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t open = 0;
  losses lost;
  std::uint64_t unmatched = 0;  // begins without an end (they are among the lost), and ends without a begin
  std::uint64_t unnamed = 0;    // call paths that were counted, but could not be named at the time
  std::optional<double> overhead_ns;
  std::optional<unread_programs> unread;  // its losses are estimated in "not_read"; begun is then an estimate
  // Their losses are unknown: the lost events contain one "not_read" for each program.
  std::optional<refused_programs> refused;
};

// As files and tables have them.
const char* to_string(loss_reason reason);
std::string to_string(const budget_step& step);

}}  // namespace adaptyst::v1

#endif
