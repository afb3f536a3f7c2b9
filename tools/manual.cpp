// Writes manual pages in roff.
#include "help_text.hpp"

#include <fmt/format.h>

#include <adaptyst/detail/config.hpp>

#include "command_tree.hpp"

namespace adaptyst::tools {

namespace {

// Escapes a text for roff, so that it contains no requests. Every "-" stays an ASCII "-", for search and copying;
// `words` are bold.
std::string roff(const std::string& text) {
  std::string escaped;
  bool is_bold = false;
  for (const char c : text) {
    if (c == '\\') escaped += "\\e";
    else if (c == '-') escaped += "\\-";
    else if (c == '\'') escaped += "\\(aq";
    else if (c == '^') escaped += "\\(ha";
    else if (c == '~') escaped += "\\(ti";
    else if (c == '`') {
      is_bold = !is_bold;
      escaped += is_bold ? "\\fB" : "\\fR";
    } else escaped += c;
  }
  return !escaped.empty() && escaped.front() == '.' ? "\\&" + escaped : escaped;
}

std::string format_heading(const std::string& name) {
  std::string title = name;
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  // Without a date, for reproducible builds.
  return fmt::format(".TH {} 1 \"\" \"adaptyst {}.{}.{}\" \"User Commands\"\n", roff(title), ADAPTYST_VERSION_MAJOR,
                     ADAPTYST_VERSION_MINOR, ADAPTYST_VERSION_PATCH);
}

std::string name_section(const std::string& name, const std::string& description) {
  return fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(description));
}

std::string item(const std::string& name, const std::string& meaning) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(meaning));
}

std::string items(const CLI::App& app) {
  std::string list = ".SH OPTIONS\n";
  for (const auto& options : {list_positionals(app), list_options(app)})
    for (const CLI::Option* option : options) {
      const std::string by_default = option->get_default_str();
      list +=
          item(format_usage(*option),
               option->get_description() + (by_default.empty() ? "" : fmt::format("; `{}` if not given", by_default)));
    }
  return list;
}

constexpr std::string_view status_begins = "Exit status: ";

bool describes_status(const std::string& paragraph) { return paragraph.rfind(status_begins, 0) == 0; }

std::string description_section(const std::string& description, const notes& command_notes) {
  std::string section = fmt::format(".SH DESCRIPTION\n{}.\n", roff(description));
  for (const std::string& paragraph : command_notes.paragraphs)
    if (!describes_status(paragraph)) section += ".PP\n" + roff(paragraph) + "\n";
  return section;
}

std::string closing_sections(const notes& command_notes) {
  std::string sections;
  for (const std::string& paragraph : command_notes.paragraphs)
    if (describes_status(paragraph))
      sections += ".SH EXIT STATUS\n" + roff(paragraph.substr(status_begins.size())) + "\n";
  if (!command_notes.examples.empty()) sections += ".SH EXAMPLES\n";
  for (const std::string& example : command_notes.examples)
    sections +=
        fmt::format("{}.nf\n$ {}\n.fi\n", &example == &command_notes.examples.front() ? "" : ".PP\n", roff(example));
  return sections;
}

std::string page_name(const CLI::App& command, const CLI::App& program) {
  return program.get_name() + "-" + command.get_name();
}

std::string reference(const std::string& page, const char* then) {
  return fmt::format(".BR {} (1){}\n", roff(page), then);
}

}  // namespace

std::string format_manual(const CLI::App& program) {
  const std::string& name = program.get_name();
  const notes command_notes = find_notes(program);
  std::string page = format_heading(name) + name_section(name, program.get_description());
  page += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(format_synopsis(program, name)));
  page += description_section(program.get_description(), command_notes) + ".SH COMMANDS\n";
  for (const command_group& group : list_groups(program)) {
    page += fmt::format(".SS {}\n", group.heading);
    for (const CLI::App* command : group.commands) page += item(command->get_name(), command->get_description());
  }
  page += items(program) + closing_sections(command_notes) + ".SH SEE ALSO\n";
  const std::vector<const CLI::App*> commands = list_subcommands(program);
  for (const CLI::App* command : commands)
    page += reference(page_name(*command, program), command == commands.back() ? "" : ",");
  return page;
}

std::string format_manual(const CLI::App& command, const CLI::App& program) {
  const std::string name = page_name(command, program);
  const notes command_notes = find_notes(command);
  std::string page = format_heading(name) + name_section(name, command.get_description());
  page += fmt::format(".SH SYNOPSIS\n.B {}\n",
                      roff(format_synopsis(command, program.get_name() + " " + command.get_name())));
  page +=
      description_section(command.get_description(), command_notes) + items(command) + closing_sections(command_notes);
  return page + ".SH SEE ALSO\n" + reference(program.get_name(), "");
}

}  // namespace adaptyst::tools
