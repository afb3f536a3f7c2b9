#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// The least time of a fault with its page in memory: to enter the kernel and to clear 4 KiB.
constexpr double min_fault_ns = 500;
// This many faults take a tenth of the time on a core.
constexpr double min_faults_per_s = 0.1 * 1e9 / min_fault_ns;
// A region with few runs touches its memory for the first time; such page faults cannot be avoided.
constexpr std::uint64_t min_runs = 10;

void find_first_touches(const profile& in, const region& row, const own_context& own, findings& all_findings) {
  const std::uint64_t faults = own.of.minor_faults.value_or(0);
  const auto on_core_ns = static_cast<double>(own.on_cpu_ns);
  if (on_core_ns <= 0 || row.count < min_runs) return;
  const double a_second = static_cast<double>(faults) * 1e9 / on_core_ns;
  const double time_ns = static_cast<double>(faults) * min_fault_ns;
  if (a_second < min_faults_per_s || !is_significant(time_ns, compute_duration(in))) return;
  finding made = found_in(in, row, finding_kind::page_faults, time_ns);
  made.count = faults;
  made.known_part = own.known_part();
  made.unit = finding_unit::per_second;
  made.value = a_second;
  made.against = min_faults_per_s;
  made.next = next_step::reuse_memory;
  all_findings.push_back(std::move(made));
}

// Finds pages that are read from a disk; they block the thread.
void find_paging(const profile& in, const region& row, const own_context& own, findings& all_findings) {
  const std::uint64_t faults = own.of.major_faults.value_or(0);
  const auto blocked_ns = static_cast<double>(own.of.io_ns + own.of.other_ns);
  const double part = blocked_ns / static_cast<double>(own.of.wall_ns);
  if (!is_paging(own.of) || part < min_part || !is_significant(blocked_ns, compute_duration(in))) return;
  finding made = found_in(in, row, finding_kind::page_faults, blocked_ns);
  made.count = faults;
  made.known_part = own.known_part();
  made.value = part;
  made.against = min_part;
  made.next = next_step::need_less_memory;
  all_findings.push_back(std::move(made));
}

}  // namespace

void find_page_faults(const profile& in, findings& all_findings) {
  const own_contexts contexts(in);
  for (const region& row : in.regions) {
    const own_context* const own = contexts.find(row);
    if (own == nullptr) continue;
    find_first_touches(in, row, *own, all_findings);
    find_paging(in, row, *own, all_findings);
  }
}

}  // namespace adaptyst::lib
