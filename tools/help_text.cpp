// Lays out help for the width of the terminal.
#include "help_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "command_tree.hpp"
#include "support/text.hpp"

namespace adaptyst::tools {

std::size_t help_width() {
  // Lines longer than `widest` are hard to read. `usual` is for pagers.
  constexpr std::size_t widest = 120, usual = 80;
  if (isatty(STDOUT_FILENO) == 0 && std::getenv("COLUMNS") == nullptr) return usual;
  return std::min(lib::terminal_width(STDOUT_FILENO), widest);
}

std::string flowed(const std::string& text, std::size_t max_columns, std::size_t indent, std::size_t begun) {
  std::istringstream words(text);
  std::string lines;
  std::size_t at = begun;
  bool begins = true;
  for (std::string word; words >> word; begins = false) {
    const std::size_t width = lib::width(word);
    if (!begins && at + 1 + width > max_columns) {
      lines += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!begins) {
      lines += ' ';
      ++at;
    }
    lines += word;
    at += width;
  }
  return lines + "\n";
}

namespace {

constexpr std::size_t names_at = 2;
constexpr std::size_t meanings_at = 28;
constexpr std::size_t meanings_of_commands_at = 16;
// Below this width, a column of meanings next to the names would be too narrow.
constexpr std::size_t narrow = 60;

// A name, and its meaning at this column or on the next line. A name with many values is broken after one of them.
std::string entry(const std::string& name, const std::string& meaning, std::size_t max_columns,
                  std::size_t next_to_it) {
  const std::size_t indent = max_columns < narrow ? names_at + 4 : next_to_it;
  std::string line = std::string(names_at, ' ') + name;
  for (std::size_t begin = 0; line.size() - begin > max_columns;) {
    const std::size_t at = line.rfind('|', begin + max_columns - 1);
    if (at == line.npos || at < begin) break;
    line.insert(at + 1, "\n" + std::string(names_at + 4, ' '));
    begin = at + 2;
  }
  const std::size_t width = lib::width(line);
  if (width + 2 > indent) line += "\n" + std::string(indent, ' ');
  else line += std::string(indent - width, ' ');
  return line + flowed(meaning, max_columns, indent, indent);
}

std::string entries(const char* heading, const std::vector<const CLI::Option*>& options, std::size_t max_columns) {
  if (options.empty()) return {};
  std::string text = fmt::format("\n{}:\n", heading);
  for (const CLI::Option* option : options) {
    const std::string by_default = option->get_default_str();
    text += entry(format_usage(*option),
                  option->get_description() + (by_default.empty() ? "" : fmt::format(" [{}]", by_default)), max_columns,
                  meanings_at);
  }
  return text;
}

}  // namespace

std::string terminal_help::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  const std::size_t max_columns = help_width();
  const notes command_notes = find_notes(*app);
  std::string text = flowed(app->get_description() + ".", max_columns, 0, 0);
  text += "\n" + flowed("Usage: " + format_synopsis(*app, name), max_columns, 7, 0);
  if (!command_notes.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : command_notes.examples) text += fmt::format("  $ {}\n", example);
  for (const command_group& group : list_groups(*app)) {
    text += fmt::format("\n{}:\n", group.heading);
    for (const CLI::App* command : group.commands)
      text += entry(command->get_name(), command->get_description(), max_columns, meanings_of_commands_at);
  }
  text += entries("Arguments", list_positionals(*app), max_columns);
  text += entries("Options", list_options(*app), max_columns);
  for (const std::string& paragraph : command_notes.paragraphs) text += "\n" + flowed(paragraph, max_columns, 0, 0);
  return text;
}

}  // namespace adaptyst::tools
