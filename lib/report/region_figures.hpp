// A region's figures as texts, column by column, and what the columns mean.
#ifndef ADAPTYST_LIB_REPORT_REGION_FIGURES_HPP
#define ADAPTYST_LIB_REPORT_REGION_FIGURES_HPP

#include <adaptyst/profile.hpp>
#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace adaptyst::lib {

// The heading, the shorter one for narrow tables, and the width of the values with a space before them.
struct column {
  const char* heading;
  const char* short_heading;
  std::size_t min_columns;
};

inline constexpr std::array<column, 7> figures = {{{"THREADS", "THR", 5},
                                                   {"CALLS", "CALLS", 8},
                                                   {"TIME", "TIME", 8},
                                                   {"SELF", "SELF", 8},
                                                   {"%RUN", "%RUN", 7},
                                                   {"MEAN", "MEAN", 8},
                                                   {"P99", "P99", 8}}};
inline constexpr std::array<column, 3> parts = {
    {{"RUNNING", "RUN", 5}, {"NO-CORE", "NOCORE", 5}, {"BLOCKED", "BLOCK", 5}}};
inline constexpr std::size_t mean_at = 5;

using region_figures = std::array<std::string, figures.size()>;
using context_parts = std::array<std::string, parts.size()>;

// Figures that cannot exist are empty: an instant has no time.
region_figures make_figures(const region& row, double wall_ns);
// Empty while regions are open: their time is not known yet.
context_parts make_parts(const std::optional<kernel_context>& context);

// The row that stands for what is outside all regions.
inline constexpr const char* unmarked_name = "(unmarked)";
region_figures make_unmarked_figures(const profile& profile);

// What that row is, or why it has no figures.
std::string unmarked_legend(const profile& profile);
// What the parts of TIME are, or why there are none.
std::string parts_legend(const profile& profile);

}  // namespace adaptyst::lib

#endif
