// `adaptyst advise`: which regions of a chain run best on which device, from profiles of runs with several inputs.
#include <fmt/format.h>

#include <adaptyst/advisor.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "advise/fields.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "report/forms.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

struct advise_options {
  std::vector<std::string> profiles, input, chain, features, powers, counts, outputs;
  std::string objective = "latency", format = "table";
  bool pipelined = false, is_verbose = false;
  double min_per_second = 0, max_latency_s = 0, max_watts = 0;
  std::string share = "90%";
};

struct assignment {
  std::string name;
  std::vector<double> values;
};

// "rows=4096", "host=120:20"
std::optional<assignment> parse_assignment(const std::string& text, std::size_t max_values) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  assignment made{text.substr(0, equals), {}};
  const char* at = text.data() + equals + 1;
  const char* const end = text.data() + text.size();
  while (true) {
    double value = 0;
    const auto [next, failed] = std::from_chars(at, end, value);
    if (failed != std::errc{} || !std::isfinite(value)) return std::nullopt;
    made.values.push_back(value);
    if (next == end) break;
    if (*next != ':' || made.values.size() == max_values) return std::nullopt;
    at = next + 1;
  }
  return made;
}

std::string check_feature(const std::string& text) {
  return parse_assignment(text, 1) ? std::string()
                                   : fmt::format("'{}' is not a feature and its value\nwrite it as in rows=4096", text);
}
std::string check_power(const std::string& text) {
  const std::optional<assignment> made = parse_assignment(text, 2);
  return made && made->values[0] > 0 &&
                 (made->values.size() == 1 || (made->values[1] >= 0 && made->values[1] <= made->values[0]))
             ? std::string()
             : fmt::format(
                   "'{}' is not the power of a device\nwrite it as in gpu=300, or gpu=300:40 with the idle power",
                   text);
}
std::string check_count(const std::string& text) {
  const std::optional<assignment> made = parse_assignment(text, 1);
  return made && made->values[0] >= 0 && made->values[0] <= 64 && made->values[0] == std::floor(made->values[0])
             ? std::string()
             : fmt::format("'{}' is not a number of devices from 0 to 64\nwrite it as in gpu=2", text);
}

// "host=120:40,gpu=300": a name may have commas, a value has none.
std::vector<std::string> split_assignments(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', std::min(text.find('=', begin), text.size()));
    all.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return all;
}

void split_each(std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts)
    for (std::string& assignment : split_assignments(text)) all.push_back(std::move(assignment));
  texts = std::move(all);
}

CLI::Validator for_each(std::string (*check)(const std::string&)) {
  return {[check](std::string& text) {
            for (const std::string& assignment : split_assignments(text))
              if (std::string wrong = check(assignment); !wrong.empty()) return wrong;
            return std::string();
          },
          ""};
}

device_type& find_device(std::vector<device_type>& all, const std::string& name) {
  for (device_type& type : all)
    if (type.name == name) return type;
  return all.emplace_back(device_type{name, 1, {}, {}});
}

advice_objective find_objective(const std::string& name) {
  return name == "throughput" ? advice_objective::throughput
         : name == "energy"   ? advice_objective::energy
         : name == "balanced" ? advice_objective::balanced
                              : advice_objective::latency;
}

void require_known_devices(const advise_options& options, const std::vector<profile>& profiles) {
  std::vector<std::string> names = {"host"};
  for (const profile& profile : profiles)
    for (std::size_t at = 1; at < profile.devices.size(); ++at) names.push_back(profile.devices[at].name);
  for (const std::vector<std::string>* const list : {&options.powers, &options.counts})
    for (const std::string& text : *list) {
      const std::string name = parse_assignment(text, 2)->name;
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw lib::error(fmt::format("the profiles have no device '{}'", name), name, 0,
                         fmt::format("they have: {}", fmt::join(names, ", ")));
    }
}

void advise(const advise_options& options) {
  std::vector<profile> profiles;
  profiles.reserve(options.profiles.size());
  for (const std::string& file : options.profiles) profiles.push_back(read_profile(file));
  require_known_devices(options, profiles);
  lib::advice_report report;
  advice_source source;
  source.chain = options.chain;
  source.features = options.features;
  feature_values input;
  for (const std::string& text : options.input) {
    const assignment assignment = *parse_assignment(text, 1);
    input[assignment.name] = assignment.values[0];
  }
  if (source.features.empty())
    for (const auto& [name, value] : input) source.features.push_back(name);
  if (!options.powers.empty() || !options.counts.empty()) find_device(source.devices, "host");
  for (const std::string& text : options.powers) {
    const assignment assignment = *parse_assignment(text, 2);
    device_type& device = find_device(source.devices, assignment.name);
    device.active_watts = assignment.values[0];
    if (assignment.values.size() > 1) device.idle_watts = assignment.values[1];
  }
  for (const std::string& text : options.counts) {
    const assignment assignment = *parse_assignment(text, 1);
    const auto count = static_cast<std::uint32_t>(assignment.values[0]);
    find_device(source.devices, assignment.name).count = std::max(1U, count);
    report.limits.max_devices[assignment.name] = count;
  }
  const profiled_advisor read = build_advisor(profiles, source);
  report.profiles = profiles.size();
  report.chain = read.built.chain();
  if (read.built.chain_text().find('|') != std::string::npos) report.branches = read.built.chain_text();
  report.features = read.built.features();
  report.devices = read.built.devices();
  report.objective = find_objective(options.objective);
  report.execution = options.pipelined ? execution_mode::pipelined : execution_mode::sequential;
  if (options.min_per_second > 0) report.limits.min_per_second = options.min_per_second;
  if (options.max_latency_s > 0) report.limits.max_latency_ns = options.max_latency_s * 1e9;
  if (options.max_watts > 0) report.limits.max_watts = options.max_watts;
  report.limits.balanced_share = parse_fraction(options.share);
  report.remarks = read.remarks;
  bool is_infeasible = false;
  for (const feature_values& values : input.empty() ? read.inputs : std::vector<feature_values>{input}) {
    report.inputs.push_back(
        {values, read.built.find_best(report.objective, values, report.execution, report.limits), {}});
    is_infeasible = is_infeasible || !report.inputs.back().given.best;
  }
  lib::add_alternatives(read.built, read.inputs, report);
  give({[&] { return lib::to_json(report); },
        [&](const lib::screen& on) { return lib::to_table(report, on, options.is_verbose); },
        [&] { return lib::to_rows(report); }},
       options.outputs, options.format, "the advice");
  if (is_infeasible) end_with(advice_infeasible);
}

void add_limits(CLI::App& app, advise_options& options) {
  app.add_option("--min-throughput", options.min_per_second, "Lowest permitted number of items per second")
      ->type_name("RATE")
      ->check(positive_number());
  app.add_option("--max-latency", options.max_latency_s,
                 "Greatest permitted time per item, in seconds or with a unit: 0.005, 5ms")
      ->type_name("DURATION")
      ->transform(duration(1e-9));
  app.add_option("--max-watts", options.max_watts, "Greatest permitted power if all used devices are busy")
      ->type_name("WATTS")
      ->check(positive_number());
  app.add_option("--share", options.share, "Share of the best throughput, in percent, that objective balanced keeps")
      ->type_name("PERCENT")
      ->transform(percentage(1, 100))
      ->capture_default_str();
}

}  // namespace

void add_advise(CLI::App& app) {
  const auto options = std::make_shared<advise_options>();
  CLI::App* const command = app.add_subcommand("advise", "Find the best device for each region");
  command->group(heading::analyse);
  // A profile may follow each option.
  const auto add_list = [command](const char* name, std::vector<std::string>& values, const std::string& meaning) {
    return command->add_option(name, values, meaning + "; several: with commas")->allow_extra_args(false);
  };
  command->add_option("PROFILE", options->profiles, "Profiles of runs with different inputs")
      ->required()
      ->type_name("");
  command->add_option("--objective", options->objective, "Objective of the advice")
      ->check(one_of({"throughput", "latency", "energy", "balanced"}))
      ->capture_default_str();
  add_list("--for", options->input, "Input to advise for; if not given, each input of the profiles")
      ->type_name("FEATURE=VALUE")
      ->check(for_each(check_feature));
  add_list("--chain", options->chain,
           "Regions that each item passes, branches as in load,(fft|filter),reduce; if not given, from metadata")
      ->type_name("NAME")
      ->delimiter(',');
  add_list("--features", options->features, "Features that the cost depends on; if not given, those that differ")
      ->type_name("NAME")
      ->delimiter(',');
  command->add_flag("--pipelined", options->pipelined,
                    "Items follow each other, and each group of regions has its own devices");
  add_list("--devices", options->counts, "Number of devices of a type; 0: none is used")
      ->type_name("DEVICE=N")
      ->check(for_each(check_count));
  add_list("--watts", options->powers, "Power of one device, busy and idle; unknown if not given")
      ->type_name("DEVICE=WATTS[:WATTS]")
      ->check(for_each(check_power));
  add_limits(*command, *options);
  add_output(*command, options->outputs, {output_form::json, output_form::table, output_form::csv});
  add_format(*command, options->format, "the advice on standard output");
  add_verbose(*command, options->is_verbose, "the legend");
  command->footer(
      "$ adaptyst advise small.json large.json\n"
      "$ adaptyst advise run-*.json --for rows=4096,density=0.05\n"
      "$ adaptyst advise run-*.json --objective energy --watts host=120:40,gpu=300:30\n"
      "\n"
      "Each profile is of a run with one input. Features of the input are metrics with one value in the whole run, and "
      "metadata that are numbers. A region of the chain has a row for each device that ran it. A regression over the "
      "features gives the time of a region; the time of a copy is a + bytes / b.\n"
      "\n"
      "The best of all mappings is found exactly. A region that was measured on no device is refused. Inputs outside "
      "the measured range are marked. docs/advice.md has the formulas.\n"
      "\n"
      "Exit status: 0 success; 1 no mapping keeps the limits; 2 wrong usage, a profile could not be read, or it lacks "
      "necessary data.");
  command->callback([options] {
    for (std::vector<std::string>* const texts : {&options->input, &options->powers, &options->counts})
      split_each(*texts);
    advise(*options);
  });
}

}  // namespace adaptyst::tools
