#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "discover/inspection.hpp"
#include "model/measured_ceilings.hpp"
#include "output.hpp"
#include "report/forms.hpp"
#include "session/ceilings.hpp"
#include "session/doctor.hpp"

namespace adaptyst::tools {

namespace {

void measure_and_keep(const std::string& format, const std::string& chosen_file) {
  const lib::measured_ceilings found = lib::measure_ceilings();
  print_as(
      format, [&] { return lib::to_json(found); }, [&] { return lib::to_table(found); },
      [&] { return lib::to_rows(found); });
  const std::string file = chosen_file.empty() ? lib::usual_ceilings_file(found.host) : chosen_file;
  if (file.empty())
    throw error("there is no place to keep the ceilings: neither XDG_CACHE_HOME nor HOME is set", 0,
                "name a file: --ceilings-file");
  lib::write_ceilings(file, found);
  if (format == "table") print(fmt::format("kept in {}\n", file));
}

}  // namespace

void add_doctor(CLI::App& app) {
  const auto format = std::make_shared<std::string>("table");
  const auto file = std::make_shared<std::string>();
  CLI::App* const command =
      app.add_subcommand("doctor", "Find out whether eBPF works here, and what stands in its way");
  CLI::Option* const ceilings = command->add_flag(
      "--ceilings", "Instead, measure what this machine can do at most, and keep it: bandwidth and multiply-adds");
  command->add_option("--ceilings-file", *file, "Keep that in this file, and not where it is found by itself")
      ->type_name("FILE")
      ->needs(ceilings);
  add_format(*command, *format);
  command->footer(
      "$ adaptyst doctor\n"
      "$ adaptyst doctor --format json\n"
      "$ adaptyst doctor --ceilings\n"
      "\n"
      "Each check is ok, no or unknown; below it stands what it is good for and, where it is missing, what to do. The\n"
      "programs are really loaded, and attached to a function of the command's own: the first check, and the exit\n"
      "status, are what came of that.\n"
      "\n"
      "With `--ceilings` all CPUs that this command may use are busy for 5 to 10 s. What was measured is kept in "
      "$XDG_CACHE_HOME/adaptyst/ceilings-HOST.json, or in ~/.cache; `report` and `levels` hold regions against it "
      "(docs/ceilings.md).\n"
      "\n"
      "Exit status: 0 `--engine ebpf` would work for the user who calls this, or ceilings were measured and kept; 1 it "
      "would\n"
      "not; 2 wrong usage, or ceilings that could not be measured or kept.");
  command->callback([format, file, ceilings] {
    if (*ceilings) return measure_and_keep(*format, *file);
    const diagnosis found = diagnose();
    print_as(
        *format, [&] { return to_json(found); }, [&] { return to_table(found); }, [&] { return to_rows(found); });
    if (!found.ebpf_works) end_with(no_ebpf);
  });
}

}  // namespace adaptyst::tools
