// The parts of a comparison, and of the ceilings of a machine.
#ifndef ADAPTYST_LIB_MODEL_COMPARISON_FIELDS_HPP
#define ADAPTYST_LIB_MODEL_COMPARISON_FIELDS_HPP

#include <adaptyst/compare.hpp>
#include <array>
#include <optional>

#include "listed.hpp"
#include "measured_ceilings.hpp"
#include "words.hpp"

namespace adaptyst::lib::listed {

constexpr auto fields(type<compared_side>) {
  using of = compared_side;
  return list("side", "A region in the runs of one side, summed over source lines and runs.",
              value("runs", &of::runs, always, "That contain the region."),
              value("count", &of::count, always, "Events."),
              value("total_ns", &of::total_ns, always, "Their time; null: not timed."),
              follows("mean_ns", &of::mean_ns, always, "Mean time of an event."));
}

constexpr auto fields(type<differing_setting>) {
  using of = differing_setting;
  return list("differing", "Something that was not the same on both sides.",
              value("kind", &of::kind, always, "The kind of the setting."),
              value("name", &of::name, always, "The name of the setting."),
              value("before", &of::before, always, "All values, \", \" between them; empty: no run has it."),
              value("after", &of::after, always, "Likewise."));
}

constexpr auto fields(type<compared_region>) {
  using of = compared_region;
  return list(
      "region", "A call path on a device.", value("path", &of::path, always, "Names from the root of the thread."),
      value("kind", &of::kind, always, "The kind of the region: docs/design.md."),
      object("device", always, "On which it ran.",
             follows(
                 "kind", [](const of& one) { return one.device_kind ? to_string(*one.device_kind) : "?"; }, always,
                 "\"?\": the profiles do not list it."),
             value("index", &of::device_index, always, "The program's number of it, among its kind.")),
      value("before", &of::before, always, "null: in no run."), value("after", &of::after, always, "Likewise."),
      follows("change_of_total", &of::change_of_total, always, "Change of the total of a run, after / before - 1."),
      value("change_of_mean", &of::change_of_mean, always, "Change of the mean duration, after / before - 1."),
      follows(
          "interval",
          [](const of& one) {
            return one.interval ? std::optional(std::array{one.interval->low, one.interval->high}) : std::nullopt;
          },
          always, "In which change_of_mean is with 95 % certainty, for this region alone: its two ends."),
      value("p", &of::p, always,
            "How often chance alone makes a change as large as this anywhere in the comparison; null: untested."),
      value("slower", &of::slower, always,
            "For single runs: the share of pairs in which the event after the change takes longer; ties count half."),
      value("verdict", &of::found, always, "How it is reached: docs/comparing.md."));
}

constexpr auto fields(type<comparison>) {
  using of = comparison;
  return list(
      "comparison",
      "The output of `adaptyst diff --format json`. Times are nanoseconds, changes are fractions: 0.1 is 10 % more. A "
      "quantity that could not be had is null, never 0.",
      follows(
          "comparison", [](const of&) { return 1; }, always, "The version of this description."),
      object("runs", always, "How many profiles were given of each side.",
             value("before", &of::runs_before, always, "Profiles from before the change."),
             value("after", &of::runs_after, always, "Profiles from after it.")),
      value("by", &of::by, always, "Which time is compared: of the wall clock, or on a core."),
      value("equal", &of::is_equal, always, "Two single runs with equal counts, times and distributions."),
      object("no_core", always,
             "The share of the time in which threads could run that they had no core, on average over the runs.",
             value("before", &of::no_core_before, always, "null: not known."),
             value("after", &of::no_core_after, always, "Likewise.")),
      value("method", &of::method, always,
            "How it was decided what is more than chance, see docs/comparing.md: a rank test of single events and a "
            "floor; permutations of runs; Welch's t with Holm's correction."),
      follows(
          "significance_level", [](const of&) { return significance_level; }, always,
          "p below it is called significant: the chance of any wrong verdict in the whole comparison."),
      follows(
          "floor",
          [](const of& all) {
            return all.method == comparison_method::single_runs ? std::optional(single_run_floor) : std::nullopt;
          },
          always, "By how much means of single runs may differ without a verdict; null for sets of runs."),
      value("ignored", &of::ignored, always, "Regions below the least share on both sides."),
      value("differing", &of::differing, always,
            "Settings that differ between the sides: the engine, options other than outputs, "
            "the program's metadata."),
      value("regions", &of::regions, always, "By the absolute change of a run's total, greatest first."));
}

constexpr auto fields(type<repeated_rate>) {
  using of = repeated_rate;
  return list("rate", "10^9 a second, over repetitions.", value("best", &of::best, always, "The ceiling."),
              value("median", &of::median, always, "The median of the repetitions."),
              value("worst", &of::worst, always, "The slowest repetition."),
              value("n", &of::count, always, "Repetitions."));
}

constexpr auto fields(type<ceiling_rates>) {
  using of = ceiling_rates;
  return list("rates", "Rates that threads reach together.", value("gbytes_per_s", &of::gbytes, always, "By a triad."),
              value("double_gflops", &of::double_gflops, always, "In double precision."),
              value("single_gflops", &of::single_gflops, always, "In single precision."),
              value("array_bytes", &of::array_bytes, always, "Size of each of the three arrays of the triad."));
}

constexpr auto fields(type<measured_ceilings>) {
  using of = measured_ceilings;
  return list(
      "ceilings", "The ceilings of a machine: docs/ceilings.md.",
      follows(
          "schema", [](const of&) { return 1; }, always, "The version of this description."),
      value("host", &of::host, always, "The name of the machine."),
      value("cpu", &of::cpu, always, "The model of its processor."),
      value("measured", &of::measured, always, "When: ISO 8601, UTC."),
      value("cpus", &of::cpus, always, "That took part in the figures of all."),
      value("instructions", &of::instructions, always, "With which the operations were done."),
      value("cache_bytes", &of::cache_bytes, always, "Size of all last-level caches; null: unknown.", not_zero),
      value("seconds", &of::seconds, always, "That measuring took."),
      follows(
          "counting",
          [](const of&) {
            return std::string(
                "24 bytes an element of the triad, as STREAM counts; that caches read what is about to be written is "
                "not counted");
          },
          always, "How bytes are counted."),
      follows("disturbed", &of::is_disturbed, always,
              "Whether half of the repetitions of a rate were more than a tenth slower than the best."),
      value("one_thread", &of::one, always, "Rates of one thread."),
      value("all_cpus", &of::all, always, "Rates of a thread on each CPU, together."),
      follows(
          "devices", [](const of&) { return std::optional<double>(); }, always, "Always null: not measured yet."));
}

}  // namespace adaptyst::lib::listed

#endif
