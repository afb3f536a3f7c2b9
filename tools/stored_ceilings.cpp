#include "stored_ceilings.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "analyse/roofline.hpp"
#include "discover/machine.hpp"
#include "model/measured_ceilings.hpp"
#include "output.hpp"
#include "report/forms.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

bool is_this_machine(const std::string& host) {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 && host == name;
}

machine_ceilings read_for(const std::string& host, const std::string& file, const ceilings_choice& choice) {
  const lib::measured_ceilings read = lib::read_ceilings(file);
  const std::string cpu = is_this_machine(host) ? lib::cpu_model() : std::string();
  if (const std::string wrong = lib::find_mismatch(read, host, cpu); !wrong.empty())
    throw error(fmt::format("the ceilings in {} are of no use here: {}", file, wrong), file, 0,
                "measure them on that machine: adaptyst doctor --measure-ceilings");
  return choose(read,
                choice.precision == "single" ? flop_precision::single_precision : flop_precision::double_precision);
}

}  // namespace

void add_ceilings(CLI::App& app, ceilings_choice& choice) {
  app.add_option(
         "--ceilings", choice.file,
         "File with the ceilings of the machine, which `adaptyst doctor --measure-ceilings` writes; if not given, the "
         "usual file, if it exists")
      ->type_name("FILE");
  app.add_option("--precision", choice.precision, "Precision of the program's flops, for the ceilings")
      ->check(one_of({"double", "single"}))
      ->capture_default_str();
}

std::optional<machine_ceilings> find_stored_ceilings(const std::string& host, const ceilings_choice& choice) {
  if (!choice.file.empty()) return read_for(host, choice.file, choice);
  const std::string file = lib::usual_ceilings_file(host);
  std::error_code none;
  if (file.empty() || !std::filesystem::exists(file, none)) return std::nullopt;
  try {
    return read_for(host, file, choice);
  } catch (const error& wrong) {
    complain(wrong.what());
    return std::nullopt;
  }
}

void add_known_rooflines(profile& to, const ceilings_choice& choice) {
  if (const auto stored = find_stored_ceilings(lib::find_host(to), choice)) lib::add_rooflines(to, *stored);
}

}  // namespace adaptyst::tools
