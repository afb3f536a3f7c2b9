// Output of subcommands, and their exit status.
#ifndef ADAPTYST_TOOLS_OUTPUT_HPP
#define ADAPTYST_TOOLS_OUTPUT_HPP

#include <CLI/CLI.hpp>
#include <adaptyst/options.hpp>
#include <functional>
#include <string>
#include <vector>

#include "report/text_table.hpp"
#include "support/error.hpp"

namespace adaptyst::tools {

enum exit_status { all_well = 0, comparison_failed = 1, no_ebpf = 1, advice_infeasible = 1, bad_input = 2 };

// Prints to standard output.
void print(const std::string& text);
void print_json(const std::string& text);
using lib::complain;

// The traces that commands read, for the help.
constexpr const char* trace_forms =
    "SQLite exports of Nsight Systems, rocpd files, Chrome traces, OTF2 archives, stores FILE.sqlite, or event logs FILE.events";
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
// `has_list`: also --format list, which prints the forms of --output and ends the command.
void add_format(CLI::App& app, std::string& format, const std::string& what, bool has_list = false);

// -v, --verbose. `what`: the details that the table then has, for help.
void add_verbose(CLI::App& app, bool& is_verbose, const std::string& what);

// --output [FORM:]FILE, once for each file. `forms`: the forms of the result; `note`: more on a form, for help.
void add_output(CLI::App& app, std::vector<std::string>& files, const std::vector<output_form>& forms,
                const std::string& note = {});
// Writes to these files; `what`: the content, for messages; `write`: writes it in a form to a file. Throws error.
void write_outputs(const std::vector<std::string>& files, const char* what,
                   const std::function<void(output_form, const std::string& file)>& write);

// A result in all its forms. `rows`: for CSV and Markdown. `html` is empty if the result has no HTML report.
struct result_forms {
  std::function<std::string()> json;
  std::function<std::string(const lib::screen&)> table;
  std::function<lib::text_table()> rows;
  std::function<std::string()> html = {};
};
// Writes the result to these files, and prints it in this format. `what`: the content, for messages. Throws error.
void give(const result_forms& result, const std::vector<std::string>& files, const std::string& format,
          const char* what);

}  // namespace adaptyst::tools

#endif
