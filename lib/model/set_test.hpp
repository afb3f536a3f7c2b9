// Whether runs of one side differ from runs of the other by more than runs of one side differ from each other.
#ifndef ADAPTYST_LIB_MODEL_SET_TEST_HPP
#define ADAPTYST_LIB_MODEL_SET_TEST_HPP

#include <adaptyst/compare.hpp>
#include <cstddef>
#include <optional>
#include <vector>

namespace adaptyst::lib {

// The values of one region: one for each run, first all runs before the change, then all after it. NaN: not in that
// run.
using run_values = std::vector<double>;

// Welch's t: the difference of means in units of its error.
struct welch {
  double difference = 0, error = 0, degrees = 1;

  double t() const;
  // The 95 % confidence limit of the difference, as a distance from it.
  double reach() const;
  // The probability that chance alone gives a t of at least this size, with either sign.
  double p() const;
};
// Empty if a side has fewer than two numbers.
std::optional<welch> compare_means(const run_values& all, std::size_t before);

// The probability that chance alone gives a difference as clear as this one in any region: the share of the ways to
// divide the runs for which the least p of all regions (Welch's t) is at most this one. Empty if compare_means() is
// empty.
std::vector<std::optional<double>> permuted_p(const std::vector<run_values>& regions, std::size_t before);

// The least p that permuted_p() can return.
double min_permuted_p(std::size_t before, std::size_t after);

// S. Holm: p for the number of tests. It is valid for dependent tests, such as those of nested regions.
void correct_for_number(std::vector<double*> all);

// Settings that differ between the runs before and after a change: the engine first, then options, then metadata, each
// by name. Options for the places of outputs are excluded.
std::vector<differing_setting> find_differing_settings(const std::vector<const profile*>& before,
                                                       const std::vector<const profile*>& after);

}  // namespace adaptyst::lib

#endif
