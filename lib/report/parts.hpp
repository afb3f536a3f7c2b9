// Parts of a report that the table, the HTML report and Markdown share.
#ifndef ADAPTYST_LIB_REPORT_PARTS_HPP
#define ADAPTYST_LIB_REPORT_PARTS_HPP

#include <adaptyst/compare.hpp>
#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../model/memory_spaces.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

// ---- subject.cpp ----
// The subject of a report.

// The processes and their duration: "16 ranks on 4 hosts, 32.1 s in sum"; empty: no process is known.
std::string describe_subject(const profile& profile);

// ---- account_text.cpp ----
// The account of events, the cost of observing, estimates and missing data.

// Missing figures and estimates: lost events, programs and ranks, and a budget that was missed or kept by skipping
// events. The worst first; empty: none.
std::vector<std::string> list_what_is_missing(const profile& profile);

// The whole account, in sentences.
std::string account_text(const profile& profile, std::size_t line_columns);
// The sum of the account, in one line; "…" replaces what does not fit.
std::string account_line(const profile& profile, std::size_t line_columns);
// Warnings from the account and the context: losses, estimates, and the signal that killed a program.
std::string warning_text(const profile& profile, std::size_t line_columns);
// Lines on context, samples and timelines: losses and written files.
std::string context_lines(const profile& profile, std::size_t line_columns);

// ---- loss_advice.cpp ----
// Advice on lost events.

// For each reason, in the order of loss_reason, a sentence that begins with its name: the cause, the region if it is
// known, and the remedy. Reasons that the report explains elsewhere are omitted.
std::vector<std::string> advice_on_losses(const profile& profile);
// "no_wakeup: the kernel did not report when …": a sentence for each reason for which context or samples are missing.
std::vector<std::string> explain_context_losses(const losses& lost);

// ---- finding_list.cpp ----
// Findings in words.

// A finding: the slow part, the share of the run with its basis, and the advice. `place`: ", above all in REGION",
// empty if the sentence names the region.
struct finding_words {
  std::string sentence, evidence, place, advice;
  double share = 0;  // of the run
};

// All findings, in the order of analyse().
std::vector<finding_words> put_findings_in_words(const profile& profile);

// The findings with the largest shares of the run, with advice, and the number of other findings; ends in an empty
// line. Empty: there are none.
std::string finding_list(const profile& profile, std::size_t line_columns, bool has_colour);

// ---- region_table.cpp ----
// The table of regions: a row for each call path and device, its payloads, and the meaning of the columns.

struct region_table_text {
  std::string rows;
  std::string legend;  // one line, unless the report is verbose
};
region_table_text region_table(const profile& profile, const table_options& how);

// "1.2 M cycles, 3 M instructions (2.50 a cycle)".
std::string counters_text(const os_context& context);

// The functions with most stack samples. `functions`: the number of samples of each.
std::string function_table(const std::map<std::string, std::uint64_t>& functions, const screen& on);

// ---- attribute_text.cpp ----
// Values of payloads and metrics, in lines below a region's row.
//
// A payload's members are amounts, and have a sum; bytes and flops have a rate. A metric may be a level, such as bytes
// in use or a residual, so it has no sum, unless it is a time. The name determines the unit: a name that ends in _ns,
// _us, _ms, _s or _seconds is a time, unless it contains "per_", as rates do. "bytes", "bytes …" and names that end in
// "_bytes" or " bytes" are bytes.

// " ± 3.1%": twice the standard error. Empty: exact, or not estimated.
std::string error_text(double value, const std::optional<double>& variance);
// An attribute: "residual mean 0.31 [0.02, 0.9]".
std::string attribute_text(const std::string& name, const attribute& values, const region& region);
// All attributes, separated by "; ", broken into lines.
std::string attribute_lines(const region& region, std::size_t line_columns, std::size_t indent);

// "heap: 1.2 MB ± 3.1% in 1,024 ± 4.0% allocations, 1.1 MB ± 3.2% freed by 1,000 ± 4.1% calls"; empty: nothing was recorded.
std::string heap_text(const region& region);
// "memory: peak resident 120 MB; heap: high-water mark 45 MB in solve/step, 1.2 MB live at the end"; empty: unknown.
std::string memory_text(const profile& profile, std::size_t line_columns);
// Whether a row is a metric of these memory spaces that was recorded outside all regions: the text has its figures.
bool is_metric_of(const std::vector<memory_space>& spaces, const region& row);
// "threads waiting for a core: worker (4712) 1.02 s of 2.04 s (50.0%)": threads that waited for at least 5 % of their
// lifetime and 10 ms, the longest first; empty: none, or unknown.
std::string thread_wait_text(const profile& profile, std::size_t line_columns);

// "0.083 FLOP/B, 75% of 0.667 GFLOP/s that one thread can attain, bound by memory".
std::string roofline_text(const roofline& region);
// The ceilings to which these shares refer.
std::string roofline_legend(const machine_ceilings& ceilings);

// ---- device_table.cpp ----
// The table of devices, lines on figures without a column, and efficiencies of host and devices.

std::string device_table(const profile& profile, const table_options& how);

// ---- rank_lines.cpp ----
// The ranks of an MPI program in a report.

// "16 ranks on 4 hosts"; empty: no ranks were merged.
std::string count_ranks(const profile& profile);

// "rank 17 on n03"
std::string rank_label(std::uint32_t rank, const std::string& host);

// Lines on ranks that differ: killed, missing, without regions, with another program.
std::string odd_ranks_text(const profile& profile, std::size_t line_columns);

// "MPI: parallel efficiency 62.0% = load balance 80.1% (within nodes 92.0%, between nodes 87.1%)
// x communication 77.4%"; empty: unknown.
std::string efficiency_text(const profile& profile);

// "ranks: 12% imbalance; slowest: rank 17 on n03 (232 ms), mean 207 ms, fastest: …", or "in 3 of 8 ranks"; empty: all
// ranks take the same time.
std::string spread_text(const profile& profile, const region& row);

// "98.7% … waiting for the last rank; most for rank 2 on n01, the last in 5 of 6 calls"; empty: the time is too short.
std::string collective_text(const profile& profile, const region& row);

// ---- comparison_words.cpp ----
// The basis of a comparison, in sentences.

// The number of compared regions, and the basis of the verdicts.
std::string describe_method(const comparison& comparison);

// The text that replaces a table of equal profiles.
std::string describe_equal(const comparison& comparison);

// The time of threads without a core, if it is long or differs; empty: short and equal, or unknown.
std::string describe_core_waits(const comparison& comparison);

// "the sides were run differently: engine ebpf, now inline; overhead= none, now 2%; solver cg, now mg"
std::string describe_differing(const std::vector<differing_setting>& all);

}  // namespace adaptyst::lib

#endif
