// The time step: choose its length, update all rows in two stages, exchange the edges. Each part is a region.
#include "solver.hpp"

#include <adaptyst/metric.hpp>
#include <adaptyst/payload.hpp>
#include <adaptyst/region.hpp>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "accelerator.hpp"
#include "parallel.hpp"

namespace shallow_water {
namespace {

double initial_depth(const setup& setup, double x, double y) {
  double depth = setup.depth;
  for (const box& each : setup.boxes)
    if (each.x0 <= x && x < each.x1 && each.y0 <= y && y < each.y1) depth = each.depth;
  for (const hump& each : setup.humps) {
    const double dx = (x - each.x) / each.width, dy = (y - each.y) / each.width;
    depth += each.height * std::exp(-0.5 * (dx * dx + dy * dy));
  }
  return depth;
}

field initial_water(const setup& setup) {
  field water(setup.columns, {0, setup.rows}, stencil);
  for (int row = 0; row != setup.rows; ++row)
    for (int i = 0; i != setup.columns; ++i) {
      const double depth = initial_depth(setup, (i + 0.5) * setup.dx(), (row + 0.5) * setup.dy());
      water.row(quantity::depth, row)[i] = depth;
      water.row(quantity::x_momentum, row)[i] = depth * setup.x_velocity;
      water.row(quantity::y_momentum, row)[i] = depth * setup.y_velocity;
    }
  return water;
}

// So little that it is not worth a wave, whatever the scale of the basin.
double dry_depth(const setup& setup) {
  double most = setup.depth;
  for (const box& each : setup.boxes) most = std::max(most, each.depth);
  for (const hump& each : setup.humps) most = std::max(most, each.height);
  return 1e-6 * most;
}

}  // namespace

solver::solver(const setup& setup, const execution& how)
    : setup_(setup),
      threads_(how.threads),
      water_{setup.gravity, dry_depth(setup)},
      now_(initial_water(setup)),
      predicted_(setup.columns, {0, setup.rows}, stencil),
      next_(setup.columns, {0, setup.rows}, stencil),
      offloaded_(setup.columns, setup.rows, how.offloaded, setup.edges, water_, how.device) {}

void solver::step(double until) {
  ADAPTYST_REGION("step");
  last_dt_ = choose_dt(until - time_);
  const double x = last_dt_ / setup_.dx(), y = last_dt_ / setup_.dy();
  const stage predictor{x, y, 0}, corrector{x, y, 0.5};
  const row_range block = offloaded_.rows();
  const int overlap = block.size() == 0 ? 0 : stencil;

  fill_halo(now_);
  offloaded_.begin_step(now_, next_, predictor, corrector);
  update_on_host("predictor", now_, now_, predicted_, {0, block.first + overlap}, {block.last - overlap, setup_.rows},
                 predictor);
  fill_halo(predicted_);
  update_on_host("corrector", predicted_, now_, next_, {0, block.first}, {block.last, setup_.rows}, corrector);
  offloaded_.wait();

  std::swap(now_, next_);
  time_ = last_dt_ < until - time_ ? time_ + last_dt_ : until;
  ++steps_;
}

double solver::choose_dt(double longest) {
  ADAPTYST_REGION("choose dt");
  std::vector<pace> found(static_cast<std::size_t>(threads_));
  in_parallel(threads_, [&](int part, int parts) {
    found[static_cast<std::size_t>(part)] =
        compute_pace(now_, take_part({0, setup_.rows}, part, parts), setup_.dx(), setup_.dy(), water_);
  });
  double rate = 0;
  for (const pace& each : found) {
    rate = std::max(rate, each.rate);
    fastest_ = std::max(fastest_, each.speed);
  }
  const double dt = rate * longest > setup_.cfl ? setup_.cfl / rate : longest;
  if (time_ + dt == time_) throw std::runtime_error("the time step has shrunk to nothing; try a smaller cfl");
  ADAPTYST_METRIC("dt_s", dt);
  return dt;
}

void solver::fill_halo(field& field) {
  ADAPTYST_REGION("boundary");
  fill_sides(field, {0, setup_.rows}, setup_.edges);
  fill_ends(field, setup_.rows, setup_.edges);
}

void solver::update_on_host(const char* name, const field& from, const field& base, field& result, row_range below,
                            row_range above, const stage& by) {
  in_parallel(threads_, [&](int part, int parts) {
    const row_range mine[] = {take_part(below, part, parts), take_part(above, part, parts)};
    const double cells = static_cast<double>(mine[0].size() + mine[1].size()) * setup_.columns;
    ADAPTYST_REGION(name, load{static_cast<std::uint64_t>(cells * bytes_per_update), cells * flops_per_update});
    for (const row_range rows : mine) update_rows(from, base, result, rows, by, water_);
  });
}

totals solver::sum() {
  ADAPTYST_REGION("sum");
  std::vector<totals> of_rows(static_cast<std::size_t>(setup_.rows));
  offloaded_.sum_rows(now_, of_rows);
  const row_range block = offloaded_.rows();
  totals all;
  for (int row = 0; row != setup_.rows; ++row) {
    if (row < block.first || row >= block.last) of_rows[static_cast<std::size_t>(row)] = compute_totals(now_, row);
    all.depth += of_rows[static_cast<std::size_t>(row)].depth;
    all.x_momentum += of_rows[static_cast<std::size_t>(row)].x_momentum;
    all.y_momentum += of_rows[static_cast<std::size_t>(row)].y_momentum;
  }
  const double area = setup_.dx() * setup_.dy();
  return {all.depth * area, all.x_momentum * area, all.y_momentum * area};
}

}  // namespace shallow_water
