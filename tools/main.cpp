// The command `adaptyst`: a list of subcommands, each in a file of its own.
#include <fmt/format.h>

#include <adaptyst/detail/config.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_tree.hpp"
#include "commands.hpp"
#include "help_text.hpp"
#include "output.hpp"
#include "support/heap_reserve.hpp"
#include "support/nearest.hpp"

namespace {

namespace tools = adaptyst::tools;

// In the order of `--help`. `help` is the last, because it lists the subcommands before it. Without a name, a subcommand needs
// all others.
constexpr struct {
  std::string_view name;
  void (*add)(CLI::App&);
} commands[] = {
    {"run", tools::add_run},
    {"attach", tools::add_attach},
    {"top", tools::add_top},
    {"report", tools::add_report},
    {"diff", tools::add_diff},
    {"levels", tools::add_levels},
    {"advise", tools::add_advise},
#ifdef ADAPTYST_HAS_SQLITE
    {"variability", tools::add_variability},
    {"convert", tools::add_convert},
#endif
    {"doctor", tools::add_doctor},
    {"sites", tools::add_sites},
    {"", tools::add_completion},
    {"", tools::add_help},
};

// Adds the subcommand of this name, or all: each takes some 20 KiB of memory.
void add_commands(CLI::App& program, std::string_view name) {
  const auto only = std::find_if(std::begin(commands), std::end(commands),
                                 [&](const auto& command) { return !name.empty() && command.name == name; });
  if (only != std::end(commands)) return only->add(program);
  for (const auto& command : commands) command.add(program);
}

// CLI11 splits "[a,b]" at commas and removes the brackets, unless a character follows. Arguments of a program to run must not
// change.
constexpr char protection = '\1';

void protect(std::string& word) {
  if (word.empty()) return;
  if (word.back() == protection || (word.front() == '[' && word.back() == ']')) word += protection;
}

std::string remove_protection(std::string word) {
  if (!word.empty() && word.back() == protection) word.pop_back();
  return word;
}

// Reports an unknown subcommand; false: the error has another cause.
bool is_unknown_subcommand(const CLI::App& program, const std::string& first) {
  std::vector<std::string> unexpected = program.remaining();
  std::transform(unexpected.begin(), unexpected.end(), unexpected.begin(), remove_protection);
  if (first.rfind('-', 0) == 0 || std::find(unexpected.begin(), unexpected.end(), first) == unexpected.end())
    return false;
  std::vector<std::string> subcommands;
  for (const CLI::App* command : tools::list_subcommands(program)) subcommands.push_back(command->get_name());
  tools::complain(fmt::format("unknown command '{}'\nhint: {}; `adaptyst --help` describes them", first,
                              adaptyst::lib::did_you_mean(first, {subcommands.begin(), subcommands.end()})));
  return true;
}

// An error and its remedy; the messages of CLI11 have no remedy.
struct explanation {
  std::string what, hint;
};

// "did you mean '--format'?"; empty: no option is similar.
std::string suggest(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : tools::list_options(command))
    for (const std::string& name : tools::list_names(*option)) names.push_back(name);
  const std::string_view meant = adaptyst::lib::nearest(word.substr(0, word.find('=')), {names.begin(), names.end()});
  return meant.empty() ? "" : fmt::format("did you mean '{}'?", meant);
}

// The first word that is neither an option nor an argument of the command.
std::optional<explanation> find_unknown(const CLI::App& program, const CLI::App& command) {
  std::vector<std::string> words = program.remaining(true);
  words.erase(std::find(words.begin(), words.end(), "--"), words.end());  // a program to run, and its arguments
  const auto is_option = [](const std::string& word) { return word.rfind('-', 0) == 0; };
  if (const auto word = std::find_if(words.begin(), words.end(), is_option); word != words.end())
    return explanation{fmt::format("unknown option '{}'", word->substr(0, word->find('='))), suggest(command, *word)};
  if (words.empty()) return std::nullopt;
  return explanation{fmt::format("unexpected argument '{}'", remove_protection(words.front())), ""};
}

explanation explain(const CLI::App& program, const CLI::App& command, const CLI::ParseError& wrong) {
  const std::string text = wrong.what();
  const auto is = [&](CLI::ExitCodes kind) { return wrong.get_exit_code() == static_cast<int>(kind); };
  const auto split = [&](const std::string& mark) {
    const std::size_t at = std::min(text.find(mark), text.size());
    return std::pair(text.substr(0, at), text.substr(std::min(at + mark.size(), text.size())));
  };
  if (is(CLI::ExitCodes::ExtrasError) || is(CLI::ExitCodes::RequiredError))
    if (const std::optional<explanation> unknown = find_unknown(program, command)) return *unknown;
  if (is(CLI::ExitCodes::RequiredError)) {
    const bool is_program = &command == &program;
    const std::string name = is_program ? program.get_name() : program.get_name() + " " + command.get_name();
    return {is_program ? "no command is given" : split(" is required").first + " is missing",
            fmt::format("write `{}`", tools::format_synopsis(command, name))};
  }
  if (is(CLI::ExitCodes::ArgumentMismatch)) {
    const std::string name = split(":").first;
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option != nullptr && option->count() > 1) return {name + " is given several times", "give it once"};
    if (option != nullptr) return {name + " has no value", "write " + tools::format_usage(*option)};
  }
  if (is(CLI::ExitCodes::ExcludesError)) {
    const auto [left, right] = split(" excludes ");
    return {fmt::format("{} and {} cannot be combined", left, right), "give one of them"};
  }
  if (is(CLI::ExitCodes::RequiresError)) {
    const auto [left, right] = split(" requires ");
    return {fmt::format("{} has no effect without {}", left, right), "give both"};
  }
  const auto [what, hint] = split("\n");
  return {what, hint};
}

void complain_of_usage(const CLI::App& program, const CLI::ParseError& wrong) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  const CLI::App& command = chosen.empty() ? program : *chosen.front();
  const auto [what, hint] = explain(program, command, wrong);
  tools::complain(fmt::format("{}{}\nhint: {}{}`adaptyst {}` lists the options",
                              chosen.empty() ? "" : command.get_name() + ": ", what, hint,
                              hint.empty()         ? ""
                              : hint.back() == '?' ? " "
                                                   : "; ",
                              chosen.empty() ? "--help" : "help " + command.get_name()));
}

using place = std::vector<std::string>::iterator;

// Whether a word is neither an option of `diff` nor the value of one.
bool has_file(place word, place end) {
  for (; word != end; ++word) {
    const std::string_view text = *word;
    if (text.empty() || text.front() != '-') return true;
    constexpr std::string_view flags[] = {"-q", "-v", "-h", "--quiet", "--verbose", "--help"};
    if (std::find(std::begin(flags), std::end(flags), text) != std::end(flags)) continue;
    const bool has_value_behind = text.size() == 2 || (text[1] == '-' && text.find('=') == std::string_view::npos);
    if (has_value_behind && ++word == end) return false;
  }
  return false;
}

// The arguments of `adaptyst`. `diff OLD... -- NEW...`: CLI11 does not keep the position of the "--", so it is replaced by an
// option.
std::vector<std::string> list_words(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (words.front() == "diff" && mark != words.end() && has_file(words.begin() + 1, mark)) *mark = tools::after_mark;
  for (std::string& word : words) protect(word);
  return words;
}

int run(int count, char** arguments) {
  CLI::App program("Show where programs with markers spend their time", "adaptyst");
  program.set_help_flag("-h,--help", "Print this help");
  program.set_version_flag(
      "--version",
      fmt::format("adaptyst {}.{}.{}", ADAPTYST_VERSION_MAJOR, ADAPTYST_VERSION_MINOR, ADAPTYST_VERSION_PATCH),
      "Print the version");
  program.require_subcommand(1);
  // Before the subcommands, which inherit it.
  program.formatter(std::make_shared<tools::terminal_help>());
  add_commands(program, count > 1 ? arguments[1] : "");
  for (CLI::App* const command : program.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::Option* const option : command->get_options([](CLI::Option* of) { return of->get_expected_max() > 0; }))
      option->transform(remove_protection);
  // After the subcommands, which would inherit it.
  program.footer(
      "$ adaptyst run -- ./solver\n"
      "$ adaptyst help run\n"
      "\n"
      "Exit status: 0 success; 1 the answer of `diff`, `advise` or `doctor` is no; 2 wrong usage, or a file or "
      "process that cannot be read, also without a command. `run` has the status of its program.");
  if (count <= 1) {
    tools::print(program.help());
    return tools::bad_input;
  }
  try {
    std::vector<std::string> words = list_words(count, arguments);
    std::reverse(words.begin(), words.end());  // CLI11 reads the last element first
    program.parse(std::move(words));
  } catch (const CLI::RuntimeError& ended) {
    return ended.get_exit_code();
  } catch (const CLI::ParseError& stopped) {
    if (is_unknown_subcommand(program, arguments[1])) return tools::bad_input;
    if (stopped.get_exit_code() == 0) return program.exit(stopped);  // help was asked for
    complain_of_usage(program, stopped);
    return tools::bad_input;
  }
  return tools::all_well;
}

}  // namespace

int main(int count, char** arguments) {
  adaptyst::lib::use_huge_pages_in_heap();
  int status = tools::bad_input;
  try {
    status = run(count, arguments);
  } catch (const std::exception& failure) {
    tools::complain(failure.what());
  }
  return tools::flushed() ? status : tools::bad_input;
}
