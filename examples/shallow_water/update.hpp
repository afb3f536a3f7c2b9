// One stage of a time step for some rows: the arithmetic that host and accelerator share.
//
// Finite volumes, second order in space (minmod-limited slopes) and, with two stages, in time (Heun's method). The new
// value of a cell depends on nothing but its neighbourhood, and every row is computed by the same code: how rows are
// shared out between threads and devices does not change a bit of the result.
#ifndef SHALLOW_WATER_UPDATE_HPP
#define SHALLOW_WATER_UPDATE_HPP

#include "flux.hpp"
#include "grid.hpp"

namespace shallow_water {

struct stage {
  double dt_over_dx, dt_over_dy;
  double keep;  // to = keep · base + (1 − keep) · (from moved on by dt)
};

// Reads `from` two cells around the rows, `base` and `result` in the rows only.
void update_rows(const field& from, const field& base, field& result, row_range rows, const stage& by,
                 const fluid& water);

// How fast things happen in some rows.
struct pace {
  double rate = 0;   // cells that a wave crosses per second, both directions added
  double speed = 0;  // of the fastest wave, m/s
};
pace compute_pace(const field& in, row_range rows, double dx, double dy, const fluid& water);

// What updating a cell costs: arithmetic as written in the source, with roots, divisions and comparisons as one each
// (two velocities, two faces, three sums), and three values read from two fields and written to a third.
constexpr double flops_per_velocities = 2 * 7, flops_per_fluxes = 2 * 95, flops_per_sums = 3 * 9;
constexpr double flops_per_update = flops_per_velocities + flops_per_fluxes + flops_per_sums;
constexpr double bytes_per_update = 3 * 3 * sizeof(double);

}  // namespace shallow_water

#endif
