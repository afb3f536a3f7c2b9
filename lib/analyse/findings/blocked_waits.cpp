// Finds regions in which threads wait for a lock or for I/O.
#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// If a single thread waits this long each time, it probably waits for other threads to finish, not for a lock. The
// regions of these threads show that work.
constexpr double max_lock_wait_ns = 10e6;

bool waits_for_others_to_end(const profile& in, const region& row, const os_context& own) {
  const bool is_one_thread_a_process = row.threads <= in.processes.size();
  return is_one_thread_a_process &&
         static_cast<double>(own.lock_ns) >= max_lock_wait_ns * static_cast<double>(own.voluntary_switches);
}

// Adds the regions that wait in this way for min_part of their time. `is_another`: whether the wait has another cause.
template <class IsAnother>
void add_waits(const profile& in, finding_kind kind, std::uint64_t os_context::*waited, next_step next,
               const IsAnother& is_another, findings& all_findings) {
  const double run_ns = compute_duration(in);
  const own_contexts contexts(in);
  for (const region& row : in.regions) {
    const own_context* const own = contexts.find(row);
    if (own == nullptr || is_a_wait(row)) continue;
    const auto waited_ns = static_cast<double>(own->of.*waited);
    const double part = waited_ns / static_cast<double>(own->of.wall_ns);
    if (part < min_part || !is_significant(waited_ns, run_ns) || is_another(row, own->of)) continue;
    finding made = found_in(in, row, kind, waited_ns);
    made.count = own->of.voluntary_switches;
    made.known_part = own->known_part();
    made.value = part;
    made.against = min_part;
    made.next = next;
    all_findings.push_back(std::move(made));
  }
}

}  // namespace

void find_lock_waits(const profile& in, findings& all_findings) {
  const auto is_a_join = [&in](const region& row, const os_context& own) {
    return waits_for_others_to_end(in, row, own);
  };
  add_waits(in, finding_kind::lock_wait, &os_context::lock_ns, next_step::hold_locks_shorter, is_a_join, all_findings);
}

void find_io_waits(const profile& in, findings& all_findings) {
  const auto is_of_pages = [](const region& /*row*/, const os_context& own) { return is_paging(own); };
  add_waits(in, finding_kind::io_wait, &os_context::io_ns, next_step::do_larger_io, is_of_pages, all_findings);
}

}  // namespace adaptyst::lib
