// Estimates the cost of an input from its features and from the costs of other inputs. Pure.
// The fit tests four forms and takes the one with the least cross-validated error, or a simpler one with a similar
// error:
//
//   constant   y = a                                  products  y = a + sum b_i f_i + sum c_ij f_i f_j, i <= j
//   linear     y = a + sum b_i f_i                    power law y = a prod f_i^b_i, where all f_i > 0
// The fit is least squares on relative errors (weights 1/y^2); for the power law, on logarithms. Error: the mean of
// |predicted / measured - 1|, where a fit to all other inputs predicts each input.
#ifndef ADAPTYST_LIB_ADVISE_COST_MODEL_HPP
#define ADAPTYST_LIB_ADVISE_COST_MODEL_HPP

#include <adaptyst/advisor.hpp>
#include <optional>
#include <vector>

namespace adaptyst::lib {

struct cost_sample {
  std::vector<double> features;
  double value = 0;  // above 0
  std::uint64_t n = 1;
  std::optional<double> deviation;
};

enum class cost_form { constant, linear, products, power_law };
const char* to_string(cost_form form);

class cost_model {
 public:
  // Samples with equal features become one input: their mean, weighted by n.
  explicit cost_model(const std::vector<cost_sample>& samples);

  bool is_empty() const { return inputs_.empty(); }
  // Needs at least one sample.
  cost_estimate predict(const std::vector<double>& features) const;
  cost_form form() const { return form_; }
  std::optional<double> cv_error() const { return cv_error_; }

 private:
  std::vector<cost_sample> inputs_;
  std::uint64_t n_ = 0;
  cost_form form_ = cost_form::constant;
  std::vector<double> scales_, coefficients_;
  std::optional<double> cv_error_, relative_deviation_;
  double least_ = 0;
};

// Time of copies between two places: a + bytes / b.
class copy_model {
 public:
  void add(double bytes, double ns) { samples_.push_back({bytes, ns}); }
  bool is_empty() const { return samples_.empty(); }
  void fit();
  double predict_ns(double bytes) const { return bytes > 0 ? fixed_ns_ + bytes * ns_per_byte_ : 0; }
  bool is_extrapolated(double bytes) const { return bytes > 0 && (bytes < least_ * 0.999 || bytes > most_ * 1.001); }

 private:
  struct sample {
    double bytes, ns;
  };
  std::vector<sample> samples_;
  double fixed_ns_ = 0, ns_per_byte_ = 0, least_ = 0, most_ = 0;
};

using matrix = std::vector<std::vector<double>>;  // rows

// The x that minimises |a x - b|, by Householder reflections. `a` has at least as many rows as columns. Empty if the
// columns are linearly dependent, because x is not unique.
std::optional<std::vector<double>> solve_least_squares(matrix a, std::vector<double> b);

// Whether q lies within the convex hull of the points. Tolerance: 10^-6 of the extent of the points in each direction. Solves for weights w >= 0 that sum to 1 with sum w_i
// p_i = q, by non-negative least squares (Lawson and Hanson 1974, chapter 23).
bool is_in_hull(const std::vector<std::vector<double>>& points, const std::vector<double>& q);

}  // namespace adaptyst::lib

#endif
