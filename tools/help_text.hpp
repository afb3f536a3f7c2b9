// Help for a terminal, as wide as that is.
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

// How wide help is.
std::size_t help_width();
// Broken at spaces; all lines but the first begin at column `indent`, and `begun` columns of the first are taken.
std::string flowed(const std::string& text, std::size_t max_columns, std::size_t indent, std::size_t begun);

}  // namespace adaptyst::tools

#endif
