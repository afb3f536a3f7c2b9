// Costs from what was measured: the form that is found, its error, and what is marked as extrapolated.
#include "advise/cost_model.hpp"

#include <cmath>
#include <random>

#include "catch.hpp"

namespace {

using adaptyst::cost_provenance;
using adaptyst::lib::cost_form;
using adaptyst::lib::cost_model;
using adaptyst::lib::cost_sample;

using cost_function = double (*)(double, double);

std::vector<cost_sample> measure(cost_function cost, double noise = 0) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> factor(1 - noise, 1 + noise);
  std::vector<cost_sample> made;
  for (const double size : {100.0, 200.0, 400.0, 800.0})
    for (const double density : {0.01, 0.05, 0.2})
      made.push_back({{size, density}, cost(size, density) * (noise > 0 ? factor(random) : 1), 10, {}});
  return made;
}

}  // namespace

TEST_CASE("least squares: a hand example, and columns that depend on each other") {
  // y = 1 + 2 x through (0, 1), (1, 3), (2, 5), and one that is off by (+1, -2, +1) / 6 beside it
  const auto x = adaptyst::lib::solve_least_squares({{1, 0}, {1, 1}, {1, 2}}, {1 + 1 / 6.0, 3 - 2 / 6.0, 5 + 1 / 6.0});
  REQUIRE(x);
  CHECK((*x)[0] == Approx(1));
  CHECK((*x)[1] == Approx(2));
  CHECK_FALSE(adaptyst::lib::solve_least_squares({{1, 2}, {2, 4}, {3, 6}}, {1, 2, 3}));
  CHECK_FALSE(adaptyst::lib::solve_least_squares({{1, 2}}, {1}));
}

TEST_CASE("the convex hull, and not the box around it") {
  using adaptyst::lib::is_in_hull;
  CHECK(is_in_hull({{1}, {5}}, {3}));
  CHECK_FALSE(is_in_hull({{1}, {5}}, {5.1}));
  const std::vector<std::vector<double>> triangle = {{0, 0}, {1000, 0}, {0, 1}};
  CHECK(is_in_hull(triangle, {300, 0.3}));
  CHECK(is_in_hull(triangle, {500, 0.5}));
  CHECK_FALSE(is_in_hull(triangle, {600, 0.6}));  // within the box
  CHECK(is_in_hull({{2, 7}}, {2, 7}));
  CHECK_FALSE(is_in_hull({{2, 7}}, {2, 8}));
  CHECK_FALSE(is_in_hull({}, {1}));
}

TEST_CASE("the hull equals what follows from the edges of random triangles") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> anywhere(0, 1);
  int inside = 0;
  for (int turn = 0; turn != 2000; ++turn) {
    std::vector<std::vector<double>> corners(3, std::vector<double>(2));
    for (auto& corner : corners) corner = {anywhere(random), 50 * anywhere(random)};
    const std::vector<double> q = {anywhere(random), 50 * anywhere(random)};
    const auto side = [&](std::size_t a, std::size_t b) {
      return (corners[b][0] - corners[a][0]) * (q[1] - corners[a][1]) -
             (corners[b][1] - corners[a][1]) * (q[0] - corners[a][0]);
    };
    const double first = side(0, 1), second = side(1, 2), third = side(2, 0);
    if (std::min({std::fabs(first), std::fabs(second), std::fabs(third)}) < 1e-3) continue;
    const bool expected = (first > 0) == (second > 0) && (second > 0) == (third > 0);
    inside += expected ? 1 : 0;
    CHECK(adaptyst::lib::is_in_hull(corners, q) == expected);
  }
  CHECK(inside > 50);
}

TEST_CASE("the form of a cost is found, and predicts what was not measured") {
  const auto power = [](double n, double d) { return 3 * std::pow(n, 2) * std::pow(d, 0.5); };
  const cost_model by_power(measure(power));
  CHECK(by_power.form() == cost_form::power_law);
  CHECK(by_power.predict({300, 0.1}).ns == Approx(power(300, 0.1)));
  const auto line = [](double n, double d) { return 5000 + 70 * n + 1e5 * d; };
  const cost_model by_line(measure(line));
  CHECK(by_line.form() == cost_form::linear);
  CHECK(by_line.predict({300, 0.1}).ns == Approx(line(300, 0.1)));
  const auto product = [](double n, double d) { return 20000 + 4 * n * n + 9e3 * n * d; };
  const cost_model by_product(measure(product));
  CHECK(by_product.form() == cost_form::products);
  CHECK(by_product.predict({300, 0.1}).ns == Approx(product(300, 0.1)));
  CHECK(*by_product.cv_error() < 1e-6);
  const cost_model same(measure([](double, double) { return 42.0; }));
  CHECK(same.form() == cost_form::constant);
}

TEST_CASE("the error of cross-validation is about that of the noise, n is counted") {
  const cost_model noisy(measure([](double n, double) { return 10 * n; }, 0.05));
  REQUIRE(noisy.cv_error());
  CHECK(*noisy.cv_error() > 0.01);
  CHECK(*noisy.cv_error() < 0.08);
  const auto expected = noisy.predict({300, 0.1});
  CHECK(expected.n == 120);
  CHECK(expected.inputs == 12);
  CHECK(expected.ns == Approx(3000).epsilon(0.06));
}

TEST_CASE("measured, interpolated, extrapolated") {
  const cost_model model(measure([](double n, double d) { return n * (1 + d); }));
  CHECK(model.predict({400, 0.05}).provenance == cost_provenance::measured);
  CHECK(model.predict({400, 0.05}).n == 10);
  CHECK(model.predict({300, 0.05}).provenance == cost_provenance::interpolated);
  CHECK(model.predict({900, 0.05}).provenance == cost_provenance::extrapolated);
  CHECK(model.predict({300, 0.005}).provenance == cost_provenance::extrapolated);
}

TEST_CASE("a single input, one that was measured twice, and a line that crosses zero") {
  const cost_model single_input({{{5}, 100, 3, 2.0}, {{5}, 140, 1, 2.0}});
  const auto same = single_input.predict({5});
  CHECK(same.ns == Approx(110));
  CHECK(same.n == 4);
  // mean of squares: (3 (4 + 100) + 1 (4 + 900)) / 4
  CHECK(*same.deviation_ns == Approx(std::sqrt((3 * 104 + 904) / 4.0)));
  CHECK_FALSE(single_input.predict({6}).cv_error.has_value());
  const cost_model unknown({{{5}, 100, 3, 2.0}, {{5}, 140, 3, {}}, {{5}, 120, 1, {}}});
  CHECK_FALSE(unknown.predict({5}).deviation_ns);  // of one part it is not known
  CHECK(cost_model({{{5}, 100, 1, {}}, {{5}, 140, 1, {}}}).predict({5}).deviation_ns == 20);
  CHECK(single_input.predict({6}).provenance == cost_provenance::extrapolated);
  std::vector<cost_sample> falling;
  for (const double x : {0.0, 1.0, 2.0, 3.0}) falling.push_back({{x}, 100 - 30 * x, 1, {}});
  const cost_model line(falling);
  CHECK(line.form() == cost_form::linear);
  CHECK(line.predict({1.5}).ns == Approx(55));
  CHECK(line.predict({4}).ns == Approx(10));  // the least that was measured, and no negative time
  CHECK(line.predict({4}).provenance == cost_provenance::extrapolated);
}

TEST_CASE("copies: a + bytes / b") {
  adaptyst::lib::copy_model copies;
  for (const double bytes : {1e3, 1e5, 1e6}) copies.add(bytes, 2000 + bytes / 4);
  copies.fit();
  CHECK(copies.predict_ns(5e5) == Approx(2000 + 5e5 / 4));
  CHECK(copies.predict_ns(0) == 0);
  CHECK_FALSE(copies.is_extrapolated(5e5));
  CHECK(copies.is_extrapolated(2e6));
  adaptyst::lib::copy_model one_size;
  one_size.add(1000, 500);
  one_size.fit();
  CHECK(one_size.predict_ns(2000) == Approx(1000));
  CHECK(one_size.is_extrapolated(2000));
}
