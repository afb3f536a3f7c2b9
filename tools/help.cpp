// Help in words, docs/cli.md and manual pages, from the descriptions of the subcommands.
#include <fmt/format.h>

#include <memory>

#include "command_tree.hpp"
#include "commands.hpp"
#include "help_text.hpp"
#include "output.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

std::string format_row(const CLI::Option& option) {
  const std::string default_value = option.get_default_str();
  return fmt::format("| `{}` | {}{} |\n", cell(format_usage(option)), cell(option.get_description()),
                     default_value.empty() ? "" : fmt::format("; `{}` if not given", default_value));
}

std::string format_rows(const CLI::App& app) {
  std::string rows = "| argument | meaning |\n|---|---|\n";
  for (const CLI::Option* option : list_positionals(app)) rows += format_row(*option);
  for (const CLI::Option* option : list_options(app)) rows += format_row(*option);
  return rows;
}

std::string format_paragraphs(const notes& command_notes) {
  std::string text;
  for (const std::string& paragraph : command_notes.paragraphs) text += fmt::format("\n{}\n", paragraph);
  return text;
}

std::string format_examples(const notes& command_notes) {
  std::string text;
  for (const std::string& example : command_notes.examples) text += fmt::format("$ {}\n", example);
  return text.empty() ? text : fmt::format("\n```console\n{}```\n", text);
}

std::string format_section(const CLI::App& command, const std::string& program) {
  const std::string name = program + " " + command.get_name();
  const notes command_notes = find_notes(command);
  return fmt::format("\n## {}\n\n{}.\n\n`{}`\n{}\n{}{}", name, command.get_description(),
                     format_synopsis(command, name), format_examples(command_notes), format_rows(command),
                     format_paragraphs(command_notes));
}

std::string format_groups(const CLI::App& program) {
  std::string rows = "\n| commands | |\n|---|---|\n";
  for (const command_group& group : list_groups(program)) {
    std::string names;
    for (const CLI::App* command : group.commands)
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", command->get_name());
    rows += fmt::format("| {} | {} |\n", group.heading, names);
  }
  return rows;
}

std::string format_markdown(const CLI::App& program) {
  const std::string& name = program.get_name();
  const notes command_notes = find_notes(program);
  std::string page = fmt::format("# The command `{0}`\n\n{1}. `{0} help --markdown` prints this page.\n{2}{3}{4}\n{5}",
                                 name, program.get_description(), format_examples(command_notes),
                                 format_groups(program), format_paragraphs(command_notes), format_rows(program));
  for (const CLI::App* command : list_subcommands(program)) page += format_section(*command, name);
  return page;
}

struct help_options {
  std::string command;
  bool markdown = false;
  bool manual = false;
};

}  // namespace

void add_help(CLI::App& app) {
  const auto options = std::make_shared<help_options>();
  CLI::App* const command = app.add_subcommand("help", "Print help for all, for one command, or for options");
  command->group(heading::help);
  std::vector<std::string> names;
  for (const CLI::App* subcommand : list_subcommands(app)) names.push_back(subcommand->get_name());
  names.emplace_back("options");
  command
      ->add_option("COMMAND", options->command,
                   "Command to explain; options: the options of $ADAPTYST and of collectors")
      ->check(one_of(names));
  command->footer(
      "$ adaptyst help run\n"
      "$ adaptyst help options\n"
      "$ adaptyst help run --man | man -l -\n"
      "\n"
      "Exit status: 0 success; 2 wrong usage.");
  CLI::Option* const markdown =
      command->add_flag("--markdown", options->markdown, "Print the help for all, or for options, as Markdown");
  command->add_flag("--man", options->manual, "Print the manual page, for `man -l`")->excludes(markdown);
  command->callback([options, &app] {
    const CLI::App* const subject =
        options->command.empty() || options->command == "options" ? nullptr : app.get_subcommand(options->command);
    if (options->manual && options->command == "options") {
      complain("help: there is no manual page of the options\nhint: `adaptyst help options` lists them");
      end_with(bad_input);
    }
    if (options->manual) print(subject == nullptr ? format_manual(app) : format_manual(*subject, app));
    else if (options->command == "options") print(options->markdown ? options_in_markdown() : options_in_text());
    else if (options->markdown) print(format_markdown(app));
    // Not to.help(), which prints the help of the subcommand in use.
    else if (subject == nullptr)
      print(app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal));
    else print(subject->help(app.get_name()));
  });
}

}  // namespace adaptyst::tools
