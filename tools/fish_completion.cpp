// The completion script for fish.
#include <fmt/format.h>

#include "command_tree.hpp"
#include "help_text.hpp"

namespace adaptyst::tools {

namespace {

std::string fish_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// The lines of a subcommand; those of the program itself if `command` is empty.
std::string fish_lines(const CLI::App& app, const std::string& command, const std::string& program) {
  const std::string begin = fmt::format("complete -c {0} -n \"__{0}_in '{1}'\"", program, command);
  std::string lines;
  for (const CLI::App* nested : list_subcommands(app))
    lines += fmt::format("{} -f -a {} -d {}\n", begin, nested->get_name(), fish_quoted(nested->get_description()));
  for (const CLI::Option* option : list_positionals(app))
    if (const std::vector<std::string> choices = list_choices(*option); !choices.empty())
      lines += fmt::format("{} -f -a '{}'\n", begin, fmt::join(choices, " "));
  for (const CLI::Option* option : list_options(app)) {
    lines += begin;
    for (const std::string& name : option->get_snames()) lines += " -s " + name;
    for (const std::string& name : option->get_lnames()) lines += " -l " + name;
    const std::vector<std::string> choices = list_choices(*option);
    if (!choices.empty()) lines += fmt::format(" -x -a '{}'", fmt::join(choices, " "));
    else if (takes_a_value(*option)) lines += " -r";
    lines += fmt::format(" -d {}\n", fish_quoted(option->get_description()));
  }
  return lines;
}

}  // namespace

std::string fish_script(const CLI::App& program) {
  const std::string& name = program.get_name();
  // The functions of fish take any word for the subcommand, for example in `adaptyst help run`.
  std::string script = fmt::format(R"(# Completion of {0} for fish, made by `{0} completion fish`.
function __{0}_in
  for word in (commandline -opc)[2..]
    if not string match -q -- '-*' $word
      test $word = "$argv[1]"
      return
    end
  end
  test -z "$argv[1]"
end
)",
                                   name);
  script += fish_lines(program, "", name);
  for (const CLI::App* command : list_subcommands(program)) script += fish_lines(*command, command->get_name(), name);
  return script;
}

}  // namespace adaptyst::tools
