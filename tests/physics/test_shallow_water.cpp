// The example solver against what is known of shallow water: what it must conserve, what symmetry demands, two exact
// solutions; and against itself, with the work shared out differently.
#include "catch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shallow_water/input.hpp"
#include "shallow_water/solver.hpp"

using namespace shallow_water;

namespace {

// Water that is neither symmetric nor still, in a basin of oblong cells.
setup uneven_water(boundary edges) {
  setup setup;
  setup.columns = 40;
  setup.rows = 56;
  setup.width = 20;
  setup.height = 21;
  setup.end_time = 100;
  setup.edges = edges;
  setup.depth = 1;
  setup.boxes.push_back({2, 3, 9, 8, 2.5});
  setup.humps.push_back({14, 15, 2, 0.8});
  return setup;
}

void run(solver& basin, int steps) {
  for (int step = 0; step != steps; ++step) basin.step(1e30);
}

std::vector<double> read_cells(const solver& basin, const setup& setup, quantity which) {
  std::vector<double> all;
  for (int row = 0; row != setup.rows; ++row)
    all.insert(all.end(), basin.water().row(which, row), basin.water().row(which, row) + setup.columns);
  return all;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

// The largest distance of two cells that the mirror maps onto each other; `sign`: of their values.
double asymmetry(const solver& basin, const setup& setup, quantity which, double sign, bool left_right) {
  double most = 0;
  for (int row = 0; row != setup.rows; ++row)
    for (int i = 0; i != setup.columns; ++i) {
      const double there = left_right ? basin.water().row(which, row)[setup.columns - 1 - i]
                                      : basin.water().row(which, setup.rows - 1 - row)[i];
      most = std::max(most, std::abs(basin.water().row(which, row)[i] - sign * there));
    }
  return most;
}

// Exact solutions for a dam at x = 0 that breaks at time 0.

constexpr double gravity = 9.81;

// Depth in the fan of waves that runs back into the reservoir, at x / time.
double fan(double reservoir, double pace) {
  const double c = (2 * std::sqrt(gravity * reservoir) - pace) / 3;
  return c * c / gravity;
}

// Onto dry ground (Ritter 1892).
double ritter(double reservoir, double pace) {
  const double c = std::sqrt(gravity * reservoir);
  if (pace <= -c) return reservoir;
  return pace < 2 * c ? fan(reservoir, pace) : 0;
}

// Into shallower water: fan, level water, bore (Stoker 1957).
double stoker(double reservoir, double ahead, double pace) {
  const auto behind_bore = [&](double level) {
    return (level - ahead) * std::sqrt(gravity * (level + ahead) / (2 * level * ahead));
  };
  const auto behind_fan = [&](double level) {
    return 2 * (std::sqrt(gravity * reservoir) - std::sqrt(gravity * level));
  };
  double low = ahead, high = reservoir;
  for (int halving = 0; halving != 100; ++halving) {
    const double level = (low + high) / 2;
    (behind_bore(level) < behind_fan(level) ? low : high) = level;
  }
  const double speed = behind_bore(low);
  if (pace <= -std::sqrt(gravity * reservoir)) return reservoir;
  if (pace < speed - std::sqrt(gravity * low)) return fan(reservoir, pace);
  return pace < low * speed / (low - ahead) ? low : ahead;
}

// Mean distance from the exact depth, over the depth of the reservoir, with `cells` along the channel.
double dam_break_error(int cells, double ahead, bool along_y, const std::function<double(double)>& exact,
                       double& shallowest) {
  constexpr double length = 100, reservoir = 2, until = 5;
  setup setup;
  (along_y ? setup.rows : setup.columns) = cells;
  (along_y ? setup.columns : setup.rows) = 4;
  (along_y ? setup.height : setup.width) = length;
  (along_y ? setup.width : setup.height) = 4 * length / cells;
  setup.end_time = until;
  setup.gravity = gravity;
  setup.depth = ahead;
  setup.boxes.push_back(along_y ? box{0, 0, length, length / 2, reservoir} : box{0, 0, length / 2, length, reservoir});
  solver basin(setup, {});
  while (basin.time() < until) basin.step(until);

  double error = 0;
  shallowest = reservoir;
  for (int at = 0; at != cells; ++at) {
    const double x = (at + 0.5) * length / cells - length / 2;
    const field& water = basin.water();
    const double found = along_y ? water.row(quantity::depth, at)[1] : water.row(quantity::depth, 1)[at];
    error += std::abs(found - exact(x / until));
    shallowest = std::min(shallowest, found);
  }
  return error / cells / reservoir;
}

std::string find_input_error(const std::string& text) {
  std::istringstream from(text);
  try {
    read_setup(from, "basin.txt");
  } catch (const input_error& problem) {
    return problem.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("mass is conserved to rounding", "[physics]") {
  for (const boundary edges : {boundary::wall, boundary::periodic}) {
    const setup setup = uneven_water(edges);
    solver basin(setup, {});
    const double before = basin.sum().depth;
    run(basin, 400);
    CHECK(basin.steps() == 400);
    CHECK(std::abs(basin.sum().depth - before) <= 1e-13 * before);
  }
}

TEST_CASE("without walls momentum is conserved to rounding", "[physics]") {
  setup setup = uneven_water(boundary::periodic);
  setup.x_velocity = 1.5;
  setup.y_velocity = -0.5;
  solver basin(setup, {});
  const totals before = basin.sum();
  REQUIRE(std::abs(before.x_momentum - 1.5 * before.depth) <= 1e-12 * before.depth);
  run(basin, 400);
  CHECK(std::abs(basin.sum().x_momentum - before.x_momentum) <= 1e-13 * std::abs(before.x_momentum));
  CHECK(std::abs(basin.sum().y_momentum - before.y_momentum) <= 1e-13 * std::abs(before.y_momentum));
}

TEST_CASE("still water stays still", "[physics]") {
  for (const boundary edges : {boundary::wall, boundary::periodic}) {
    setup setup = uneven_water(edges);
    setup.boxes.clear();
    setup.humps.clear();
    setup.depth = 1.7;
    solver basin(setup, {1, 0.5});
    run(basin, 300);
    for (const double depth : read_cells(basin, setup, quantity::depth)) REQUIRE(std::abs(depth - 1.7) <= 1e-14);
    CHECK(largest(read_cells(basin, setup, quantity::x_momentum)) <= 1e-13);
    CHECK(largest(read_cells(basin, setup, quantity::y_momentum)) <= 1e-13);
  }
}

TEST_CASE("symmetric water stays symmetric", "[physics]") {
  for (const boundary edges : {boundary::wall, boundary::periodic}) {
    setup setup = uneven_water(edges);
    setup.boxes = {{7, 7, 13, 14, 3}};
    setup.humps.clear();
    solver basin(setup, {});
    run(basin, 300);
    REQUIRE(largest(read_cells(basin, setup, quantity::x_momentum)) > 1e-3);
    for (const bool left_right : {true, false}) {
      CHECK(asymmetry(basin, setup, quantity::depth, 1, left_right) <= 1e-12);
      CHECK(asymmetry(basin, setup, quantity::x_momentum, left_right ? -1 : 1, left_right) <= 1e-12);
      CHECK(asymmetry(basin, setup, quantity::y_momentum, left_right ? 1 : -1, left_right) <= 1e-12);
    }
  }
}

TEST_CASE("x and y are alike", "[physics]") {
  setup of = uneven_water(boundary::wall);
  setup turned = of;
  std::swap(turned.columns, turned.rows);
  std::swap(turned.width, turned.height);
  for (box& each : turned.boxes) each = {each.y0, each.x0, each.y1, each.x1, each.depth};
  for (hump& each : turned.humps) std::swap(each.x, each.y);
  solver basin(of, {}), turned_basin(turned, {});
  run(basin, 200);
  run(turned_basin, 200);
  double most = 0;
  for (int row = 0; row != of.rows; ++row)
    for (int i = 0; i != of.columns; ++i) {
      const auto distance = [&](quantity here, quantity there) {
        return std::abs(basin.water().row(here, row)[i] - turned_basin.water().row(there, i)[row]);
      };
      most = std::max({most, distance(quantity::depth, quantity::depth),
                       distance(quantity::x_momentum, quantity::y_momentum),
                       distance(quantity::y_momentum, quantity::x_momentum)});
    }
  CHECK(most <= 1e-12);
}

TEST_CASE("a dam break matches the exact solution, better on finer grids", "[physics]") {
  double shallowest = 0;
  SECTION("into shallow water") {
    const auto exact = [](double pace) { return stoker(2, 0.5, pace); };
    for (const bool along_y : {false, true}) {
      const double coarse = dam_break_error(100, 0.5, along_y, exact, shallowest);
      const double middle = dam_break_error(200, 0.5, along_y, exact, shallowest);
      const double fine = dam_break_error(400, 0.5, along_y, exact, shallowest);
      CAPTURE(along_y, coarse, middle, fine);
      CHECK(fine <= 0.0015);
      CHECK(coarse / middle >= 1.7);
      CHECK(middle / fine >= 1.7);
    }
  }
  SECTION("onto dry ground") {
    const auto exact = [](double pace) { return ritter(2, pace); };
    const double coarse = dam_break_error(100, 0, false, exact, shallowest);
    CHECK(shallowest >= 0);
    const double fine = dam_break_error(400, 0, false, exact, shallowest);
    CHECK(shallowest >= 0);
    CAPTURE(coarse, fine);
    CHECK(fine <= 0.0015);
    CHECK(coarse / fine >= 3);
  }
}

TEST_CASE("depth stays positive where the ground is dry", "[physics]") {
  setup setup = uneven_water(boundary::wall);
  setup.depth = 0;
  setup.cfl = 0.5;
  setup.humps.clear();
  setup.x_velocity = 5;
  setup.y_velocity = -2.5;
  solver basin(setup, {});
  const double before = basin.sum().depth;
  for (int step = 0; step != 400; ++step) {
    basin.step(1e30);
    const std::vector<double> depths = read_cells(basin, setup, quantity::depth);
    REQUIRE(*std::min_element(depths.begin(), depths.end()) >= 0);
  }
  CHECK(std::abs(basin.sum().depth - before) <= 1e-13 * before);
  // No wave is faster than the front of the first one, which runs onto dry ground at u + 2c.
  CHECK(basin.fastest_wave() <= 5 + 2 * std::sqrt(gravity * 2.5));
}

TEST_CASE("the result does not depend on who computes which row", "[physics]") {
  for (const boundary edges : {boundary::wall, boundary::periodic}) {
    setup setup = uneven_water(edges);
    setup.boxes.push_back(
        {15, 20.7, 20, 21, 3});  // in the last row only: the fastest wave is the last thread's to find
    solver alone(setup, {1, 0});
    REQUIRE(alone.offloaded().rows().size() == 0);
    const double volume = alone.sum().depth;
    run(alone, 120);
    for (const execution how : {execution{1, 0.08}, {1, 0.5}, {1, 1}, {2, 0}, {2, 0.4}, {3, 0.31}}) {
      solver shared(setup, how);
      CAPTURE(how.threads, how.offloaded);
      CHECK((shared.offloaded().rows().size() != 0) == (how.offloaded != 0));
      CHECK(shared.sum().depth == volume);
      run(shared, 120);
      CHECK(shared.time() == alone.time());
      CHECK(shared.fastest_wave() == alone.fastest_wave());
      CHECK(shared.sum().x_momentum == alone.sum().x_momentum);
      for (const quantity each : quantities) CHECK((read_cells(shared, setup, each) == read_cells(alone, setup, each)));
    }
  }
}

#ifdef ADAPTYST_TEST_OPENCL
TEST_CASE("an OpenCL device computes what the host does", "[physics]") {
  for (const boundary edges : {boundary::wall, boundary::periodic}) {
    setup setup = uneven_water(edges);
    setup.x_velocity = 1;
    solver alone(setup, {1, 0});
    for (const double share : {0.08, 0.5, 1.0}) {
      solver shared(setup, {2, share, shallow_water::offload_device::opencl});
      CAPTURE(share, shared.offloaded().device_name());
      REQUIRE(shared.offloaded().rows().size() != 0);
      const double volume = shared.sum().depth;
      while (alone.steps() < 120) alone.step(1e30);
      run(shared, 120);
      // PoCL differs by nothing; other devices may round differently, by a few units in the last place a step.
      CHECK(std::abs(shared.sum().depth - volume) <= 1e-13 * volume);
      CHECK(std::abs(shared.time() - alone.time()) <= 1e-12 * alone.time());
      for (const quantity each : quantities) {
        const std::vector<double> here = read_cells(shared, setup, each), there = read_cells(alone, setup, each);
        REQUIRE(here.size() == there.size());
        double most = 0;
        for (std::size_t at = 0; at != here.size(); ++at) most = std::max(most, std::abs(here[at] - there[at]));
        CHECK(most <= 1e-12 * largest(there));
      }
    }
  }
}
#endif

TEST_CASE("the Courant number sets the step", "[physics]") {
  setup setup = uneven_water(boundary::periodic);
  setup.boxes.clear();
  setup.humps.clear();
  setup.x_velocity = -3;
  setup.y_velocity = 1;
  setup.cfl = 0.4;
  solver basin(setup, {});
  basin.step(100);
  const double wave = std::sqrt(setup.gravity * setup.depth);
  CHECK(std::abs(basin.last_dt() * ((3 + wave) / setup.dx() + (1 + wave) / setup.dy()) - 0.4) <= 1e-12);
  CHECK(std::abs(basin.fastest_wave() - (3 + wave)) <= 1e-12);
}

TEST_CASE("a step ends where it has to", "[physics]") {
  solver basin(uneven_water(boundary::wall), {});
  basin.step(1e-5);
  CHECK(basin.time() == 1e-5);
  CHECK(basin.last_dt() == 1e-5);
  basin.step(100);
  CHECK(basin.last_dt() > 1e-3);
  CHECK(basin.time() == 1e-5 + basin.last_dt());
}

TEST_CASE("an input file is read as written", "[physics]") {
  std::istringstream text(
      "# comment\r\n cells = 5 7 # more\r\nsize=1e2 50\n\r\nend_time = 2\nvelocity = 1 -2\n"
      "depth = 0.5\nbox = 0 -1 2 3 4\nbox = 1 1 2 2 0\nhump = 1 2 3 4\nboundary = periodic\ncfl = .5\ngravity = 1.62");
  const setup read = read_setup(text, "basin.txt");
  CHECK(read.columns == 5);
  CHECK(read.rows == 7);
  CHECK(read.width == 100);
  CHECK(read.height == 50);
  CHECK(read.end_time == 2);
  CHECK(read.x_velocity == 1);
  CHECK(read.y_velocity == -2);
  CHECK(read.depth == 0.5);
  REQUIRE(read.boxes.size() == 2);
  CHECK(read.boxes[0].y0 == -1);
  CHECK(read.boxes[0].depth == 4);
  REQUIRE(read.humps.size() == 1);
  CHECK(read.humps[0].width == 3);
  CHECK(read.edges == boundary::periodic);
  CHECK(read.cfl == 0.5);
  CHECK(read.gravity == 1.62);
}

TEST_CASE("a malformed input file is refused with what, where and what to do", "[physics]") {
  const std::string good = "cells = 8 8\nsize = 1 1\nend_time = 1\ndepth = 1\n";
  REQUIRE(find_input_error(good) == "none");
  CHECK(find_input_error(good + "gravty = 9") ==
        "basin.txt:5: unknown key \"gravty\"; choose from cells, size, end_time, gravity, cfl, boundary, depth, box, "
        "hump, velocity");
  CHECK(find_input_error(good + "gravity 9") ==
        "basin.txt:5: \"gravity 9\" has no \"=\"; write \"key = value\", or # before a comment");
  CHECK(find_input_error(good + "gravity = 9,81") ==
        "basin.txt:5: gravity: \"9,81\" is not a number; write for example \"gravity = 9.81\"");
  CHECK(find_input_error(good + "gravity = nan") ==
        "basin.txt:5: gravity: \"nan\" is not a number; write for example \"gravity = 9.81\"");
  CHECK(find_input_error(good + "gravity = 1e999") ==
        "basin.txt:5: gravity: \"1e999\" is not a number; write for example \"gravity = 9.81\"");
  CHECK(find_input_error(good + "gravity = -1") ==
        "basin.txt:5: gravity: \"-1\" is not greater than 0; write for example \"gravity = 9.81\"");
  CHECK(find_input_error(good + "gravity =") ==
        "basin.txt:5: gravity: has 0 values instead of 1; write for example \"gravity = 9.81\"");
  CHECK(find_input_error(good + "cfl = 0.9") ==
        "basin.txt:5: cfl: \"0.9\" is greater than 0.5, and the depth may become negative; write for example "
        "\"cfl = 0.45\"");
  CHECK(find_input_error(good + "boundary = open") ==
        "basin.txt:5: boundary: \"open\" is neither wall nor periodic; write for example \"boundary = wall\"");
  CHECK(find_input_error(good + "box = 1 1 0 2 3") ==
        "basin.txt:5: box: is empty: x0 y0 x1 y1 need x0 < x1 and y0 < y1; write for example \"box = 0 0 50 50 3\"");
  CHECK(find_input_error(good + "box = 0 0 1 1 -3") ==
        "basin.txt:5: box: \"-3\" is negative; write for example \"box = 0 0 50 50 3\"");
  CHECK(find_input_error(good + "\n# text\nend_time = 2") ==
        "basin.txt:7: end_time is given again; keep this line or line 3");
  CHECK(find_input_error("cells = 8 8.5") ==
        "basin.txt:1: cells: \"8.5\" is not a whole number from 4 to 16384; write for example \"cells = 400 400\"");
  CHECK(find_input_error("cells = 8 8\nsize = 1 1\ndepth = 1") ==
        "basin.txt: end_time is missing; add for example \"end_time = 5\"");
  CHECK(find_input_error("") == "basin.txt: cells is missing; add for example \"cells = 400 400\"");
  CHECK(find_input_error("cells = 8 8\nsize = 1 1\nend_time = 1\ndepth = 0\nbox = 0 0 1 1 0") ==
        "basin.txt: there is no water; add depth, a box or a hump");
  CHECK_THROWS_WITH(read_setup("/nowhere/basin.txt"),
                    "/nowhere/basin.txt: cannot be opened: No such file or directory; name an input file that exists");
  CHECK_THROWS_WITH(read_setup("/"), "/: cannot be read; name a text file");
}
