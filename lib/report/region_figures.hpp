// A region's figures as texts, column by column, and the meaning of the columns.
#ifndef ADAPTYST_LIB_REPORT_REGION_FIGURES_HPP
#define ADAPTYST_LIB_REPORT_REGION_FIGURES_HPP

#include <adaptyst/profile.hpp>
#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace adaptyst::lib {

// The heading, which is the same at all widths, and the width of the values with a space before them.
struct column {
  const char* heading;
  std::size_t min_columns;
};

inline constexpr std::array<column, 7> figures = {
    {{"THR", 5}, {"CALLS", 8}, {"TIME", 8}, {"SELF", 8}, {"%RUN", 7}, {"MEAN", 8}, {"P99", 8}}};
inline constexpr std::array<column, 3> parts = {{{"RUN", 5}, {"NOCORE", 7}, {"BLOCK", 6}}};
inline constexpr std::size_t mean_at = 5;

using region_figures = std::array<std::string, figures.size()>;
using context_parts = std::array<std::string, parts.size()>;

// The common form of all rows of a table.
struct figure_form {
  double wall_ns = 0;
  bool has_rounded_counts = false;  // "12.3 M" in all rows, if one of them has too many digits
};
figure_form find_figure_form(const profile& profile);

// Figures that cannot exist are empty: an instant event has no time.
region_figures make_figures(const region& row, const figure_form& form);
// Empty while regions are open: their time is not known yet.
context_parts make_parts(const std::optional<os_context>& context);

// The row of the time outside all regions.
inline constexpr const char* unmarked_name = "(unmarked)";
region_figures make_unmarked_figures(const profile& profile);

// "min 1.10 ms, median 1.58 ms, σ 210 us, max 9.10 ms"; empty: a single event, or no times.
std::string distribution_text(const region& row);

// The meaning of this row, or the reason why it has no figures.
std::string unmarked_legend(const profile& profile);
// The meaning of the parts of TIME, or the reason why there are none.
std::string parts_legend(const profile& profile);
// "context=none": why there are no parts, or the option that records them.
std::string explain_missing_parts(const profile& profile);

}  // namespace adaptyst::lib

#endif
