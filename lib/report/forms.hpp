// The forms of every result: JSON, a table for people, rows for CSV and Markdown, a page. docs/ has a schema of each JSON, and
// a page on each table.
#ifndef ADAPTYST_LIB_REPORT_FORMS_HPP
#define ADAPTYST_LIB_REPORT_FORMS_HPP

#include <adaptyst/options.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../support/output_file.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

struct comparison;
struct diagnosis;
struct inspection;
struct profile;

// A row for each check.
std::string to_json(const diagnosis& diagnosis);
std::string to_table(const diagnosis& diagnosis);
lib::text_table to_rows(const diagnosis& diagnosis);

// An array, a row for each probe.
std::string to_json(const std::vector<inspection>& inspections);
std::string to_table(const std::vector<inspection>& inspections);
lib::text_table to_rows(const std::vector<inspection>& inspections);

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

// As wide as what is behind the descriptor; on a terminal with bars, and with colours where it has them.
void fit_to_terminal(table_options& how, int descriptor);

struct advice_report;
struct levels_report;
struct levels_result;
struct levels_settings;
struct measured_ceilings;
struct stack_result;
struct variability_result;

// Piece by piece, into files: the text of a large profile, or of many windows, is larger than all that it is made of.
void write_json(const profile& from, const text_taker& to);
void write_json(const variability_result& result, const text_taker& to);
void write_csv(const variability_result& result, const text_taker& to);  // of its windows

// The profile for a page, on one line.
std::string to_page_json(const profile& from);

// A row for each region, device and input, with its cost.
std::string to_json(const advice_report& report);
std::string to_table(const advice_report& report);
text_table to_rows(const advice_report& report);

// A row for each region.
std::string to_json(const levels_report& report);
std::string to_table(const levels_result& result, const levels_settings& how, std::size_t screen);
std::string to_table(const stack_result& result, std::size_t screen);
text_table to_rows(const levels_result& result);

// A row for each region.
text_table to_rows(const comparison& comparison);

// A row for each name on each device or in each process.
std::string to_json(const variability_result& result);
std::string to_html(const variability_result& result);
std::string to_table(const variability_result& result, int width_of_screen);
text_table to_rows(const variability_result& result);

std::string to_json(const measured_ceilings& ceilings);
std::string to_table(const measured_ceilings& ceilings);
text_table to_rows(const measured_ceilings& ceilings);
// Throws error, with the place of what is wrong.
measured_ceilings ceilings_from_json(std::string_view text);

// Where a machine's ceilings are kept unless another file is named: $XDG_CACHE_HOME/adaptyst/ceilings-HOST.json, or
// ~/.cache/adaptyst/…. Empty: neither variable is set, or there is no name of a host.
std::string usual_ceilings_file(const std::string& host);
// Makes the folder of the usual file. Throws error.
void write_ceilings(const std::string& file, const measured_ceilings& ceilings);
measured_ceilings read_ceilings(const std::string& file);
// Why these ceilings are not those of a machine; empty: they are. `cpu`: its processor, empty where that is not known.
std::string find_mismatch(const measured_ceilings& ceilings, const std::string& host, const std::string& cpu);

// A result with a to_json(), a to_html() and a to_table() in a form that is made of a profile (output_form.hpp). `how`:
// what the table wants besides the result.
template <class Result, class... How>
std::string render(output_form form, const Result& what, const How&... how) {
  switch (form) {
    case output_form::json: return to_json(what);
    case output_form::html: return to_html(what);
    default: return to_table(what, how...);
  }
}

}  // namespace adaptyst::lib

#endif
