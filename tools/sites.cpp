// `adaptyst sites`: lists the markers and probes of files and processes.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>

#include "commands.hpp"
#include "discover/inspection.hpp"
#include "output.hpp"
#include "report/forms.hpp"
#include "session/inspect.hpp"

namespace adaptyst::tools {

namespace {

struct sites_options {
  std::vector<std::string> subjects;
  std::string format = "table";
  std::vector<std::string> outputs;
};

bool is_number(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

inspection inspect(const std::string& subject) {
  if (!is_number(subject)) return inspect_file(subject);
  std::int64_t process = 0;
  std::from_chars(subject.data(), subject.data() + subject.size(), process);
  return inspect_process(process);
}

void sites(const sites_options& options) {
  std::vector<inspection> all;
  for (const std::string& subject : options.subjects) {
    try {
      all.push_back(inspect(subject));
    } catch (const error& failed) {
      complain(failed.what());
    }
  }
  give({[&] { return to_json(all); }, [&](const lib::screen& on) { return to_table(all, on); },
        [&] { return to_rows(all); }},
       options.outputs, options.format, "the list");
  if (all.size() != options.subjects.size()) end_with(bad_input);
}

}  // namespace

void add_sites(CLI::App& app) {
  const auto options = std::make_shared<sites_options>();
  CLI::App* const command = app.add_subcommand("sites", "List the probes and markers of files and processes");
  command->group(heading::machine);
  command->add_option("FILE|PID", options->subjects, "ELF file, or number of a process; `./4711` is a file")
      ->required()
      ->type_name("");
  add_output(*command, options->outputs, {output_form::json, output_form::table, output_form::csv});
  add_format(*command, options->format, "the list on standard output");
  command->footer(
      "$ adaptyst sites ./solver\n"
      "$ adaptyst sites 4711 --format json\n"
      "\n"
      "The list shows the addresses of probes, semaphores and control blocks: as linked for a file, in memory for a "
      "process. A probe with long nops is fast on Linux 6.18 and later.\n"
      "\n"
      "For a process, the list also has the markers that have been enabled at least once, and how often each region "
      "ended since the last observation began. Other markers cannot be listed. If this user may not read the memory of "
      "the process, the list shows the reason.\n"
      "\n"
      "Exit status: 0 success; 2 wrong usage, or a file or process that could not be read.");
  command->callback([options] { sites(*options); });
}

}  // namespace adaptyst::tools
