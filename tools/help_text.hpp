// The command described in text: help, manual pages, completion of shells, the page of options.
#ifndef ADAPTYST_TOOLS_HELP_TEXT_HPP
#define ADAPTYST_TOOLS_HELP_TEXT_HPP

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace adaptyst::tools {

class terminal_help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// The width of help, in columns.
std::size_t help_width();
// Breaks lines at spaces; all lines but the first begin at column `indent`; the first begins after `begun` columns.
std::string flowed(const std::string& text, std::size_t max_columns, std::size_t indent, std::size_t begun);

// Completion scripts, made from the command tree, so that they contain every subcommand and option.
std::string bash_script(const CLI::App& program);
std::string fish_script(const CLI::App& program);
std::string zsh_script(const CLI::App& program);

// Manual pages of section 1, in the format of man(7).
// adaptyst(1)
std::string format_manual(const CLI::App& program);
// adaptyst-run(1)
std::string format_manual(const CLI::App& command, const CLI::App& program);

// The table of options as a page, docs/options.md, and for a terminal.
std::string options_in_markdown();
std::string options_in_text();
// The forms of output, a line each.
std::string forms_in_text();

}  // namespace adaptyst::tools

#endif
