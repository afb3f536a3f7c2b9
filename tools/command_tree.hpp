// The command line as a tree, from which help, documentation and completion are made.
#ifndef ADAPTYST_TOOLS_COMMAND_TREE_HPP
#define ADAPTYST_TOOLS_COMMAND_TREE_HPP

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace adaptyst::tools {

// In the order in which they were added.
std::vector<const CLI::App*> list_subcommands(const CLI::App& app);
// The subcommands under their headings, in the order of each heading's first subcommand.
struct command_group {
  std::string heading;
  std::vector<const CLI::App*> commands;
};
std::vector<command_group> list_groups(const CLI::App& app);
std::vector<const CLI::Option*> list_positionals(const CLI::App& app);
std::vector<const CLI::Option*> list_options(const CLI::App& app);

// "-h", "--help"
std::vector<std::string> list_names(const CLI::Option& option);
// The words that an option may be set to; empty if it takes other values.
std::vector<std::string> list_choices(const CLI::Option& option);
bool takes_a_value(const CLI::Option& option);
// The parts of a command's footer: lines that begin with "$ ", then paragraphs. Line breaks in paragraphs have no
// meaning.
struct notes {
  std::vector<std::string> examples;  // without the "$ "
  std::vector<std::string> paragraphs;
};
notes find_notes(const CLI::App& app);

// "adaptyst run [OPTIONS] COMMAND..."
std::string format_synopsis(const CLI::App& app, const std::string& name);
// Escapes a text for a table in Markdown.
std::string cell(const std::string& text);
// "FILE...", "[COMMAND]", "--output FILE.json"
std::string format_usage(const CLI::Option& option);

}  // namespace adaptyst::tools

#endif
