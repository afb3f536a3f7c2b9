// What a subcommand says, and how it ends.
#ifndef ADAPTYST_TOOLS_OUTPUT_HPP
#define ADAPTYST_TOOLS_OUTPUT_HPP

#include <CLI/CLI.hpp>
#include <string>

namespace adaptyst::tools {

enum exit_status { all_well = 0, comparison_failed = 1, no_ebpf = 1, bad_input = 2 };

// To standard output.
void print(const std::string& text);
// `adaptyst: <message>` to standard error, further lines indented.
void complain(const std::string& message);
// Ends the program from within a subcommand.
[[noreturn]] void end_with(exit_status status);
// Whether all that was printed has arrived; complains if not.
bool flushed();

// --format table|json
void add_format(CLI::App& to, std::string& format);

}  // namespace adaptyst::tools

#endif
