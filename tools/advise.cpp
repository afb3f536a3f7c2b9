// `adaptyst advise`: which regions of a chain run best on which device, from profiles of runs with several inputs.
#include <fmt/format.h>

#include <adaptyst/advisor.hpp>
#include <charconv>
#include <cmath>
#include <memory>

#include "advise/fields.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "report/forms.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

struct advise_options {
  std::vector<std::string> profiles, input, chain, features, powers, counts;
  std::string objective = "latency", format = "table";
  bool pipelined = false;
  double min_per_second = 0, max_latency_ms = 0, max_watts = 0, share = 90;
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
  return parse_assignment(text, 1) ? std::string() : fmt::format("'{}' is not such as rows=4096", text);
}
std::string check_power(const std::string& text) {
  const std::optional<assignment> made = parse_assignment(text, 2);
  return made && made->values[0] > 0 &&
                 (made->values.size() == 1 || (made->values[1] >= 0 && made->values[1] <= made->values[0]))
             ? std::string()
             : fmt::format("'{}' is not such as gpu=300 or gpu=300:40, at work and idle", text);
}
std::string check_count(const std::string& text) {
  const std::optional<assignment> made = parse_assignment(text, 1);
  return made && made->values[0] >= 0 && made->values[0] <= 64 && made->values[0] == std::floor(made->values[0])
             ? std::string()
             : fmt::format("'{}' is not such as gpu=2, from 0 to 64", text);
}

advised_device& find_device(std::vector<advised_device>& all, const std::string& name) {
  for (advised_device& one : all)
    if (one.name == name) return one;
  return all.emplace_back(advised_device{name, 1, {}, {}});
}

advice_objective find_objective(const std::string& name) {
  return name == "throughput" ? advice_objective::throughput
         : name == "energy"   ? advice_objective::energy
         : name == "balanced" ? advice_objective::balanced
                              : advice_objective::latency;
}

void require_known_devices(const advise_options& options, const std::vector<profile>& profiles) {
  std::vector<std::string> known = {"host"};
  for (const profile& one : profiles)
    for (std::size_t at = 1; at < one.devices.size(); ++at) known.push_back(one.devices[at].name);
  for (const std::vector<std::string>* const list : {&options.powers, &options.counts})
    for (const std::string& text : *list) {
      const std::string name = parse_assignment(text, 2)->name;
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw lib::error(fmt::format("the profiles have no device '{}'", name), name, 0,
                         fmt::format("they have: {}", fmt::join(known, ", ")));
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
    const assignment one = *parse_assignment(text, 1);
    input[one.name] = one.values[0];
  }
  if (source.features.empty())
    for (const auto& [name, value] : input) source.features.push_back(name);
  if (!options.powers.empty() || !options.counts.empty()) find_device(source.devices, "host");
  for (const std::string& text : options.powers) {
    const assignment one = *parse_assignment(text, 2);
    advised_device& device = find_device(source.devices, one.name);
    device.active_watts = one.values[0];
    if (one.values.size() > 1) device.idle_watts = one.values[1];
  }
  for (const std::string& text : options.counts) {
    const assignment one = *parse_assignment(text, 1);
    const auto count = static_cast<std::uint32_t>(one.values[0]);
    find_device(source.devices, one.name).count = std::max(1U, count);
    report.limits.max_devices[one.name] = count;
  }
  const profiled_advisor read = advise_from(profiles, source);
  report.profiles = profiles.size();
  report.chain = read.built.chain();
  report.features = read.built.features();
  report.devices = read.built.devices();
  report.objective = find_objective(options.objective);
  report.execution = options.pipelined ? advice_execution::pipelined : advice_execution::one_at_a_time;
  if (options.min_per_second > 0) report.limits.min_per_second = options.min_per_second;
  if (options.max_latency_ms > 0) report.limits.max_latency_ns = options.max_latency_ms * 1e6;
  if (options.max_watts > 0) report.limits.max_watts = options.max_watts;
  report.limits.balanced_share = options.share / 100;
  report.remarks = read.remarks;
  bool is_infeasible = false;
  for (const feature_values& one : input.empty() ? read.inputs : std::vector<feature_values>{input}) {
    report.inputs.push_back({one, read.built.best(report.objective, one, report.execution, report.limits)});
    is_infeasible = is_infeasible || !report.inputs.back().given.best;
  }
  print_as(
      options.format, [&] { return lib::to_json(report); }, [&] { return lib::to_table(report); },
      [&] { return lib::to_rows(report); });
  if (is_infeasible) end_with(advice_infeasible);
}

}  // namespace

void add_advise(CLI::App& app) {
  const auto options = std::make_shared<advise_options>();
  CLI::App* const command = app.add_subcommand("advise", "Advise which regions to run on which device");
  command->add_option("PROFILE", options->profiles, "Profiles of runs with different inputs")
      ->required()
      ->type_name("");
  command->add_option("--objective", options->objective, "What is to be best")
      ->check(one_of({"throughput", "latency", "energy", "balanced"}))
      ->capture_default_str();
  command->add_option("--for", options->input, "The input to advise for; if not given, each that was profiled")
      ->type_name("FEATURE=VALUE")
      ->check(check_feature);
  command->add_option("--chain", options->chain, "The regions that an item passes; if not given, from metadata")
      ->type_name("NAME,NAME,...")
      ->delimiter(',');
  command
      ->add_option("--features", options->features, "By what costs differ; if not given, what differs in all profiles")
      ->type_name("NAME,NAME,...")
      ->delimiter(',');
  command->add_flag("--pipelined", options->pipelined,
                    "Items follow each other, each group of regions on devices of its own");
  command->add_option("--devices", options->counts, "How many devices of a type there are; 0: none is to be used")
      ->type_name("DEVICE=N")
      ->check(check_count);
  command->add_option("--watts", options->powers, "Power of one device at work and when idle (unknown if not given)")
      ->type_name("DEVICE=WATTS[:WATTS]")
      ->check(check_power);
  command->add_option("--min-throughput", options->min_per_second, "At least so many items a second")
      ->type_name("PER_SECOND")
      ->check(positive_number());
  command->add_option("--max-latency", options->max_latency_ms, "At most so many milliseconds an item")
      ->type_name("MS")
      ->check(positive_number());
  command
      ->add_option("--max-watts", options->max_watts, "With all devices at work that are used, at most so many watts")
      ->type_name("WATTS")
      ->check(positive_number());
  command->add_option("--share", options->share, "The part of the best throughput that balanced keeps, in percent")
      ->type_name("PERCENT")
      ->check(number_between(1, 100))
      ->capture_default_str();
  add_format(*command, options->format);
  command->footer(
      "$ adaptyst advise small.json large.json\n"
      "$ adaptyst advise run-*.json --for rows=4096 --for density=0.05\n"
      "$ adaptyst advise run-*.json --objective energy --watts host=120:40 --watts gpu=300:30\n"
      "\n"
      "Each profile is of a run with one input. Features of the input are metrics that have one value in the\n"
      "whole run, and metadata that is a number. A region of the chain has a row on each device that it ran\n"
      "on: its time there follows from the features by a regression, that of a copy is a + bytes / b.\n"
      "\n"
      "Among all mappings the best one is found exactly. A region that was measured on no device is\n"
      "refused; what lies outside of what was measured is marked. docs/advice.md has the formulas.\n"
      "\n"
      "Exit status: 0 all is well; 1 no mapping keeps the limits; 2 wrong usage, or a profile that could not be read\n"
      "or has not what is needed.");
  command->callback([options] { advise(*options); });
}

}  // namespace adaptyst::tools
