// Completion scripts. They are made from the command line itself, so that they know every subcommand and option.
#ifndef ADAPTYST_TOOLS_COMPLETION_SCRIPTS_HPP
#define ADAPTYST_TOOLS_COMPLETION_SCRIPTS_HPP

#include <CLI/CLI.hpp>
#include <string>

namespace adaptyst::tools {

std::string bash_script(const CLI::App& program);
std::string fish_script(const CLI::App& program);
std::string zsh_script(const CLI::App& program);

}  // namespace adaptyst::tools

#endif
