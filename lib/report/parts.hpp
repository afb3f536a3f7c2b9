// The parts of a report for people, which its table, page and Markdown share.
#ifndef ADAPTYST_LIB_REPORT_PARTS_HPP
#define ADAPTYST_LIB_REPORT_PARTS_HPP

#include <adaptyst/compare.hpp>
#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace adaptyst::lib {

// ---- subject.cpp ----
// The subject of a report.

// Which processes, and how long: "16 ranks on 4 hosts, 32.1 s in sum"; empty: none is known.
std::string describe_subject(const profile& profile);

// ---- account_text.cpp ----
// The account of events, the cost of observing, estimates and missing data.

// Missing figures and estimates: events, programs and ranks that were lost, and a budget that was missed, or
// kept by leaving events out. The worst first; empty: nothing.
std::vector<std::string> list_what_is_missing(const profile& profile);

// All of the account, in sentences.
std::string account_text(const profile& profile, std::size_t line_columns);
// Its sum, in one line.
std::string account_line(const profile& profile);
// Of the account and the context what a reader of figures must know: losses, estimates, and how a program was killed.
std::string warning_text(const profile& profile, std::size_t line_columns);
// Lines on context, samples and timelines: what was lost, and what was written.
std::string context_lines(const profile& profile, std::size_t line_columns);

// ---- loss_advice.cpp ----
// Advice on lost events, for people.

// For each reason, in the order of loss_reason, a sentence that begins with its name: why, below which region, as far
// as that can be told, and what helps. Not of what the report explains elsewhere.
std::vector<std::string> advice_on_losses(const profile& profile);
// "no_wakeup: the kernel did not report when …": a sentence for each reason for which context or samples are missing.
std::vector<std::string> explain_context_losses(const losses& lost);

// ---- finding_list.cpp ----
// Findings in words.

// One of them: what is slow, on how much of the run that bears and on what it rests, and what to try. `place`: ", above all
// in REGION", empty where the sentence names the region.
struct finding_words {
  std::string sentence, evidence, place, advice;
  double share = 0;  // of the run
};

// All of them, as analyse() has them.
std::vector<finding_words> put_findings_in_words(const profile& profile);

// The findings that concern most of the run, with what to try, and how many more there are; ends in an empty line.
// Empty where there are none.
std::string finding_list(const profile& profile, std::size_t line_columns, bool has_colour);

// ---- region_table.cpp ----
// The table of regions: a row for each call path and device, its payloads, and the meaning of the columns.

struct region_table_text {
  std::string rows;
  std::string legend;  // one line, unless all is asked for
};
region_table_text region_table(const profile& profile, const table_options& how);

// "1.2 M cycles, 3 M instructions (2.50 a cycle)".
std::string counters_text(const kernel_context& context);

// The functions in which threads were sampled most often. `functions`: how often in each.
std::string function_table(const std::map<std::string, std::uint64_t>& functions, std::size_t max_columns);

// ---- attribute_text.cpp ----
// Values of payloads and metrics, in lines below a region's row.
//
// A payload's members are amounts, and have a sum; bytes and flops have a rate. A metric may be a level, such as bytes
// in use or a residual, so it has none, unless it is a time, which adds up in any case. The name says the unit: a time
// ends in _ns, _us, _ms, _s or _seconds and has no "per_" in it, as a rate has; "bytes", "bytes …" and what ends in
// "_bytes" or " bytes" are bytes.

// One of them: "residual mean 0.31 [0.02, 0.9]".
std::string attribute_text(const std::string& name, const attribute& values, const region& region);
// All of them, "; " between, broken into lines.
std::string attribute_lines(const region& region, std::size_t line_columns, std::size_t indent);

// "0.083 FLOP/B, 75% of 0.667 GFLOP/s that one thread can attain, bound by memory".
std::string roofline_text(const roofline& region);
// The ceilings to which these shares refer.
std::string roofline_legend(const machine_ceilings& ceilings);

// ---- device_table.cpp ----
// The table of devices, lines on what has no column, and how well host and devices were used.

std::string device_table(const profile& profile, const table_options& how);

// ---- rank_lines.cpp ----
// The ranks of an MPI program in a report.

// "16 ranks on 4 hosts"; empty: no ranks were merged.
std::string count_ranks(const profile& profile);

// "rank 17 on n03"
std::string rank_label(std::uint32_t rank, const std::string& host);

// Lines on those that are not like the others: killed, missing, without regions, with another program.
std::string odd_ranks_text(const profile& profile, std::size_t line_columns);

// "MPI: parallel efficiency 62.0% = load balance 80.1% (within nodes 92.0%, between nodes 87.1%) x communication 77.4%";
// empty where that is not known.
std::string efficiency_text(const profile& profile);

// "ranks: 12% imbalance; slowest: rank 17 on n03 (232 ms), mean 207 ms, fastest: …"; empty where all take
// as long; "in 3 of 8 ranks".
std::string spread_text(const profile& profile, const region& row);

// "98.7% of it waiting for the last rank; most for rank 2 on n01, the last in 5 of 6 calls"; empty where that took no time
// to speak of.
std::string joint_text(const profile& profile, const region& row);

// ---- comparison_words.cpp ----
// The basis of a comparison, in sentences.

// How many regions were compared, and what the verdicts are made of.
std::string describe_method(const comparison& comparison);

// In place of a table of equal profiles.
std::string describe_equal(const comparison& comparison);

// How long threads had no core, where that is much or differs; empty: neither, or not known.
std::string describe_core_waits(const comparison& comparison);

// "the sides were run differently: engine ebpf, now inline; overhead= none, now 2%; solver cg, now mg"
std::string describe_differing(const std::vector<differing_setting>& all);

}  // namespace adaptyst::lib

#endif
