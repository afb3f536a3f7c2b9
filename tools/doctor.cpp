#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "report/diagnosis.hpp"
#include "session/doctor.hpp"

namespace adaptyst::tools {

void add_doctor(CLI::App& app) {
  const auto format = std::make_shared<std::string>("table");
  CLI::App* const command =
      app.add_subcommand("doctor", "Find out whether eBPF works here, and what stands in its way");
  add_format(*command, *format);
  command->footer(
      "$ adaptyst doctor\n"
      "$ adaptyst doctor --format json\n"
      "\n"
      "Each check is ok, no or unknown; below it stands what it is good for and, where it is missing, what to do. "
      "The\n"
      "programs are really loaded, and attached to a function of the command's own: the first check, and the exit\n"
      "status, are what came of that.\n"
      "\n"
      "Exit status: 0 `--engine ebpf` would work for the user who calls this; 1 it would not; 2 wrong usage.");
  command->callback([format] {
    const diagnosis found = diagnose();
    if (*format == "json") print_json(to_json(found));
    else print(to_table(found));
    if (!found.ebpf_works) end_with(no_ebpf);
  });
}

}  // namespace adaptyst::tools
