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
  print_as(
      options.format, [&] { return to_json(all); }, [&] { return to_table(all); }, [&] { return to_rows(all); });
  if (all.size() != options.subjects.size()) end_with(bad_input);
}

}  // namespace

void add_sites(CLI::App& app) {
  const auto options = std::make_shared<sites_options>();
  CLI::App* const command = app.add_subcommand("sites", "Show the probes of files and processes, and their markers");
  command->add_option("FILE|PID", options->subjects, "An ELF file, or the number of a process; `./4711` is a file")
      ->required()
      ->type_name("");
  add_format(*command, options->format);
  command->footer(
      "$ adaptyst sites ./solver\n"
      "$ adaptyst sites 4711 --format json\n"
      "\n"
      "Of each ELF object with markers: where its probes, their semaphores and its control block are, as linked for a\n"
      "file, and in its memory for a process; and whether a probe has the 5-byte nop that makes Linux 6.18 fast.\n"
      "\n"
      "Of a process also the markers that have been awake, that is, observed at least once, with how often each ended\n"
      "since the latest observation began. Those that never were cannot be listed: they are plain data in the "
      "program,\n"
      "and nothing leads to them. Reading them takes the rights that ptrace asks for; where these are missing, the\n"
      "reason is given instead.\n"
      "\n"
      "Exit status: 0 all is well; 2 wrong usage, or one of them could not be read.");
  command->callback([options] { sites(*options); });
}

}  // namespace adaptyst::tools
