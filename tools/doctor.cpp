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

struct doctor_options {
  std::string format = "table", ceilings_file;
  std::vector<std::string> outputs;
  bool measures_ceilings = false;
};

// Text and rows of a result, printed and written.
template <class Result>
void give_result(const Result& found, const doctor_options& options) {
  give({[&] { return to_json(found); }, [&](const lib::screen& on) { return to_table(found, on); },
        [&] { return to_rows(found); }},
       options.outputs, options.format, "the result");
}

void measure_and_keep(const doctor_options& options) {
  const lib::measured_ceilings found = lib::measure_ceilings();
  give_result(found, options);
  const std::string file = options.ceilings_file.empty() ? lib::usual_ceilings_file(found.host) : options.ceilings_file;
  if (file.empty())
    throw error("there is no place to keep the ceilings: neither XDG_CACHE_HOME nor HOME is set", 0,
                "name a file: --ceilings FILE");
  lib::write_ceilings(file, found);
  if (options.format == "table") print(fmt::format("kept in {}\n", file));
}

}  // namespace

void add_doctor(CLI::App& app) {
  const auto options = std::make_shared<doctor_options>();
  CLI::App* const command = app.add_subcommand("doctor", "Check if eBPF works on this machine; measure its ceilings");
  command->group(heading::machine);
  CLI::Option* const measure = command->add_flag(
      "--measure-ceilings", options->measures_ceilings,
      "Instead, measure the greatest bandwidth and floating-point rates of this machine, and write them to a file");
  command->add_option("--ceilings", options->ceilings_file, "File for the ceilings; if not given, the usual file")
      ->type_name("FILE")
      ->needs(measure);
  add_output(*command, options->outputs, {output_form::json, output_form::table, output_form::csv});
  add_format(*command, options->format, "the result on standard output");
  command->footer(
      "$ adaptyst doctor\n"
      "$ adaptyst doctor --format json\n"
      "$ adaptyst doctor --measure-ceilings\n"
      "\n"
      "Each check is ok, no or unknown. The lines below a check show what needs it and, if it is missing, what to do. "
      "The first check loads the eBPF programs and attaches them to a function of this command.\n"
      "\n"
      "With `--measure-ceilings`, all CPUs that this command may use are busy for 5 to 10 s. The usual file is "
      "ceilings-HOST.json in $XDG_CACHE_HOME/adaptyst/, or in ~/.cache/adaptyst/. `report` and `levels` compare regions "
      "with the ceilings (docs/ceilings.md).\n"
      "\n"
      "Exit status: 0 `--engine ebpf` works for this user, or the ceilings were measured; 1 `--engine ebpf` does not "
      "work; 2 wrong usage, or the ceilings could not be measured or written.");
  command->callback([options] {
    if (options->measures_ceilings) return measure_and_keep(*options);
    const diagnosis found = diagnose();
    give_result(found, *options);
    if (!found.ebpf_works) end_with(no_ebpf);
  });
}

}  // namespace adaptyst::tools
