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
constexpr std::array<std::pair<const char*, report_choice>, 5> forms = {{{"table", report_choice::table},
                                                                         {"json", report_choice::json},
                                                                         {"csv", report_choice::csv},
                                                                         {"markdown", report_choice::markdown},
                                                                         {"none", report_choice::none}}};

}  // namespace

report_choice report_view::form() const {
  return std::find_if(forms.begin(), forms.end(), [this](const auto& form) { return format == form.first; })->second;
}

table_options report_view::chosen_options() const {
  table_options made;
  made.sort = static_cast<region_order>(std::find(orders.begin(), orders.end(), sort) - orders.begin());
  made.rows = rows;
  made.depth = depth;
  made.least_share = parse_fraction(least_share);
  made.verbose = is_verbose;
  return made;
}

void add_view(CLI::App& app, report_view& view, const char* where, bool has_list) {
  add_format(app, view.format, std::string("the report ") + where, has_list);
  add_verbose(
      app, view.is_verbose,
      "all rows, as --top 0 --depth 0 does, the legend, the spread of events, clocks and the account of events");
  app.add_option("--sort", view.sort, "Order of the regions with the same parent, greatest first")
      ->check(one_of({orders.begin(), orders.end()}))
      ->capture_default_str();
  app.add_option("--top", view.rows, "Show the N greatest rows and their parents; 0: all")
      ->check(whole_number())
      ->type_name("N")
      ->default_str(
          fmt::format("{}; markdown: {}; csv: 0", table_options::usual_rows, table_options::usual_rows_of_markdown));
  app.add_option("--depth", view.depth, "Show N levels of nesting; 0: all")
      ->check(whole_number())
      ->type_name("N")
      ->default_str(fmt::format("{}; csv: 0", table_options::usual_depth));
  app.add_option("--min-share", view.least_share, "Omit call paths below this share of the run")
      ->type_name("PERCENT")
      ->transform(percentage(0, 100))
      ->capture_default_str();
}

}  // namespace adaptyst::tools
