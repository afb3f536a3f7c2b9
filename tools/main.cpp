// The command `adaptyst`: a list of subcommands, each in a file of its own.
#include <fmt/format.h>

#include <adaptyst/detail/config.hpp>
#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "command_tree.hpp"
#include "commands.hpp"
#include "help_text.hpp"
#include "output.hpp"
#include "support/nearest.hpp"

namespace {

namespace tools = adaptyst::tools;

// In the order of `--help`. `help` is the last: it knows those before it.
constexpr void (*commands[])(CLI::App&) = {
    tools::add_run,         tools::add_attach,  tools::add_top,    tools::add_sites,  tools::add_doctor,
    tools::add_report,      tools::add_diff,    tools::add_advise, tools::add_levels,
#ifdef ADAPTYST_HAS_SQLITE
    tools::add_variability, tools::add_convert,
#endif
    tools::add_completion,  tools::add_help,
};

// Says that there is no such subcommand, if that is what is wrong.
bool is_unknown_subcommand(const CLI::App& program, const std::string& first) {
  const std::vector<std::string> unexpected = program.remaining();
  if (first.rfind('-', 0) == 0 || std::find(unexpected.begin(), unexpected.end(), first) == unexpected.end())
    return false;
  std::vector<std::string> known;
  for (const CLI::App* command : tools::list_subcommands(program)) known.push_back(command->get_name());
  tools::complain(fmt::format("'{}' is no subcommand; {}", first,
                              adaptyst::lib::did_you_mean(first, {known.begin(), known.end()})));
  return true;
}

// Known options that are similar to unknown ones: "did you mean '--format'? ".
std::string suggest(const CLI::App& program, const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::Option* option : tools::list_options(command))
    for (const std::string& name : tools::list_names(*option)) known.push_back(name);
  std::string all;
  for (const std::string& word : program.remaining(true)) {
    if (word == "--") break;  // the command that is to be run
    if (const std::string_view meant =
            adaptyst::lib::nearest(word.substr(0, word.find('=')), {known.begin(), known.end()});
        !meant.empty())
      all += fmt::format("did you mean '{}'? ", meant);
  }
  return all;
}

void complain_of_usage(const CLI::App& program, const CLI::ParseError& wrong) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  const bool has_subcommand = !chosen.empty();
  const CLI::App& command = has_subcommand ? *chosen.front() : program;
  const bool is_unknown = dynamic_cast<const CLI::ExcludesError*>(&wrong) == nullptr;
  tools::complain(fmt::format(
      "{}{}\nhint: {}`adaptyst {}` lists the options", has_subcommand ? command.get_name() + ": " : "", wrong.what(),
      is_unknown ? suggest(program, command) : "", has_subcommand ? "help " + command.get_name() : "--help"));
}

using place = std::vector<const char*>::iterator;

// Whether a word is neither an option of `diff` nor the value of one.
bool has_file(place word, place end) {
  for (; word != end; ++word) {
    const std::string_view text = *word;
    if (text.empty() || text.front() != '-') return true;
    const bool has_value_behind = text.size() == 2 || (text[1] == '-' && text.find('=') == std::string_view::npos);
    if (has_value_behind && ++word == end) return false;
  }
  return false;
}

// `diff OLD... -- NEW...`: CLI11 does not keep the position of the "--", so it is replaced by an option.
std::vector<const char*> list_words(int count, char** arguments) {
  std::vector<const char*> words(arguments, arguments + count);
  if (count < 2 || std::string_view(arguments[1]) != "diff") return words;
  const auto mark = std::find(words.begin(), words.end(), std::string_view("--"));
  if (mark != words.end() && has_file(words.begin() + 2, mark)) *mark = tools::after_mark;
  return words;
}

int run(int count, char** arguments) {
  CLI::App program("Sees where programs with markers spend their time", "adaptyst");
  program.set_version_flag(
      "--version",
      fmt::format("adaptyst {}.{}.{}", ADAPTYST_VERSION_MAJOR, ADAPTYST_VERSION_MINOR, ADAPTYST_VERSION_PATCH),
      "Print the version");
  program.require_subcommand(1);
  // Inherited by subcommands, and so before them.
  program.formatter(std::make_shared<tools::terminal_help>());
  for (const auto add : commands) add(program);
  // Last, as subcommands would inherit it.
  program.footer(
      "$ adaptyst run -- ./solver\n"
      "$ adaptyst help run\n"
      "\n"
      "Exit status: 0 all is well; 1 the answer of `diff`, `advise` or `doctor` is no; 2 wrong usage or bad "
      "input, also without a subcommand, when this help is printed. `run` ends as its program does.");
  if (count == 1) {
    tools::print(program.help());
    return tools::bad_input;
  }
  try {
    const std::vector<const char*> words = list_words(count, arguments);
    program.parse(count, words.data());
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
  int status = tools::bad_input;
  try {
    status = run(count, arguments);
  } catch (const std::exception& failure) {
    tools::complain(failure.what());
  }
  return tools::flushed() ? status : tools::bad_input;
}
