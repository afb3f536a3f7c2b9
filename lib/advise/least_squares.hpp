// Small least-squares problems, and whether a point lies within the convex hull of others. Pure.
#ifndef ADAPTYST_LIB_ADVISE_LEAST_SQUARES_HPP
#define ADAPTYST_LIB_ADVISE_LEAST_SQUARES_HPP

#include <optional>
#include <vector>

namespace adaptyst::lib {

using matrix = std::vector<std::vector<double>>;  // rows

// The x that minimises |a x - b|, by Householder reflections. `a` has at least as many rows as columns. Empty if the
// columns are linearly dependent, because x is not unique.
std::optional<std::vector<double>> solve_least_squares(matrix a, std::vector<double> b);

// Tolerance: 10^-6 of the extent of the points in each direction. Solves for weights w >= 0 that sum to 1 with sum w_i
// p_i = q, by non-negative least squares (Lawson and Hanson 1974, chapter 23).
bool is_in_hull(const std::vector<std::vector<double>>& points, const std::vector<double>& q);

}  // namespace adaptyst::lib

#endif
