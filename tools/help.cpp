// Help in words, and docs/cli.md, from what the subcommands say of themselves.
#include <fmt/format.h>

#include <memory>

#include "command_tree.hpp"
#include "commands.hpp"
#include "options_page.hpp"
#include "output.hpp"

namespace adaptyst::tools {

namespace {

std::string row_of(const CLI::Option& option) {
  const std::string default_value = option.get_default_str();
  return fmt::format("| `{}` | {}{} |\n", cell(usage_of(option)), cell(option.get_description()),
                     default_value.empty() ? "" : fmt::format("; `{}` if not given", default_value));
}

std::string rows_of(const CLI::App& of) {
  std::string rows = "| argument | meaning |\n|---|---|\n";
  for (const CLI::Option* option : positionals_of(of)) rows += row_of(*option);
  for (const CLI::Option* option : options_of(of)) rows += row_of(*option);
  return rows;
}

std::string section_of(const CLI::App& command, const std::string& program) {
  std::string usage = fmt::format("{} {} [OPTIONS]", program, command.get_name());
  for (const CLI::Option* option : positionals_of(command)) usage += " " + usage_of(*option);
  std::string section = fmt::format("\n## {} {}\n\n{}.\n\n```console\n$ {}\n```\n\n{}", program, command.get_name(),
                                    command.get_description(), usage, rows_of(command));
  if (!command.get_footer().empty()) section += fmt::format("\n{}\n", command.get_footer());
  return section;
}

std::string markdown_of(const CLI::App& program) {
  const std::string& name = program.get_name();
  std::string page =
      fmt::format("# The command `{0}`\n\n{1}. This page is what `{0} help --markdown` prints.\n\n{2}\n\n{3}", name,
                  program.get_description(), program.get_footer(), rows_of(program));
  for (const CLI::App* command : subcommands_of(program)) page += section_of(*command, name);
  return page;
}

struct help_options {
  std::string command;
  bool markdown = false;
};

}  // namespace

void add_help(CLI::App& to) {
  const auto asked = std::make_shared<help_options>();
  CLI::App* const command = to.add_subcommand("help", "Print help for all, for one subcommand, or for options");
  std::vector<std::string> names;
  for (const CLI::App* known : subcommands_of(to)) names.push_back(known->get_name());
  names.emplace_back("options");
  command
      ->add_option("COMMAND", asked->command,
                   "The subcommand to explain; options: what $ADAPTYST and a collector can be told")
      ->check(CLI::IsMember(names));
  command->footer("Exit status: 0 all is well; 2 wrong usage.");
  command->add_flag("--markdown", asked->markdown, "Print all of it, or the options, as Markdown");
  command->callback([asked, &to] {
    if (asked->command == "options") print(asked->markdown ? options_in_markdown() : options_in_text());
    else if (asked->markdown) print(markdown_of(to));
    // Not to.help(), which is that of the subcommand in use.
    else if (asked->command.empty())
      print(to.get_formatter()->make_help(&to, to.get_name(), CLI::AppFormatMode::Normal));
    else print(to.get_subcommand(asked->command)->help(to.get_name()));
  });
}

}  // namespace adaptyst::tools
