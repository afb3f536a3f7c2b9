// Whether runs of one side differ from those of the other by more than runs of a side among themselves.
#ifndef ADAPTYST_LIB_MODEL_SET_TEST_HPP
#define ADAPTYST_LIB_MODEL_SET_TEST_HPP

#include <adaptyst/compare.hpp>
#include <cstddef>
#include <optional>
#include <vector>

namespace adaptyst::lib {

// What was measured of one region: a number for each run, first all of before, then all of after. NaN: not in that run.
using run_values = std::vector<double>;

// Welch's t: the difference of means in units of its error.
struct welch {
  double difference = 0, error = 0, degrees = 1;

  double t() const;
  // How far the true difference may be from this one, with 95 % certainty.
  double reach() const;
  // How often chance alone makes a t as large as this, of either sign.
  double p() const;
};
// Empty where a side has fewer than two numbers.
std::optional<welch> compare_means(const run_values& all, std::size_t before);

// How often chance alone makes a difference as clear as this one in any of the regions: the share of the ways to deal
// the runs to both sides in which the least p of all regions (Welch's t) is at most this one. Empty where
// compare_means() is.
std::vector<std::optional<double>> permuted_p(const std::vector<run_values>& regions, std::size_t before);

// The least p that permuted_p() can give.
double min_permuted_p(std::size_t before, std::size_t after);

// S. Holm: p for the number of tests. It holds however the tests depend on each other, as those of nested regions do.
void correct_for_number(std::vector<double*> all);

// Settings that differ between the runs before and after a change.
// The engine first, then options, then metadata, each by name. Options for the places of outputs are left out.
std::vector<differing_setting> find_differing_settings(const std::vector<const profile*>& before,
                                                       const std::vector<const profile*>& after);

}  // namespace adaptyst::lib

#endif
