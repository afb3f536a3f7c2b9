// Finds threads that were ready without a free core: in the whole process or, if it had enough cores, in some regions.
#include <optional>
#include <utility>

#include "../../model/context.hpp"
#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// A process that uses at least this share of its cores has too few cores for its threads.
constexpr double full = 0.9;

bool are_found(const core_waits& waits, const profile& in) {
  return waits.waited_ns > 0 && waits.waited_ns >= min_part * waits.able_ns &&
         is_significant(waits.waited_ns, compute_duration(in));
}

// The share of the time in regions for which the context is known.
std::optional<double> find_part_of_regions(const profile& in, const own_contexts& contexts) {
  double known_ns = 0, all_ns = 0;
  for (const region& row : in.regions) {
    if (!in.is_host(row.device) || row.durations.count() == 0) continue;
    all_ns += static_cast<double>(row.self_ns);
    if (const own_context* const own = contexts.find(row)) known_ns += static_cast<double>(own->of.wall_ns);
  }
  return find_known_part(known_ns, all_ns);
}

}  // namespace

// One finding for all regions, because they wait for the same cores; its place is the region that waits longest.
void find_core_waits(const profile& in, findings& all_findings) {
  const own_contexts contexts(in);
  const std::optional<core_waits> whole = sum_core_waits(in);
  const bool is_whole = whole && are_found(*whole, in);
  core_waits found = is_whole ? *whole : core_waits{};
  const region none;  // outside all regions
  const region* worst = &none;
  std::uint64_t longest_ns = 0;
  for (const region& row : in.regions) {
    const own_context* const own = contexts.find(row);
    if (own == nullptr) continue;
    const auto waited_ns = static_cast<double>(own->of.runnable_ns);
    const double able_ns = waited_ns + static_cast<double>(own->on_cpu_ns);
    if (!is_whole) {
      if (waited_ns < min_part * able_ns) continue;
      found.waited_ns += waited_ns;
      found.able_ns += able_ns;
      found.switches += own->of.involuntary_switches;
    }
    if (own->of.runnable_ns <= longest_ns) continue;
    longest_ns = own->of.runnable_ns;
    worst = &row;
  }
  if (!are_found(found, in)) return;
  finding made = found_in(in, *worst, finding_kind::core_wait, found.waited_ns);
  made.count = found.switches;
  const bool is_lossy = in.context && !in.context->lost.empty();
  if (!is_whole || is_lossy) made.known_part = find_part_of_regions(in, contexts);
  made.value = found.waited_ns / found.able_ns;
  made.against = min_part;
  const bool by_itself = !in.devices.empty() && in.devices[0].utilisation().value_or(0) >= full;
  made.next = by_itself ? next_step::use_fewer_threads : next_step::free_the_cores;
  all_findings.push_back(std::move(made));
}

}  // namespace adaptyst::lib
