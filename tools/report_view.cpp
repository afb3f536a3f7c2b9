// Flags that choose which rows of a profile are printed, and in what form.
#include "report_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "output.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

constexpr std::array<std::string_view, 6> orders = {"time", "self", "calls", "mean", "p99", "name"};  // region_order
constexpr std::array<std::pair<const char*, report_choice>, 4> forms = {{{"table", report_choice::table},
                                                                         {"json", report_choice::json},
                                                                         {"csv", report_choice::csv},
                                                                         {"markdown", report_choice::markdown}}};

}  // namespace

report_choice report_view::form() const {
  return std::find_if(forms.begin(), forms.end(), [this](const auto& one) { return format == one.first; })->second;
}

table_options report_view::chosen_options() const {
  table_options made;
  made.sort = static_cast<region_order>(std::find(orders.begin(), orders.end(), sort) - orders.begin());
  made.rows = rows;
  made.depth = depth;
  made.least_share = *parse_fraction(least_share);
  return made;
}

void add_view(CLI::App& app, report_view& view) {
  std::vector<std::string> names;
  names.reserve(forms.size());
  for (const auto& [name, form] : forms) names.emplace_back(name);
  CLI::Option* const format =
      app.add_option("--format", view.format, "What is printed: a table for people, the profile, or rows")
          ->check(one_of(names))
          ->capture_default_str();
  // The subcommands that observe have --report for the same purpose.
  if (CLI::Option* const report = app.get_option_no_throw("--report"); report != nullptr) format->excludes(report);
  app.add_option("--sort", view.sort, "Order of regions below each parent, the greatest first")
      ->check(one_of({orders.begin(), orders.end()}))
      ->capture_default_str();
  app.add_option("--top", view.rows, "So many rows at most, the greatest, with what they are nested in; 0: all")
      ->check(whole_number())
      ->type_name("N")
      ->default_str(
          fmt::format("{}; markdown: {}; csv: 0", table_options::usual_rows, table_options::usual_rows_of_markdown));
  app.add_option("--depth", view.depth, "So many levels of nesting at most; 0: all")
      ->check(whole_number())
      ->type_name("N")
      ->default_str(fmt::format("{}; csv: 0", table_options::usual_depth));
  app.add_option("--min-share", view.least_share, "Leave out call paths below this share of the run")
      ->type_name("PERCENT%")
      ->check(check_percent)
      ->capture_default_str();
}

}  // namespace adaptyst::tools
