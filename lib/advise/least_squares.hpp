// Small least-squares problems, and whether a point lies within the convex hull of others. Pure.
#ifndef ADAPTYST_LIB_ADVISE_LEAST_SQUARES_HPP
#define ADAPTYST_LIB_ADVISE_LEAST_SQUARES_HPP

#include <optional>
#include <vector>

namespace adaptyst::lib {

using matrix = std::vector<std::vector<double>>;  // rows

// x that minimises |a x - b|, by Householder's reflections; a has at least as many rows as columns. Empty where its columns
// depend on each other: then there is more than one.
std::optional<std::vector<double>> solve_least_squares(matrix a, std::vector<double> b);

// Within 10^-6 of the extent of the points in each direction. Solves for weights w >= 0 that sum to 1 with
// sum w_i p_i = q: non-negative least squares, Lawson and Hanson 1974, chapter 23.
bool is_in_hull(const std::vector<std::vector<double>>& points, const std::vector<double>& q);

}  // namespace adaptyst::lib

#endif
