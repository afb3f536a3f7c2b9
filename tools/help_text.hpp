// Help for a terminal, as wide as that is.
#ifndef ADAPTYST_TOOLS_HELP_TEXT_HPP
#define ADAPTYST_TOOLS_HELP_TEXT_HPP

#include <CLI/CLI.hpp>
#include <string>

namespace adaptyst::tools {

class terminal_help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* of, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace adaptyst::tools

#endif
