// For people: the levels with what looking at each has cost, then the regions with the figures of their own level.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../support/text.hpp"
#include "attribute_text.hpp"
#include "levels_forms.hpp"
#include "stack_forms.hpp"

namespace adaptyst::lib {

namespace {

std::string format_error(const std::optional<estimate>& of) { return of && of->error ? duration(*of->error) : "—"; }

// "~": less than two standard errors.
std::string format_overhead(const std::optional<estimate>& of) {
  if (!of) return "—";
  const bool is_told = of->error && std::abs(of->value) >= 2 * *of->error;
  return fmt::format("{}{}{}", is_told ? "" : "~", of->value < 0 ? "-" : "", duration(std::abs(of->value)));
}

void add_levels(const levels_result& result, std::string& to) {
  to += fmt::format("{} {} {} {} {} {} {} {}\n", fitted("LEVEL", 12), right("RUNS", 5), right("REGIONS", 8),
                    right("EVENTS", 9), right("RUN TIME", 10), right("±", 9), right("OVERHEAD", 11), right("±", 9));
  double above_ns = 0;
  for (const levelled_summary& one : result.levels) {
    const std::string share =
        one.overhead_ns && above_ns > 0 ? fmt::format("  {:+.1f}%", 100 * one.overhead_ns->value / above_ns) : "";
    to += fmt::format("{} {:5} {:8} {} {} {} {} {}{}\n", fitted(std::string(level_name(one.which)), 12), one.runs,
                      one.regions, right(format_number(one.events), 9), right(duration(one.run_ns.value), 10),
                      right(format_error(one.run_ns), 9), right(format_overhead(one.overhead_ns), 11),
                      right(format_error(one.overhead_ns), 9), share);
    above_ns = one.run_ns.value;
  }
}

void add_regions(const levels_result& result, std::size_t screen, std::string& to) {
  constexpr std::size_t of_figures = 80;
  const std::size_t room = std::max<std::size_t>(20, screen > of_figures ? screen - of_figures : 0);
  to += fmt::format("\n{} {} {} {} {} {} {} {} {}\n", fitted("REGION", room), fitted("LEVEL", 11), fitted("ON", 12),
                    right("CALLS", 8), right("TIME", 8), right("±", 8), right("PER CALL", 8), right("DEEPER", 9),
                    right("±", 8));
  for (const levelled_region& one : result.regions) {
    const std::string name = std::string(2 * (one.path.size() - 1), ' ') + printable(one.path.back());
    to += fmt::format("{} {} {} {} {} {} {} {} {}\n", cut_in_middle(name, room),
                      fitted(std::string(level_name(one.at)), 11), fitted(one.device, 12),
                      right(format_number(one.calls) + (one.calls_vary ? "*" : ""), 8),
                      right(duration(one.total_ns.value), 8), right(format_error(one.total_ns), 8),
                      right(one.per_call_ns ? duration(one.per_call_ns->value) : "—", 8),
                      right(format_overhead(one.overhead_ns), 9), right(format_error(one.overhead_ns), 8));
    if (one.roofline) to += wrapped(roofline_text(*one.roofline), screen, 2 * one.path.size());
  }
}

}  // namespace

std::string to_table(const levels_result& result, const levels_settings& how, std::size_t screen) {
  std::string made;
  add_levels(result, made);
  add_regions(result, screen, made);
  made += "\n";
  made +=
      wrapped(
          fmt::format(
              "means of {} a level, trimmed by {:g} at each end, engine {}, overhead={}; ±: standard "
              "error. OVERHEAD and DEEPER: how much longer the run, or the region, took when one level more was "
              "looked at; ~: by less than two standard errors, which may be chance",
              how.repeat == 1 ? "one run" : fmt::format("{} runs", how.repeat), result.trim, how.engine, how.overhead),
          screen) +
      "\n";
  if (result.ceilings) made += wrapped(roofline_legend(*result.ceilings), screen) + "\n";
  if (how.with_stack) made += to_table(analyse_stack(result), screen);
  for (const std::string& one : result.remarks) made += wrapped(one, screen) + "\n";
  return made;
}

}  // namespace adaptyst::lib
