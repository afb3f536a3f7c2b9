// A row of a profile: one call path on one device. Part of <adaptyst/profile.hpp>.
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
  offload,  // the host waits for the device's work
  wait,     // the host waits for devices
  kernel,   // from here on to other: an operation of a device
  copy_to,
  copy_from,
  fill,
  other,
  instant_event,
  function,  // without a marker
  metric,    // markers only: a profile stores it as an attribute of the enclosing region
};

// Statistics of a payload's member, or of a metric.
struct attribute {
  std::uint64_t count = 0;
  double sum = 0, min = 0, max = 0;
  std::uint64_t metrics = 0;  // part of count from ADAPTYST_METRIC; the sum of a level (memory in use) has no meaning

  void merge(const attribute& other);
};

// Allocations and frees of the C heap in a region, without nested regions: memory=heap. With a sampling interval, the
// figures are estimates, and have variances. Frees count where they happen, live bytes where they were allocated.
struct heap_usage {
  std::uint64_t sampling_interval_bytes = 0;  // mean distance of sampled bytes; 0: all allocations were counted
  std::uint64_t allocated_bytes = 0, allocations = 0;
  std::optional<std::uint64_t> freed_bytes, frees;  // absent: unknown, because blocks of the process were untracked
  std::optional<double> bytes_variance, allocations_variance, freed_variance, frees_variance;
  std::uint64_t live_bytes = 0, live_blocks = 0;  // allocated here, not freed until the end; without untracked blocks
  std::optional<double> live_variance;            // of live_bytes
  // The sum over the live bytes of the number of calls of this region that had ended on its thread at the allocation.
  double live_byte_calls = 0;
  // Live bytes of a process when they last reached a new maximum in this region; absent: not in this region, or blocks
  // were untracked. The greatest of all regions is the high-water mark. The variance is an upper limit.
  std::optional<std::uint64_t> high_water_bytes;
  std::optional<double> high_water_variance;
  std::optional<std::uint64_t> untracked_bytes;  // allocated, and the table of blocks was full: frees are unknown
  // Not counted: sampled allocations during an event of the recorder, for example in a signal handler; frees of sampled
  // blocks for the same reason.
  std::optional<std::uint64_t> nested_calls, unseen_frees;

  void merge(const heap_usage& other);
};

struct source_location {
  std::string file;
  std::uint32_t line = 0;
  std::string function;
};

// One call path on one device.
struct region {
  std::vector<std::string> path;  // names from the thread's root; with a payload's texts in brackets
  std::uint64_t id = 0;           // of path and device, equal in all processes with the same code
  std::uint64_t parent = 0;       // id of the parent path, 0 at the root
  source_location site;
  region_kind kind = region_kind::region;
  std::optional<adaptyst::level> level;  // level of its marker; absent: none
  std::uint32_t device = 0;              // index into profile::devices
  std::uint32_t threads = 0;             // threads that ran it; 0: unknown
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;  // without nested regions of the same thread
  // Absent if threads are not separate: the kernel sums them, and consecutive threads share a recorder.
  std::optional<thread_spread> per_thread;
  std::uint64_t min_ns = 0, max_ns = 0;
  histogram durations;
  std::map<std::string, attribute> attributes;
  std::optional<heap_usage> heap;     // absent: no allocation or free was recorded in it
  std::optional<double> overhead_ns;  // cost of observing it: events × cost of an event
  // If an overhead budget skipped events, count, total_ns, self_ns, durations and attributes are estimates. These are
  // the number of recorded events, and the variances of count and total_ns. Absent if all events were recorded.
  std::optional<std::uint64_t> timed_events;
  std::optional<double> count_variance, total_variance;
  // Duration of each budget step of its marker, in ns per process. Empty without an overhead budget.
  std::map<budget_step, std::uint64_t> measured_on;
  // Including, and excluding, nested regions. Absent without a scope, or without data from the kernel.
  std::optional<os_context> context, self_context;
  std::optional<std::uint64_t> samples;        // on a core, without nested regions; absent: not requested
  std::optional<rank_spread> across_ranks;     // absent: one rank or none
  std::optional<collective_waits> collective;  // absent: not an N-to-N collective, or not analysed
  std::optional<adaptyst::roofline> roofline;  // absent: flops, bytes or ceilings are unknown

  // A quantile of the durations, within [min_ns, max_ns]; empty without events.
  std::optional<std::uint64_t> quantile_ns(double q) const;
  // Standard errors of count and total_ns; empty if exact.
  std::optional<double> count_error() const;
  std::optional<double> total_error_ns() const;
};

// Names in files and tables.
const char* to_string(region_kind kind);
const char* to_string(level which);

}}  // namespace adaptyst::v1

#endif
