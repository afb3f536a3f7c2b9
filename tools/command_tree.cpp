// Reads subcommands, options and their values out of CLI11.
#include "command_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace adaptyst::tools {

std::vector<const CLI::App*> list_subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<command_group> list_groups(const CLI::App& app) {
  std::vector<command_group> groups;
  for (const CLI::App* command : list_subcommands(app)) {
    const auto same = [&](const command_group& group) { return group.heading == command->get_group(); };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(groups.end(), {command->get_group(), {}});
    group->commands.push_back(command);
  }
  return groups;
}

std::vector<const CLI::Option*> list_positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::Option*> list_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<std::string> list_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// CLI11 keeps the values in the description of the type: "TEXT:{table,json}", "FILE:PATTERN|SET:{mpi,io}".
std::vector<std::string> list_choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', std::min(open, type.size()));
  if (close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

notes find_notes(const CLI::App& app) {
  notes found;
  std::istringstream lines(app.get_footer());
  bool begins = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("$ ", 0) == 0) found.examples.push_back(line.substr(2));
    else if (!line.empty() && begins) found.paragraphs.push_back(line);
    else if (!line.empty()) found.paragraphs.back() += " " + line;
    begins = line.empty() || line.front() == '$';
  }
  return found;
}

std::string format_synopsis(const CLI::App& app, const std::string& name) {
  std::string synopsis = name + " [OPTIONS]";
  for (const CLI::Option* option : list_options(app))
    if (option->get_required()) synopsis += fmt::format(" {} {}", list_names(*option).front(), option->get_type_name());
  for (const CLI::Option* option : list_positionals(app)) synopsis += " " + format_usage(*option);
  return list_subcommands(app).empty() ? synopsis : synopsis + " COMMAND";
}

std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

bool takes_a_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

std::string format_usage(const CLI::Option& option) {
  if (!option.nonpositional()) {
    std::string name = option.get_name(true);
    if (option.get_expected_max() > 1) name += "...";
    return option.get_required() ? name : "[" + name + "]";
  }
  std::string usage = fmt::format("{}", fmt::join(list_names(option), ", "));
  if (!takes_a_value(option)) return usage;
  const std::string type = option.get_type_name();
  std::string value = type.substr(0, type.find('{'));
  if (value.size() != type.size() && !value.empty()) value.pop_back();
  const bool has_name = !value.empty() && value != "TEXT";
  return usage + " " + (has_name ? value : fmt::format("{}", fmt::join(list_choices(option), "|")));
}

}  // namespace adaptyst::tools
