// Output of subcommands, and their exit status.
#ifndef ADAPTYST_TOOLS_OUTPUT_HPP
#define ADAPTYST_TOOLS_OUTPUT_HPP

#include <CLI/CLI.hpp>
#include <adaptyst/options.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/error.hpp"

namespace adaptyst::tools {

enum exit_status { all_well = 0, comparison_failed = 1, no_ebpf = 1, advice_infeasible = 1, bad_input = 2 };

// To standard output.
void print(const std::string& text);
void print_json(const std::string& text);
using lib::complain;
// Ends the program from within a subcommand.
[[noreturn]] void end_with(exit_status status);
// Whether everything that was printed could be written; complains if not.
bool flushed();

// --format table|json|csv|markdown
void add_format(CLI::App& app, std::string& format);
// Prints a result in this format. `json` and `table` return texts, `rows` the lib::text_table that CSV and Markdown show.
template <class Json, class Table, class Rows>
void print_as(const std::string& format, Json&& json, Table&& table, Rows&& rows) {
  if (format == "json") print_json(json());
  else if (format == "csv") print(rows().csv());
  else print(format == "markdown" ? rows().markdown() : table());
}

// 0.05 for "5%". The sign is required, since a plain 0.05 could mean 5 % or 0.05 %.
std::optional<double> parse_fraction(const std::string& text);
// What is wrong with such a text; empty: nothing.
std::string check_percent(const std::string& text);

// --output [FORM:]FILE, for what can be written as json or table.
void add_output(CLI::App& app, std::vector<std::string>& files, const std::string& meaning);
// Writes to these files; `what`: the content, for messages; `text`: makes it in a form. Throws error.
void write_outputs(const std::vector<std::string>& files, const char* what,
                   const std::function<std::string(output_form)>& text);

}  // namespace adaptyst::tools

#endif
