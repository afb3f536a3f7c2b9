// Advice as text: for each input the mapping, the times of the alternatives, and the basis of each figure.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "../advise/fields.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

namespace {

std::string format_features(const feature_values& features) {
  std::string made;
  for (const auto& [name, value] : features)
    made += fmt::format("{}{} {:g}", made.empty() ? "" : ", ", printable(name), value);
  return made.empty() ? "any input" : made;
}

std::string format_stages(const mapping& candidate, const advice_report& report) {
  std::string made;
  for (const advised_stage& stage : candidate.stages) {
    made += made.empty() ? "" : " | ";
    for (std::size_t region = stage.first; region <= stage.last; ++region)
      made += (region == stage.first ? "" : ", ") + printable(report.chain[region]);
    made += " on " + (stage.count > 1 ? fmt::format("{} ", stage.count) : std::string()) +
            printable(report.devices[stage.device].name);
    if (stage.lane > 0) made += fmt::format(" (lane {})", stage.lane);
  }
  return made;
}

std::string format_cost(const mapping& candidate, const advice_report& report) {
  std::string made = duration(candidate.latency_ns) + " an item";
  if (candidate.copy_ns > 0) made += ", with " + duration(candidate.copy_ns) + " of copies";
  if (report.execution == execution_mode::pipelined)
    made +=
        fmt::format("; one each {}, {} a second", duration(candidate.period_ns), format_number(candidate.per_second()));
  if (candidate.joules) made += "; " + quantity(*candidate.joules, "J");
  return made;
}

// The expected error of a mapping's time, from the errors of its regions; empty: the error of a region is unknown.
std::optional<double> find_error(const mapping& candidate, const advice& given, const advice_report& report,
                                 bool& is_extrapolated) {
  double sum = 0;
  bool is_known = true;
  for (const advised_stage& stage : candidate.stages)
    for (const region_cost& cost : given.costs)
      for (std::size_t region = stage.first; region <= stage.last; ++region)
        if (cost.region == report.chain[region] && cost.device == report.devices[stage.device].name &&
            cost.count == stage.count) {
          is_extrapolated = is_extrapolated || cost.cost.provenance == cost_provenance::extrapolated;
          if (cost.cost.provenance == cost_provenance::measured) continue;
          is_known = is_known && cost.cost.cv_error;
          sum += cost.cost.cv_error.value_or(0) * cost.cost.ns;
        }
  if (!is_known || !(candidate.latency_ns > 0)) return std::nullopt;
  return sum / candidate.latency_ns;
}

std::string format_ratio(const advice_ratio& ratio) {
  std::string made = digits_cell(ratio.value).words + " x";
  if (ratio.low && ratio.high)
    made += " (" + digits_cell(ratio.low).words + " … " + digits_cell(ratio.high).words + ")";
  return made;
}

bool is_of_energy(const advice_report& report) {
  return report.objective == advice_objective::energy || report.objective == advice_objective::balanced;
}

std::string alternatives_text(const advised_input& input, const advice_report& report, const screen& on) {
  if (input.alternatives.empty()) return {};
  text_table table({{"INSTEAD", column_kind::text, 23, 40},
                    {"AN ITEM"},
                    {is_of_energy(report) ? "ENERGY RATIO (95 %)" : "SPEED-UP (95 %)", column_kind::text},
                    {"MAPPING", column_kind::name, 20}});
  for (const advice_alternative& other : input.alternatives) {
    const bool is_only = other.found.stages.size() == 1;
    table.add({printable(other.name),
               is_of_energy(report) ? table_cell(quantity(other.found.joules.value_or(0), "J"))
               : report.objective == advice_objective::throughput ? time_cell(other.found.period_ns)
                                                                  : time_cell(other.found.latency_ns),
               format_ratio(other.ratio),
               is_only && other.name != "best static" ? "" : format_stages(other.found, report)});
  }
  return table.text(on, 2);
}

std::vector<table_column> list_cost_columns() {
  return {{"REGION", column_kind::text, 23, 40},
          {"ON", column_kind::text, 21, 30},
          {"TIME", column_kind::number, 0, 0, "ns"},
          {"DEV", column_kind::number, 0, 0, "ns"},
          {"N"},
          {"INPUTS"},
          {"CV"},
          {"FROM", column_kind::name, 20}};
}

std::vector<table_cell> make_cells(const region_cost& of) {
  const cost_estimate& cost = of.cost;
  const bool is_measured = cost.provenance == cost_provenance::measured;
  return {printable(of.region),
          (of.count > 1 ? fmt::format("{} ", of.count) : "") + printable(of.device),
          time_cell(cost.ns),
          time_cell(cost.deviation_ns),
          count_cell(static_cast<double>(cost.n)),
          std::to_string(cost.inputs),
          percent_cell(is_measured ? std::nullopt : cost.cv_error),
          to_string(cost.provenance) + (is_measured ? "" : ", " + cost.model)};
}

std::string costs_text(const advice& given, const screen& on) {
  text_table table(list_cost_columns());
  for (const region_cost& cost : given.costs) table.add(make_cells(cost));
  return table.text(on, 2);
}

}  // namespace

namespace {

// A mapping has no region, and a region has no period: their cells are empty.
std::vector<table_cell> make_mapping_cells(const std::string& name, const mapping& found, const advice_ratio& ratio,
                                           const advice_report& report) {
  const auto cell = [](std::optional<double> value) { return value ? digits_cell(value) : table_cell(""); };
  return {"",
          format_stages(found, report),
          time_cell(found.latency_ns),
          "",
          "",
          "",
          "",
          "",
          printable(name),
          time_cell(found.period_ns),
          cell(found.joules),
          cell(ratio.value),
          cell(ratio.low),
          cell(ratio.high)};
}

}  // namespace

// The regions' costs, then the advised mapping and its alternatives.
text_table to_rows(const advice_report& report) {
  std::vector<table_column> described = list_cost_columns();
  described.insert(described.begin(), {"INPUT", column_kind::text});
  described.insert(described.end(), {{"MAPPING", column_kind::text},
                                     {"PERIOD", column_kind::number, 0, 0, "ns"},
                                     {"JOULES"},
                                     {"RATIO"},
                                     {"RATIO LOW"},
                                     {"RATIO HIGH"}});
  text_table table(std::move(described));
  const auto add = [&](const advised_input& input, std::vector<table_cell> cells) {
    cells.insert(cells.begin(), format_features(input.features));
    table.add(std::move(cells));
  };
  for (const advised_input& input : report.inputs) {
    for (const region_cost& cost : input.given.costs) add(input, make_cells(cost));
    if (input.given.best) add(input, make_mapping_cells("advised", *input.given.best, {1, 1, 1}, report));
    for (const advice_alternative& other : input.alternatives)
      add(input, make_mapping_cells(other.name, other.found, other.ratio, report));
  }
  return table;
}

std::string to_table(const advice_report& report, const screen& on, bool is_verbose) {
  std::string made =
      fmt::format("{} regions, {} types of devices, from {} profiles; best by {}, items {}\n", report.chain.size(),
                  report.devices.size(), report.profiles, to_string(report.objective),
                  report.execution == execution_mode::pipelined ? "in a pipeline" : "one at a time");
  if (report.objective == advice_objective::balanced)
    made += fmt::format("balanced: least energy with at least {} of the best throughput\n",
                        percent(report.limits.balanced_share));
  for (const advised_input& input : report.inputs) {
    made += "\n" + painted_heading(format_line(format_features(input.features), on.columns), on.has_colour);
    if (!input.given.best) {
      made += wrapped("  " + input.given.reason, on.columns, 2);
    } else {
      const mapping& best = *input.given.best;
      bool is_extrapolated = false;
      const std::optional<double> error = find_error(best, input.given, report, is_extrapolated);
      made += wrapped("  " + format_stages(best, report), on.columns, 2);
      made += format_line("  " + format_cost(best, report) + (error.value_or(0) > 0 ? ", ± " + percent(*error) : "") +
                              (is_extrapolated ? "; EXTRAPOLATED" : ""),
                          on.columns);
      for (const mapping& other : input.given.pareto)
        if (!(other.stages == best.stages))
          made += wrapped("  also: " + format_stages(other, report) + ": " + format_cost(other, report), on.columns, 2);
    }
    made += alternatives_text(input, report, on);
    made += costs_text(input.given, on);
    for (const std::string& remark : input.given.remarks)
      made += wrapped("  note: " + printable(remark), on.columns, 2);
  }
  made += "\n";
  for (const std::string& remark : report.remarks) made += wrapped("note: " + printable(remark), on.columns);
  if (!is_verbose)
    return made + wrapped("CV: mean error of the regression; ±: that of the mapping; more: --verbose", on.columns);
  made += wrapped(
      "TIME: of a call; DEV: its standard deviation; N: calls; INPUTS: profiles with the region. CV: mean error of a "
      "regression where each input is predicted by the others; ±: that of a whole mapping, without its copies. "
      "Mappings that differ by less count as equal. Slowdowns by shared caches or memory are not included.",
      on.columns);
  return made;
}

}  // namespace adaptyst::lib
