// The subcommands of `adaptyst`: each function adds one to the command line, with what it does, and has a file of its own.
//
// A subcommand's callback returns where all went well and calls end_with() where not.
#ifndef ADAPTYST_TOOLS_COMMANDS_HPP
#define ADAPTYST_TOOLS_COMMANDS_HPP

#include <CLI/CLI.hpp>

namespace adaptyst::tools {

void add_run(CLI::App& to);
void add_attach(CLI::App& to);
void add_top(CLI::App& to);
void add_sites(CLI::App& to);
void add_doctor(CLI::App& to);
void add_report(CLI::App& to);
void add_diff(CLI::App& to);
constexpr const char* after_mark = "--after";  // before the files that `diff` compares others with
void add_completion(CLI::App& to);
void add_help(CLI::App& to);

}  // namespace adaptyst::tools

#endif
