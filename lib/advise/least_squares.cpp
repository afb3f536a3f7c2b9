// Least squares by Householder reflections; non-negative least squares by the active sets of Lawson and Hanson. The
// problems have tens of rows and at most ten columns, so the code is neither blocked nor sparse.
#include "cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace adaptyst::lib {

namespace {

// A column depends on the earlier columns if less than this part of its length remains.
constexpr double min_remainder = 1e-9;

double norm_below(const matrix& a, std::size_t column, std::size_t first_row) {
  double sum = 0;
  for (std::size_t row = first_row; row != a.size(); ++row) sum += a[row][column] * a[row][column];
  return std::sqrt(sum);
}

// columns × weights - b
std::vector<double> find_residual(const std::vector<std::vector<double>>& columns, const std::vector<double>& weights,
                                  const std::vector<double>& b) {
  std::vector<double> left = b;
  for (std::size_t at = 0; at != columns.size(); ++at)
    for (std::size_t row = 0; row != b.size(); ++row) left[row] -= weights[at] * columns[at][row];
  return left;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t at = 0; at != a.size(); ++at) sum += a[at] * b[at];
  return sum;
}

// Weights >= 0 of the columns that minimise the residual.
std::vector<double> solve_non_negative(const std::vector<std::vector<double>>& columns, const std::vector<double>& b) {
  constexpr double tolerance = 1e-12;
  std::vector<double> weights(columns.size(), 0);
  std::vector<std::size_t> passive;
  std::vector<bool> is_refused(columns.size(), false);
  for (std::size_t turn = 0; turn != 10 * columns.size() + 10; ++turn) {
    const std::vector<double> residual = find_residual(columns, weights, b);
    std::size_t entering = columns.size();
    double steepest = tolerance;
    for (std::size_t at = 0; at != columns.size(); ++at)
      if (!is_refused[at] && std::find(passive.begin(), passive.end(), at) == passive.end())
        if (const double gradient = dot(columns[at], residual); gradient > steepest) {
          steepest = gradient;
          entering = at;
        }
    if (entering == columns.size() || passive.size() == b.size()) break;
    passive.push_back(entering);
    while (!passive.empty()) {
      matrix a(b.size(), std::vector<double>(passive.size()));
      for (std::size_t row = 0; row != b.size(); ++row)
        for (std::size_t at = 0; at != passive.size(); ++at) a[row][at] = columns[passive[at]][row];
      const std::optional<std::vector<double>> solved = solve_least_squares(a, b);
      if (!solved) {  // the column adds no direction
        is_refused[passive.back()] = true;
        passive.pop_back();
        break;
      }
      double step = 1;
      for (std::size_t at = 0; at != passive.size(); ++at)
        if ((*solved)[at] <= tolerance) {
          const double now = weights[passive[at]];
          step = std::min(step, now > 0 ? now / (now - (*solved)[at]) : 0);
        }
      for (std::size_t at = 0; at != passive.size(); ++at)
        weights[passive[at]] += step * ((*solved)[at] - weights[passive[at]]);
      if (step == 1) break;
      for (std::size_t at = passive.size(); at-- != 0;)
        if (weights[passive[at]] <= tolerance) {
          weights[passive[at]] = 0;
          passive.erase(passive.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }
  }
  return weights;
}

}  // namespace

std::optional<std::vector<double>> solve_least_squares(matrix a, std::vector<double> b) {
  if (a.empty() || a.size() < a.front().size()) return std::nullopt;
  const std::size_t rows = a.size(), columns = a.front().size();
  std::vector<double> diagonal(columns);
  for (std::size_t k = 0; k != columns; ++k) {
    const double whole = norm_below(a, k, 0), below = norm_below(a, k, k);
    if (!(below > min_remainder * whole) || !std::isfinite(below)) return std::nullopt;
    const double alpha = a[k][k] > 0 ? -below : below;
    a[k][k] -= alpha;
    const double squared = norm_below(a, k, k) * norm_below(a, k, k);
    const auto reflect = [&](const auto& value) {
      double sum = 0;
      for (std::size_t row = k; row != rows; ++row) sum += a[row][k] * value(row);
      for (std::size_t row = k; row != rows; ++row) value(row) -= 2 * sum / squared * a[row][k];
    };
    for (std::size_t column = k + 1; column != columns; ++column)
      reflect([&](std::size_t row) -> double& { return a[row][column]; });
    reflect([&](std::size_t row) -> double& { return b[row]; });
    diagonal[k] = alpha;
  }
  std::vector<double> x(columns);
  for (std::size_t k = columns; k-- != 0;) {
    double sum = b[k];
    for (std::size_t column = k + 1; column != columns; ++column) sum -= a[k][column] * x[column];
    x[k] = sum / diagonal[k];
  }
  return x;
}

bool is_in_hull(const std::vector<std::vector<double>>& points, const std::vector<double>& q) {
  if (points.empty()) return false;
  constexpr double tolerance = 1e-6;
  std::vector<double> target;
  std::vector<std::vector<double>> columns(points.size());
  for (std::size_t dimension = 0; dimension != q.size(); ++dimension) {
    double low = points.front()[dimension], high = low;
    for (const std::vector<double>& point : points) {
      low = std::min(low, point[dimension]);
      high = std::max(high, point[dimension]);
    }
    const double extent = high > low ? high - low : std::max(std::fabs(low), 1e-300);
    const double scaled = (q[dimension] - low) / extent;
    if (scaled < -tolerance || scaled > (high > low ? 1 : 0) + tolerance) return false;
    if (!(high > low)) continue;  // equal for all points
    target.push_back(scaled);
    for (std::size_t at = 0; at != points.size(); ++at) columns[at].push_back((points[at][dimension] - low) / extent);
  }
  if (target.size() < 2) return true;  // the ends of the interval were compared
  target.push_back(1);
  for (std::vector<double>& column : columns) column.push_back(1);
  const std::vector<double> residual = find_residual(columns, solve_non_negative(columns, target), target);
  return std::sqrt(dot(residual, residual)) <= tolerance;
}

}  // namespace adaptyst::lib
