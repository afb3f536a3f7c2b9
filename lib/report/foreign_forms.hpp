// The profile in the forms of other tools: docs/formats.md has the readers, and what each form loses.
#ifndef ADAPTYST_LIB_REPORT_FOREIGN_FORMS_HPP
#define ADAPTYST_LIB_REPORT_FOREIGN_FORMS_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>

namespace adaptyst::lib {

// For pprof, gzip. Sample types: calls, time, self, on-core, blocked, bytes; a type of which no row has a figure is
// absent. `self` is the default, since it adds up along a stack; `time` includes nested regions already.
std::string to_pprof(const profile& from);

// For Prometheus. text: version 0.0.4 of its text format, which the text-file collector reads. open_metrics: 1.0.0.
enum class metrics_syntax { text, open_metrics };
// Regions with their own series: the greatest in time. The others are summed, and counted.
constexpr std::size_t max_metrics_regions = 200;
// `listed`: regions that had their own series earlier, and keep them: a sum that loses a region would decrease, which
// counters of Prometheus must not.
using metrics_regions = std::unordered_set<std::uint64_t>;
std::string to_metrics(const profile& from, metrics_syntax syntax, metrics_regions& listed);

// For Hatchet and Thicket: Caliper's text format, with a record for each call path.
std::string to_caliper(const profile& from);

// For `talp ci-report`: the JSON of DLB's TALP. Unknown figures are absent.
std::string to_talp(const profile& from);

}  // namespace adaptyst::lib

#endif
