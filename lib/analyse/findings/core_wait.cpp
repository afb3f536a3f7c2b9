#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

namespace {

// A process that uses at least this share of its cores has too few of them for its threads.
constexpr double full = 0.9;

}  // namespace

// One finding for all regions, as they wait for the same cores.
void find_core_waits(const profile& in, findings& all_findings) {
  const region* worst = nullptr;
  double waited_ns = 0, could_run_ns = 0;
  std::uint64_t switches = 0;
  for (const region& row : in.regions) {
    const kernel_context* const own = own_context(row);
    if (own == nullptr) continue;
    const auto runnable_ns = static_cast<double>(own->runnable_ns);
    const double able_ns = runnable_ns + static_cast<double>(*own->on_cpu_ns());
    if (runnable_ns < min_part * able_ns || own->runnable_ns == 0) continue;
    waited_ns += runnable_ns;
    could_run_ns += able_ns;
    switches += own->involuntary_switches;
    if (worst == nullptr || own->runnable_ns > worst->self_context->runnable_ns) worst = &row;
  }
  if (worst == nullptr || !is_significant(waited_ns, compute_duration(in))) return;
  finding made = found_in(in, *worst, finding_kind::core_wait, waited_ns);
  made.count = switches;
  made.value = waited_ns / could_run_ns;
  made.against = min_part;
  const bool by_itself = !in.devices.empty() && in.devices[0].utilisation().value_or(0) >= full;
  made.next = by_itself ? next_step::use_fewer_threads : next_step::free_the_cores;
  all_findings.push_back(std::move(made));
}

}  // namespace adaptyst::lib
