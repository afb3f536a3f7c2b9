// A row of a profile: one call path on one device. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_REGION_HPP
#define ADAPTYST_PROFILE_REGION_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../detail/level.hpp"
#include "accounting.hpp"
#include "ceilings.hpp"
#include "context.hpp"
#include "histogram.hpp"
#include "ranks.hpp"

namespace adaptyst { inline namespace v1 {

enum class region_kind {
  region,
  offload,  // the host waits for what a device does
  wait,     // the host waits for devices
  kernel,   // from here on to other: an operation of a device
  copy_to,
  copy_from,
  fill,
  other,
  mark,
  function,  // without a marker
  metric,    // of markers alone: in a profile it is an attribute of the region around it
};

// The values of a payload's member, or of a metric, over all events that had it.
struct attribute {
  std::uint64_t count = 0;
  double sum = 0, min = 0, max = 0;
  std::uint64_t metrics = 0;  // of count: from ADAPTYST_METRIC. The sum of a level (memory in use) has no meaning

  void merge(const attribute& other);
};

struct source_location {
  std::string file;
  std::uint32_t line = 0;
  std::string function;
};

// One call path on one device.
struct region {
  std::vector<std::string> path;  // names from the root of the thread; a payload's texts in brackets behind the name
  std::uint64_t id = 0;           // of the path and device, equal in all processes that run the same code
  std::uint64_t parent = 0;       // the id of the path above, 0 at the root
  source_location site;
  region_kind kind = region_kind::region;
  std::optional<adaptyst::level> level;  // that its marker gives itself; absent: none
  std::uint32_t device = 0;              // an index into profile::devices
  std::uint32_t threads = 0;             // how many ran it; 0: not known
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;  // without nested regions of the same thread
  // Absent where no thread's time is known by itself: the kernel adds them up, and threads that run one after another
  // share a recorder.
  std::optional<thread_spread> per_thread;
  std::uint64_t min_ns = 0, max_ns = 0;
  histogram durations;
  std::map<std::string, attribute> attributes;
  std::optional<double> overhead_ns;  // what observing it cost: events × what one costs
  // If an overhead budget has left out events of the row, count, total_ns, self_ns, durations and
  // attributes are estimates. These are the number of timed events, and the variances of count and total_ns. Absent if all
  // events were timed.
  std::optional<std::uint64_t> timed_events;
  std::optional<double> count_variance, total_variance;
  // How long its marker was recorded how, in ns of each process. Empty without an overhead budget.
  std::map<budget_step, std::uint64_t> measured_on;
  // Absent for what is bound to no scope, and where the kernel was not asked. With nested regions; without.
  std::optional<kernel_context> context, self_context;
  std::optional<std::uint64_t> samples;        // on a core, without nested regions; absent: none were asked for
  std::optional<rank_spread> across_ranks;     // absent: of one rank, or of none
  std::optional<joint_waits> joint;            // absent: it is no such call, or it was not looked at
  std::optional<adaptyst::roofline> roofline;  // absent: flops, bytes or ceilings are not known

  // A quantile of the durations, within [min_ns, max_ns]; empty when nothing was counted.
  std::optional<std::uint64_t> quantile_ns(double q) const;
  // Standard errors of count and total_ns; empty where neither is an estimate.
  std::optional<double> count_error() const;
  std::optional<double> total_error_ns() const;
};

// As files and tables have them.
const char* to_string(region_kind kind);
const char* to_string(level which);

}}  // namespace adaptyst::v1

#endif
