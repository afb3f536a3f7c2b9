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
              value("runs", &of::runs, always, "Runs that contain the region."),
              value("count", &of::count, always, "Events."),
              value("total_ns", &of::total_ns, always, "Time of the events; null: not timed."),
              follows("mean_ns", &of::mean_ns, always, "Mean time of an event."));
}

constexpr auto fields(type<differing_setting>) {
  using of = differing_setting;
  return list("differing", "A difference in how the two sides were run.",
              value("kind", &of::kind, always, "The kind of the setting."),
              value("name", &of::name, always, "The name of the setting."),
              value("before", &of::before, always, "All values of the runs before, joined by \", \"; empty: none."),
              value("after", &of::after, always, "All values of the runs after, joined by \", \"; empty: none."));
}

constexpr auto fields(type<compared_region>) {
  using of = compared_region;
  return list(
      "region", "A call path on a device.", value("path", &of::path, always, "Names from the root of the thread."),
      value("kind", &of::kind, always, "The kind of the region: docs/design.md."),
      object("device", always, "The device of the region.",
             follows(
                 "kind", [](const of& item) { return item.device_kind ? to_string(*item.device_kind) : "?"; }, always,
                 "Kind of the device; \"?\": the profiles do not list it."),
             value("index", &of::device_index, always, "Number given by the program, within its kind.")),
      value("before", &of::before, always, "null: in no run before."),
      value("after", &of::after, always, "null: in no run after."),
      follows("change_of_total", &of::change_of_total, always, "Change of the total per run, after / before - 1."),
      value("change_of_mean", &of::change_of_mean, always, "Change of the mean duration, after / before - 1."),
      follows(
          "interval",
          [](const of& item) {
            return item.interval ? std::optional(std::array{item.interval->low, item.interval->high}) : std::nullopt;
          },
          always, "95 % confidence interval of change_of_mean, for this region alone: its two ends."),
      value("p", &of::p, always,
            "Probability that chance makes a change this large anywhere in the comparison; null: untested."),
      value("slower", &of::slower, always,
            "For single runs: share of pairs in which the event after takes longer; ties count half."),
      value("verdict", &of::found, always, "Verdict: docs/comparing.md."));
}

constexpr auto fields(type<comparison>) {
  using of = comparison;
  return list("comparison",
              "The output of `adaptyst diff --format json`. Times are in ns. Changes are fractions: 0.1 is 10 % "
              "more. An unknown quantity is null, never 0.",
              follows(
                  "comparison", [](const of&) { return 1; }, always, "The version of this description."),
              object("runs", always, "Number of profiles on each side.",
                     value("before", &of::runs_before, always, "Profiles before the change."),
                     value("after", &of::runs_after, always, "Profiles after the change.")),
              value("by", &of::by, always, "The compared time: wall clock, or on a core."),
              value("equal", &of::is_equal, always, "Two single runs with equal counts, times and distributions."),
              object("no_core", always, "Share of runnable time without a core, mean over the runs.",
                     value("before", &of::no_core_before, always, "Before the change; null: unknown."),
                     value("after", &of::no_core_after, always, "After the change; null: unknown.")),
              value("method", &of::method, always,
                    "The test that separates changes from chance (docs/comparing.md): a rank test of single events "
                    "and a floor; permutations of runs; Welch's t with Holm's correction."),
              follows(
                  "significance_level", [](const of&) { return significance_level; }, always,
                  "A smaller p is significant: the probability of any wrong verdict in the whole comparison."),
              follows(
                  "floor",
                  [](const of& all) {
                    return all.method == comparison_method::single_runs ? std::optional(single_run_floor)
                                                                        : std::nullopt;
                  },
                  always, "Means of single runs may differ by this without a verdict; null for sets of runs."),
              value("ignored", &of::ignored, always, "Regions below the smallest share on both sides."),
              value("differing", &of::differing, always,
                    "Settings that differ between the sides: engine, options other than outputs, metadata of the "
                    "program."),
              value("regions", &of::regions, always, "By absolute change of a run's total, greatest first."));
}

constexpr auto fields(type<repeated_rate>) {
  using of = repeated_rate;
  return list("rate", "10^9 per second, over repetitions.",
              value("best", &of::best, always, "The fastest repetition, which is the ceiling."),
              value("median", &of::median, always, "The median of the repetitions."),
              value("worst", &of::worst, always, "The slowest repetition."),
              value("n", &of::count, always, "Number of repetitions."));
}

constexpr auto fields(type<ceiling_rates>) {
  using of = ceiling_rates;
  return list("rates", "Rates of all threads together.",
              value("gbytes_per_s", &of::gbytes, always, "Bandwidth, by a triad."),
              value("double_gflops", &of::double_gflops, always, "Operations in double precision."),
              value("single_gflops", &of::single_gflops, always, "Operations in single precision."),
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
      value("measured", &of::measured, always, "Time of the measurement: ISO 8601, UTC."),
      value("cpus", &of::cpus, always, "CPUs used for the rates of all CPUs."),
      value("instructions", &of::instructions, always, "Instruction set of the operations."),
      value("cache_bytes", &of::cache_bytes, always, "Size of all last-level caches; null: unknown.", not_zero),
      value("seconds", &of::seconds, always, "Duration of the measurement."),
      follows(
          "counting",
          [](const of&) {
            return std::string(
                "24 bytes an element of the triad, as STREAM counts; that caches read what is about to be written is "
                "not counted");
          },
          always, "How bytes are counted."),
      follows("disturbed", &of::is_disturbed, always,
              "true if half of the repetitions of a rate were over 10 % slower than the best."),
      value("one_thread", &of::one_thread, always, "Rates of one thread."),
      value("all_cpus", &of::all, always, "Rates of one thread on each CPU, together."),
      follows(
          "devices", [](const of&) { return std::optional<double>(); }, always, "Always null: not measured yet."));
}

}  // namespace adaptyst::lib::listed

#endif
