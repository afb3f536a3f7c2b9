// The subcommands of `adaptyst`: each function adds one to the command line, and has a separate file.
//
// If a subcommand succeeds, its callback returns; otherwise the callback calls end_with().
#ifndef ADAPTYST_TOOLS_COMMANDS_HPP
#define ADAPTYST_TOOLS_COMMANDS_HPP

#include <CLI/CLI.hpp>

namespace adaptyst::tools {

void add_run(CLI::App& app);
void add_attach(CLI::App& app);
void add_top(CLI::App& app);
void add_sites(CLI::App& app);
void add_doctor(CLI::App& app);
void add_report(CLI::App& app);
void add_diff(CLI::App& app);
void add_levels(CLI::App& app);
constexpr const char* after_mark = "--after";  // before the second group of files of `diff`
void add_advise(CLI::App& app);
// Only if the command is built with SQLite.
void add_convert(CLI::App& app);
void add_variability(CLI::App& app);
void add_completion(CLI::App& app);
void add_help(CLI::App& app);

}  // namespace adaptyst::tools

#endif
