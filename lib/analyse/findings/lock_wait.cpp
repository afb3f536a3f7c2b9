#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// A thread that waits alone, and this long each time, rather waits for the end of other threads' work than for a lock.
// That work is shown in the regions where it is done.
constexpr double max_lock_wait_ns = 10e6;

bool waits_for_others_to_end(const profile& in, const region& row, const kernel_context& own) {
  const bool is_one_thread_a_process = row.threads <= in.processes.size();
  return is_one_thread_a_process &&
         static_cast<double>(own.lock_ns) >= max_lock_wait_ns * static_cast<double>(own.voluntary_switches);
}

}  // namespace

void find_lock_waits(const profile& in, findings& all_findings) {
  const double run_ns = compute_duration(in);
  const own_contexts contexts(in);
  for (const region& row : in.regions) {
    const own_context* const own = contexts.find(row);
    if (own == nullptr || is_a_wait(row)) continue;
    const auto lock_ns = static_cast<double>(own->of.lock_ns);
    const double part = lock_ns / static_cast<double>(own->of.wall_ns);
    if (part < min_part || !is_significant(lock_ns, run_ns) || waits_for_others_to_end(in, row, own->of)) continue;
    finding made = found_in(in, row, finding_kind::lock_wait, lock_ns);
    made.count = own->of.voluntary_switches;
    made.known_part = own->known_part();
    made.value = part;
    made.against = min_part;
    made.next = next_step::hold_locks_shorter;
    all_findings.push_back(std::move(made));
  }
}

}  // namespace adaptyst::lib
