// The forms of every result: JSON, a table (`is_verbose`: with --verbose), rows for CSV and Markdown, an HTML report.
// docs/ describes each schema of JSON and each table.
#ifndef ADAPTYST_LIB_REPORT_FORMS_HPP
#define ADAPTYST_LIB_REPORT_FORMS_HPP

#include <adaptyst/options.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../support/output_file.hpp"
#include "foreign_forms.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

struct comparison;
struct diagnosis;
struct inspection;
struct profile;

// A row for each check.
std::string to_json(const diagnosis& diagnosis);
std::string to_table(const diagnosis& diagnosis, const lib::screen& on = {});
lib::text_table to_rows(const diagnosis& diagnosis);

// An array, a row for each probe.
std::string to_json(const std::vector<inspection>& inspections);
std::string to_table(const std::vector<inspection>& inspections, const lib::screen& on = {});
lib::text_table to_rows(const std::vector<inspection>& inspections);

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

// Sets the width of the terminal at this descriptor; on a terminal also bars, and colours if the terminal has them.
void fit_to_terminal(table_options& how, int descriptor);

struct advice_report;
struct levels_report;
struct levels_result;
struct measured_ceilings;
struct stack_result;
struct run_comparison;
struct variability_result;

// Write piece by piece, because the text of a large profile or of many windows takes more memory than the result.
void write_json(const profile& from, const text_taker& to);
void write_json(const variability_result& result, const text_taker& to);
void write_csv(const variability_result& result, const text_taker& to);  // of its windows

// The profile for an HTML report, on one line.
std::string to_page_json(const profile& from);

// A row for each region, device and input, with its cost.
std::string to_json(const advice_report& report);
std::string to_table(const advice_report& report, const screen& on = {}, bool is_verbose = false);
text_table to_rows(const advice_report& report);

// A row for each region.
std::string to_json(const levels_report& report);
std::string to_html(const levels_report& report);  // of the stack
std::string to_table(const levels_report& report, const screen& on, bool is_verbose = false);
std::string to_table(const stack_result& result, const screen& on, bool is_verbose = false);
text_table to_rows(const levels_result& result);

// A row for each region.
std::string to_table(const comparison& comparison, const screen& on, bool is_verbose = false);
text_table to_rows(const comparison& comparison);

// A row for each name on each device or in each process.
std::string to_json(const variability_result& result);
// An HTML timeline of the same traces. `first_ns`: time 0 of the timeline, in times of the result.
struct timeline_link {
  std::string file;  // relative to the page
  std::uint64_t first_ns = 0;
};
std::string to_html(const variability_result& result, const std::optional<timeline_link>& timeline);
std::string to_table(const variability_result& result, const screen& on, bool is_verbose = false);
text_table to_rows(const variability_result& result);
// A row for each name, over all runs.
std::string to_json(const run_comparison& of);
std::string to_html(const run_comparison& of);
std::string to_table(const run_comparison& of, const screen& on, bool is_verbose = false);
text_table to_rows(const run_comparison& of);
// The correlation and the efficiencies, a line each.
std::vector<std::string> list_totals(const variability_result& result);

std::string to_json(const measured_ceilings& ceilings);
std::string to_table(const measured_ceilings& ceilings, const screen& on = {});
text_table to_rows(const measured_ceilings& ceilings);
// Throws error, with the place in the text.
measured_ceilings ceilings_from_json(std::string_view text);

// The usual file of a machine's ceilings: $XDG_CACHE_HOME/adaptyst/ceilings-HOST.json, or ~/.cache/adaptyst/….
// Empty: neither variable is set, or the host has no name.
std::string usual_ceilings_file(const std::string& host);
// Makes the folder of the usual file. Throws error.
void write_ceilings(const std::string& file, const measured_ceilings& ceilings);
measured_ceilings read_ceilings(const std::string& file);
// The reason why these ceilings are of another machine; empty: they match. `cpu`: the processor; empty: unknown.
std::string find_mismatch(const measured_ceilings& ceilings, const std::string& host, const std::string& cpu);

// Writes a profile to a file in a form of profiles (output_form.hpp). `listed`: regions of earlier metrics in the file;
// null: none. Throws error.
void write_profile_as(output_form form, const std::string& file, const profile& what, const table_options& how,
                      metrics_regions* listed = nullptr);

}  // namespace adaptyst::lib

#endif
