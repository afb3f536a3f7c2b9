// The completion script for bash.
#include <fmt/format.h>

#include "command_tree.hpp"
#include "help_text.hpp"

namespace adaptyst::tools {

namespace {

std::string joined(const std::vector<std::string>& words, const char* by) {
  return fmt::format("{}", fmt::join(words, by));
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> all;
  for (const CLI::Option* option : list_options(app))
    for (const std::string& name : list_names(*option)) all.push_back(name);
  return all;
}

// The words for a place without an option; none: files, which bash completes by itself.
std::vector<std::string> list_words(const CLI::App& app) {
  std::vector<std::string> all;
  for (const CLI::App* command : list_subcommands(app)) all.push_back(command->get_name());
  for (const CLI::Option* positional : list_positionals(app))
    for (const std::string& choice : list_choices(*positional)) all.push_back(choice);
  return all;
}

// The values of options, in the form `command,--option) …`.
std::string format_values(const CLI::App& app, const std::string& command) {
  std::string cases;
  for (const CLI::Option* option : list_options(app)) {
    if (!takes_a_value(*option)) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : list_names(*option)) patterns.push_back(fmt::format("{},{}", command, name));
    cases +=
        fmt::format("    {}) words='{}' given=yes ;;\n", joined(patterns, " | "), joined(list_choices(*option), " "));
  }
  return cases;
}

}  // namespace

std::string bash_script(const CLI::App& program) {
  const std::string& name = program.get_name();
  std::vector<std::string> commands;
  std::string values = format_values(program, "");
  std::string options = fmt::format("    '') options='{}' words='{}' ;;\n", joined(option_names(program), " "),
                                    joined(list_words(program), " "));
  for (const CLI::App* command : list_subcommands(program)) {
    commands.push_back(command->get_name());
    values += format_values(*command, command->get_name());
    options += fmt::format("    {}) options='{}' words='{}' ;;\n", command->get_name(),
                           joined(option_names(*command), " "), joined(list_words(*command), " "));
  }
  // bash splits "--option=value" at the "=".
  return fmt::format(R"(# Completion of {0} for bash, made by `{0} completion bash`.
_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command='' options='' words='' given='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case ${{COMP_WORDS[at]}} in
    {1}) command=${{COMP_WORDS[at]}}; break ;;
    esac
  done
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case $command,$before in
{2}  esac
  if [[ -z $given ]]; then
    case $command in
{3}    esac
    if [[ $word == -* ]]; then words=$options; fi
  fi
  COMPREPLY=()
  if [[ -n $words ]]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"); fi
}}
complete -o default -F _{0} {0}
)",
                     name, joined(commands, " | "), values, options);
}

}  // namespace adaptyst::tools
