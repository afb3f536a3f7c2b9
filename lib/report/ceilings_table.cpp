#include <fmt/format.h>

#include "../model/measured_ceilings.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

namespace {

void add(text_table& to, const char* what, const char* on, const repeated_rate& rate, const char* unit) {
  const auto cell = [](double value) { return table_cell(fmt::format("{:.2f}", value), value); };
  to.add({what, on, cell(rate.best), cell(rate.median), cell(rate.worst),
          table_cell(fmt::format("{:.0f}%", 100 * rate.spread()), rate.spread()), std::to_string(rate.count), unit});
}

void add(text_table& to, const char* on, const ceiling_rates& rates) {
  add(to, "triad", on, rates.gbytes, "GB/s");
  add(to, "multiply-add", on, rates.double_gflops, "GFLOP/s, double precision");
  add(to, "multiply-add", on, rates.single_gflops, "GFLOP/s, single precision");
}

}  // namespace

text_table to_rows(const measured_ceilings& ceilings) {
  text_table table({{"CEILING", column_kind::text},
                    {"ON", column_kind::text},
                    {"BEST"},
                    {"MEDIAN"},
                    {"WORST"},
                    {"SPREAD"},
                    {"N"},
                    {"UNIT", column_kind::text}});
  add(table, "one thread", ceilings.one_thread);
  add(table, "all CPUs", ceilings.all);
  return table;
}

std::string to_table(const measured_ceilings& ceilings, const screen& on) {
  std::string made = fmt::format("{}, {}, {} CPUs, measured {} in {:.1f} s\n\n", printable(ceilings.host),
                                 printable(ceilings.cpu.empty() ? "a processor that is not known" : ceilings.cpu),
                                 ceilings.cpus, printable(ceilings.measured), ceilings.seconds);
  made += to_rows(ceilings).text(on) + "\n";
  const auto bytes = [](std::uint64_t of) { return quantity(static_cast<double>(of), "B"); };
  const std::string caches = ceilings.cache_bytes != 0
                                 ? fmt::format("last-level caches of {}", bytes(ceilings.cache_bytes))
                                 : std::string("caches of a size that is not known");
  made +=
      wrapped(fmt::format(
          "The ceiling is the best of N repetitions. Triad: a = b + s c, three arrays of {} for one thread and {} for "
          "all, {}; 24 bytes an element, as STREAM counts: that caches read what is about to be written is not "
          "counted. Multiply-add: {}, two operations each.",
          bytes(ceilings.one_thread.array_bytes), bytes(ceilings.all.array_bytes), caches,
          printable(ceilings.instructions))) +
      "\n";
  made += wrapped("Devices have no ceilings yet: none was measured.") + "\n";
  if (ceilings.is_disturbed())
    made += wrapped(
                "The machine was busy: half of the repetitions of a row were more than a tenth slower than its best. "
                "Measure again when nothing else runs.") +
            "\n";
  const auto is_small = [&](const ceiling_rates& of) {
    constexpr std::uint64_t page = 4096;  // to which arrays are rounded down
    return 3 * (of.array_bytes + page) < 4 * ceilings.cache_bytes;
  };
  if (is_small(ceilings.one_thread) || is_small(ceilings.all))
    made += wrapped(
                "The arrays are together smaller than four times the caches, for which they would have taken too much "
                "memory or time: bandwidth may be partly that of a cache.") +
            "\n";
  return made;
}

}  // namespace adaptyst::lib
