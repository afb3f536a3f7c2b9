// Output of subcommands, and their exit status.
#ifndef ADAPTYST_TOOLS_OUTPUT_HPP
#define ADAPTYST_TOOLS_OUTPUT_HPP

#include <CLI/CLI.hpp>
#include <adaptyst/options.hpp>
#include <functional>
#include <string>
#include <vector>

#include "support/error.hpp"

namespace adaptyst::tools {

enum exit_status { all_well = 0, comparison_failed = 1, no_ebpf = 1, advice_infeasible = 1, bad_input = 2 };

// Prints to standard output.
void print(const std::string& text);
void print_json(const std::string& text);
using lib::complain;
// Ends the command with this status.
[[noreturn]] void end_with(exit_status status);
// Whether all output could be written; reports a failure.
bool flushed();

// Groups of subcommands, which are the headings of `--help`, in this order.
namespace heading {
constexpr const char* observe = "Observe programs";
constexpr const char* results = "Results";
constexpr const char* analyse = "Analyse";
constexpr const char* traces = "Traces";
constexpr const char* machine = "Machine";
constexpr const char* help = "Help";
}  // namespace heading

// --format table|json|csv|markdown|none, and --quiet, which is `none`. `what`: the result and its place, for help.
void add_format(CLI::App& app, std::string& format, const std::string& what);
// Prints a result in this format. `json` and `table` return texts, `rows` the lib::text_table that CSV and Markdown show.
template <class Json, class Table, class Rows>
void print_as(const std::string& format, Json&& json, Table&& table, Rows&& rows) {
  if (format == "json") print_json(json());
  else if (format == "csv") print(rows().csv());
  else if (format == "markdown") print(rows().markdown());
  else if (format == "table") print(table());
}

// --output [FORM:]FILE, once for each file. `forms`: the forms of the result; `suffix`: the ending and the content of a
// file that the subcommand writes itself.
void add_output(CLI::App& app, std::vector<std::string>& files, const std::vector<output_form>& forms,
                const std::string& suffix = {}, const std::string& content = {});
// Writes to these files; `what`: the content, for messages; `text`: makes it in a form. Throws error.
void write_outputs(const std::vector<std::string>& files, const char* what,
                   const std::function<std::string(output_form)>& text);

}  // namespace adaptyst::tools

#endif
