#include "detectors.hpp"
#include "run.hpp"

namespace adaptyst::lib {

void find_io_waits(const profile& in, findings& all_findings) {
  const double run_ns = compute_duration(in);
  const own_contexts contexts(in);
  for (const region& row : in.regions) {
    const own_context* const own = contexts.find(row);
    if (own == nullptr || is_a_wait(row)) continue;
    const auto io_ns = static_cast<double>(own->of.io_ns);
    const double part = io_ns / static_cast<double>(own->of.wall_ns);
    if (part < min_part || !is_significant(io_ns, run_ns) || is_paging(own->of)) continue;
    finding made = found_in(in, row, finding_kind::io_wait, io_ns);
    made.count = own->of.voluntary_switches;
    made.known_part = own->known_part();
    made.value = part;
    made.against = min_part;
    made.next = next_step::do_larger_io;
    all_findings.push_back(std::move(made));
  }
}

}  // namespace adaptyst::lib
