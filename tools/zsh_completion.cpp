// The completion script for zsh.
#include <fmt/format.h>

#include "command_tree.hpp"
#include "help_text.hpp"

namespace adaptyst::tools {

namespace {

// Escapes a text within the quotes of a specification of _arguments, in which `special` characters have a meaning.
std::string zsh_escaped(const std::string& text, const std::string& special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) escaped += '\\';
    escaped += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return escaped;
}

// The possible words for a value or an argument.
std::string zsh_values(const CLI::Option& option) {
  const std::vector<std::string> choices = list_choices(option);
  return choices.empty() ? "_files" : fmt::format("({})", fmt::join(choices, " "));
}

std::string zsh_arguments(const CLI::App& app) {
  std::string arguments;
  for (const CLI::Option* option : list_options(app))
    for (const std::string& name : list_names(*option)) {
      const std::string meaning = zsh_escaped(option->get_description(), "\\[]:");
      arguments += takes_a_value(*option) ? fmt::format(" \\\n      '*{}=[{}]:{}:{}'", name, meaning,
                                                        zsh_escaped(option->get_name(), "\\:"), zsh_values(*option))
                                          : fmt::format(" \\\n      '{}[{}]'", name, meaning);
    }
  for (const CLI::Option* option : list_positionals(app)) {
    const std::string name = option->get_name(true);
    // The program to run has a completion of its own.
    if (name == "COMMAND" && list_choices(*option).empty()) arguments += " \\\n      '*::COMMAND:_normal'";
    else arguments += fmt::format(" \\\n      '*:{}:{}'", zsh_escaped(name, "\\:"), zsh_values(*option));
  }
  return arguments;
}

}  // namespace

std::string zsh_script(const CLI::App& program) {
  const std::string& name = program.get_name();
  std::string commands, cases;
  for (const CLI::App* command : list_subcommands(program)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), zsh_escaped(command->get_description(), "\\:"));
    cases += fmt::format("  {})\n    _arguments{}\n    ;;\n", command->get_name(), zsh_arguments(*command));
  }
  return fmt::format(R"(#compdef {0}
# Completion of {0} for zsh, made by `{0} completion zsh`.
_{0}() {{
  local -a commands=(
{1}  )
  local at command=''
  for ((at = 2; at < CURRENT; at++)); do
    if [[ $words[at] != -* ]]; then
      command=$words[at]
      shift $((at - 1)) words
      ((CURRENT -= at - 1))
      break
    fi
  done
  case $command in
  '')
    if [[ $words[CURRENT] == -* ]]; then
      _arguments{2}
    else
      _describe subcommand commands
    fi
    ;;
{3}  esac
}}
# Loaded by name when it is first wanted, or read as a whole.
if [[ $funcstack[1] == _{0} ]]; then _{0} "$@"; else compdef _{0} {0}; fi
)",
                     name, commands, zsh_arguments(program), cases);
}

}  // namespace adaptyst::tools
