#include <fmt/format.h>

#include "../support/text.hpp"
#include "ceilings_forms.hpp"

namespace adaptyst::lib {

namespace {

std::string format_row(const char* what, const char* on, const repeated_rate& rate, const char* unit) {
  return fmt::format("{} {} {:>9.2f} {:>9.2f} {:>9.2f} {:>6} {:>3}  {}\n", fitted(what, 16), fitted(on, 10), rate.best,
                     rate.median, rate.worst, fmt::format("{:.0f}%", 100 * rate.spread()), rate.count, unit);
}

std::string format_rows(const char* on, const ceiling_rates& rates) {
  return format_row("triad", on, rates.gbytes, "GB/s") +
         format_row("multiply-add", on, rates.double_gflops, "GFLOP/s, double precision") +
         format_row("multiply-add", on, rates.single_gflops, "GFLOP/s, single precision");
}

}  // namespace

std::string to_table(const measured_ceilings& ceilings) {
  std::string made = fmt::format("{}, {}, {} CPUs, measured {} in {:.1f} s\n\n", printable(ceilings.host),
                                 printable(ceilings.cpu.empty() ? "a processor that is not known" : ceilings.cpu),
                                 ceilings.cpus, printable(ceilings.measured), ceilings.seconds);
  made += fmt::format("{} {} {:>9} {:>9} {:>9} {:>6} {:>3}\n", fitted("CEILING", 16), fitted("ON", 10), "BEST",
                      "MEDIAN", "WORST", "SPREAD", "N");
  made += format_rows("one thread", ceilings.one) + format_rows("all CPUs", ceilings.all) + "\n";
  const auto bytes = [](std::uint64_t of) { return quantity(static_cast<double>(of), "B"); };
  const std::string caches = ceilings.cache_bytes != 0
                                 ? fmt::format("last-level caches of {}", bytes(ceilings.cache_bytes))
                                 : std::string("caches of a size that is not known");
  made +=
      wrapped(fmt::format(
          "The ceiling is the best of N repetitions. Triad: a = b + s c, three arrays of {} for one thread and {} for "
          "all, {}; 24 bytes an element, as STREAM counts: that caches read what is about to be written is not "
          "counted. Multiply-add: {}, two operations each.",
          bytes(ceilings.one.array_bytes), bytes(ceilings.all.array_bytes), caches, printable(ceilings.instructions))) +
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
  if (is_small(ceilings.one) || is_small(ceilings.all))
    made += wrapped(
                "The arrays are together smaller than four times the caches, for which they would have taken too much "
                "memory or time: bandwidth may be partly that of a cache.") +
            "\n";
  return made;
}

}  // namespace adaptyst::lib
