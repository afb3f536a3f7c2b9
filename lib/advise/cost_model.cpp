// Fits the four forms, and selects one by leave-one-out cross-validation.
#include "cost_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace adaptyst::lib {

namespace {

using point = std::vector<double>;

// A form with more coefficients must reduce the error by this factor.
constexpr double max_error_ratio = 0.95;

bool is_on_logarithms(cost_form form) { return form == cost_form::power_law; }

// The factors of the coefficients.
point list_terms(cost_form form, const point& features, const point& scales) {
  point terms{1};
  if (form == cost_form::constant) return terms;
  for (std::size_t at = 0; at != features.size(); ++at) {
    const double scaled = features[at] / scales[at];
    terms.push_back(is_on_logarithms(form) ? std::log(scaled) : scaled);
  }
  if (form == cost_form::products)
    for (std::size_t i = 1; i <= features.size(); ++i)
      for (std::size_t j = i; j <= features.size(); ++j) terms.push_back(terms[i] * terms[j]);
  return terms;
}

double evaluate(cost_form form, const point& coefficients, const point& features, const point& scales) {
  const point terms = list_terms(form, features, scales);
  double sum = 0;
  for (std::size_t at = 0; at != terms.size(); ++at) sum += coefficients[at] * terms[at];
  return is_on_logarithms(form) ? std::exp(sum) : sum;
}

// Fits to all inputs except number `without`; to all if `without` is the number of inputs.
std::optional<point> fit(cost_form form, const std::vector<cost_sample>& inputs, const point& scales,
                         std::size_t without) {
  matrix a;
  point b;
  for (std::size_t at = 0; at != inputs.size(); ++at) {
    if (at == without) continue;
    const cost_sample& input = inputs[at];
    point terms = list_terms(form, input.features, scales);
    if (is_on_logarithms(form)) {
      b.push_back(std::log(input.value));
    } else {
      for (double& term : terms) term /= input.value;
      b.push_back(1);
    }
    a.push_back(std::move(terms));
  }
  return solve_least_squares(std::move(a), std::move(b));
}

// Empty: the inputs are too few, or do not determine the coefficients.
std::optional<double> cross_validate(cost_form form, const std::vector<cost_sample>& inputs, const point& scales) {
  if (inputs.size() < 2) return std::nullopt;
  double sum = 0;
  for (std::size_t at = 0; at != inputs.size(); ++at) {
    const std::optional<point> fitted = fit(form, inputs, scales, at);
    if (!fitted) return std::nullopt;
    sum += std::fabs(evaluate(form, *fitted, inputs[at].features, scales) / inputs[at].value - 1);
  }
  return sum / static_cast<double>(inputs.size());
}

bool are_equal(const point& a, const point& b) {
  for (std::size_t at = 0; at != a.size(); ++at)
    if (std::fabs(a[at] - b[at]) > 1e-9 * std::max(std::fabs(a[at]), std::fabs(b[at]))) return false;
  return true;
}

// A single execution has no deviation.
bool has_deviation(const cost_sample& sample) { return sample.deviation || sample.n == 1; }

// Joins samples of two inputs with n executions each, or of one input that was measured twice.
void join(cost_sample& into, const cost_sample& from) {
  const auto n = static_cast<double>(into.n), m = static_cast<double>(from.n);
  const double mean = (n * into.value + m * from.value) / (n + m);
  const auto squares = [&](const cost_sample& sample) {
    const double deviation = sample.deviation.value_or(0);
    return static_cast<double>(sample.n) * (deviation * deviation + (sample.value - mean) * (sample.value - mean));
  };
  const double deviation = std::sqrt((squares(into) + squares(from)) / (n + m));
  into.deviation = has_deviation(into) && has_deviation(from) ? std::optional(deviation) : std::nullopt;
  into.value = mean;
  into.n += from.n;
}

}  // namespace

const char* to_string(cost_form form) {
  switch (form) {
    case cost_form::constant: return "constant";
    case cost_form::linear: return "linear";
    case cost_form::products: return "products";
    case cost_form::power_law: break;
  }
  return "power law";
}

cost_model::cost_model(const std::vector<cost_sample>& samples) {
  for (const cost_sample& sample : samples) {
    const auto entry = std::find_if(inputs_.begin(), inputs_.end(), [&](const cost_sample& input) {
      return are_equal(input.features, sample.features);
    });
    if (entry == inputs_.end()) inputs_.push_back(sample);
    else join(*entry, sample);
    n_ += sample.n;
  }
  if (inputs_.empty()) return;
  least_ = inputs_.front().value;
  scales_.assign(inputs_.front().features.size(), 0);
  bool all_positive = true, all_deviate = true;
  double squares = 0;
  for (const cost_sample& input : inputs_) {
    least_ = std::min(least_, input.value);
    all_deviate = all_deviate && input.deviation.has_value();
    const double relative = input.deviation.value_or(0) / input.value;
    squares += relative * relative;
    for (std::size_t at = 0; at != scales_.size(); ++at) {
      scales_[at] = std::max(scales_[at], std::fabs(input.features[at]));
      all_positive = all_positive && input.features[at] > 0;
    }
  }
  if (all_deviate) relative_deviation_ = std::sqrt(squares / static_cast<double>(inputs_.size()));
  for (double& scale : scales_)
    if (!(scale > 0)) scale = 1;
  coefficients_ = *fit(cost_form::constant, inputs_, scales_, inputs_.size());
  cv_error_ = cross_validate(cost_form::constant, inputs_, scales_);
  if (!cv_error_) return;
  // The power law has as many coefficients as the linear form. It is preferred at a similar error, as it is never
  // negative.
  for (const cost_form form : {cost_form::power_law, cost_form::linear, cost_form::products}) {
    if (scales_.empty() || (is_on_logarithms(form) && !all_positive)) continue;
    const std::optional<double> error = cross_validate(form, inputs_, scales_);
    if (!error || !(*error < max_error_ratio * *cv_error_)) continue;
    std::optional<point> fitted = fit(form, inputs_, scales_, inputs_.size());
    if (!fitted) continue;
    form_ = form;
    cv_error_ = error;
    coefficients_ = std::move(*fitted);
  }
}

cost_estimate cost_model::predict(const std::vector<double>& features) const {
  cost_estimate made;
  made.n = n_;
  made.inputs = inputs_.size();
  made.cv_error = cv_error_;
  for (const cost_sample& input : inputs_)
    if (are_equal(input.features, features)) {
      made.ns = input.value;
      made.n = input.n;
      made.inputs = 1;
      made.deviation_ns = input.deviation;
      made.model = "measured";
      return made;
    }
  std::vector<point> points;
  points.reserve(inputs_.size());
  for (const cost_sample& input : inputs_) points.push_back(input.features);
  made.provenance = is_in_hull(points, features) ? cost_provenance::interpolated : cost_provenance::extrapolated;
  made.model = to_string(form_);
  bool has_logarithms = true;
  for (const double feature : features) has_logarithms = has_logarithms && feature > 0;
  const double predicted =
      is_on_logarithms(form_) && !has_logarithms ? 0 : evaluate(form_, coefficients_, features, scales_);
  made.ns = predicted;
  if (!(predicted > 0) || !std::isfinite(predicted)) {
    // A line below zero is meaningless.
    made.ns = least_;
    made.provenance = cost_provenance::extrapolated;
  }
  if (relative_deviation_) made.deviation_ns = *relative_deviation_ * made.ns;
  return made;
}

void copy_model::fit() {
  if (samples_.empty()) return;
  double count = 0, bytes = 0, ns = 0;
  least_ = most_ = samples_.front().bytes;
  for (const sample& sample : samples_) {
    ++count;
    bytes += sample.bytes;
    ns += sample.ns;
    least_ = std::min(least_, sample.bytes);
    most_ = std::max(most_, sample.bytes);
  }
  // Copies of one size do not determine both parts; the time is taken as proportional to the size.
  fixed_ns_ = 0;
  ns_per_byte_ = ns / bytes;
  if (!(most_ > least_)) return;
  matrix a;
  point b;
  for (const sample& sample : samples_) {
    a.push_back({1 / sample.ns, sample.bytes / most_ / sample.ns});
    b.push_back(1);
  }
  const std::optional<point> line = solve_least_squares(std::move(a), std::move(b));
  if (!line) return;
  if ((*line)[0] < 0) return;  // a copy never takes less time than its bytes need
  fixed_ns_ = (*line)[1] < 0 ? ns / count : (*line)[0];
  ns_per_byte_ = std::max(0.0, (*line)[1]) / most_;
}

}  // namespace adaptyst::lib
