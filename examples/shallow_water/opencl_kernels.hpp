// What flux.hpp and update.cpp say, in OpenCL C: a work item a cell. Each cell computes all four of its faces, so what
// leaves one is what enters the next to the last bit, and no volume is lost.
#ifndef SHALLOW_WATER_OPENCL_KERNELS_HPP
#define SHALLOW_WATER_OPENCL_KERNELS_HPP

namespace shallow_water {

// As written there: four faces, velocities of nine cells along both axes, three sums.
constexpr double flops_per_opencl_update = 4 * 95 + 9 * 2 * 7 + 3 * 9;

constexpr const char* opencl_kernels = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF  // the host's arithmetic

// std::max and std::min, to the sign of a zero.
double larger(double a, double b) { return a < b ? b : a; }
double smaller(double a, double b) { return b < a ? b : a; }

double velocity(double depth, double momentum, double dry) {
  const double square = depth * depth;
  return 2 * depth * momentum / (square + larger(square, dry * dry));
}

double wave_speed(double depth, double gravity) { return sqrt(gravity * larger(depth, 0.0)); }

double minmod(double a, double b) { return (copysign(0.5, a) + copysign(0.5, b)) * smaller(fabs(a), fabs(b)); }

// Of three quantities: depth, across the face, along it.
typedef struct { double depth, across, along; } triple;

triple flux(triple left, triple right, double gravity) {
  const double ul = left.across, ur = right.across;
  const double cl = wave_speed(left.depth, gravity), cr = wave_speed(right.depth, gravity);
  const double low = smaller(0.0, smaller(ul - cl, ur - cr));
  const double high = larger(0.0, larger(ul + cl, ur + cr));
  const double scale = 1 / larger(high - low, 1e-300);
#define HLL(flux_left, flux_right, of_left, of_right) \
  (((high * (flux_left) - low * (flux_right)) + high * low * ((of_right) - (of_left))) * scale)
  const double pl = left.depth * ul, pr = right.depth * ur;
  const triple through = {
      HLL(pl, pr, left.depth, right.depth),
      HLL(pl * ul + 0.5 * gravity * left.depth * left.depth, pr * ur + 0.5 * gravity * right.depth * right.depth, pl, pr),
      HLL(pl * left.along, pr * right.along, left.depth * left.along, right.depth * right.along)};
  return through;
}

// Through the near face of a cell; `step` leads across it, and `across` is the plane of that momentum.
triple near_face(global const double* at, long step, long plane, long across, long along, double gravity, double dry) {
  double h[4], u[4], v[4];
  for (int cell = 0; cell != 4; ++cell) {
    global const double* const one = at + (cell - 2) * step;
    h[cell] = one[0];
    u[cell] = velocity(one[0], one[across * plane], dry);
    v[cell] = velocity(one[0], one[along * plane], dry);
  }
#define NEAR(x) (x[1] + 0.5 * minmod(x[1] - x[0], x[2] - x[1]))
#define FAR(x) (x[2] - 0.5 * minmod(x[2] - x[1], x[3] - x[2]))
  const triple near = {NEAR(h), NEAR(u), NEAR(v)};
  const triple far = {FAR(h), FAR(u), FAR(v)};
  return flux(near, far, gravity);
}

// Of the rows from `first` of the block's memory on. Planes of depth, x and y momentum lie one behind the other.
kernel void update(global const double* from, global const double* base, global double* to, long first, long pitch,
                   long plane, double dt_over_dx, double dt_over_dy, double keep, double gravity, double dry) {
  const long cell = (first + (long)get_global_id(1)) * pitch + 2 + (long)get_global_id(0);
  const triple west = near_face(from + cell, 1, plane, 1, 2, gravity, dry);
  const triple east = near_face(from + cell + 1, 1, plane, 1, 2, gravity, dry);
  const triple south = near_face(from + cell, pitch, plane, 2, 1, gravity, dry);
  const triple north = near_face(from + cell + pitch, pitch, plane, 2, 1, gravity, dry);
#define MOVE(which, in_x, in_y)                                                                        \
  {                                                                                                    \
    const long at = cell + which * plane;                                                              \
    const double moved = from[at] - (dt_over_dx * (east.in_x - west.in_x) + dt_over_dy * (north.in_y - south.in_y)); \
    to[at] = keep * base[at] + (1 - keep) * moved;                                                     \
  }
  MOVE(0, depth, depth)
  MOVE(1, across, along)
  MOVE(2, along, across)
}

// The halo columns of a row and quantity: a mirror image at a wall, else the other end.
kernel void fill_sides(global double* of, long first, long pitch, long plane, long columns, int is_wall) {
  const long which = get_global_id(0);
  global double* const row = of + which * plane + (first + (long)get_global_id(1)) * pitch + 2;
  const double sign = is_wall && which == 1 ? -1 : 1;
  for (long out = 1; out <= 2; ++out) {
    row[-out] = sign * row[is_wall ? out - 1 : columns - out];
    row[columns - 1 + out] = sign * row[is_wall ? columns - out : out - 1];
  }
}

// Cell by cell, as the host does it.
kernel void sum_rows(global const double* of, global double* sums, long first, long pitch, long plane, long columns) {
  const long which = get_global_id(0), row = get_global_id(1);
  global const double* const cells = of + which * plane + (first + row) * pitch + 2;
  double sum = 0;
  for (long at = 0; at != columns; ++at) sum += cells[at];
  sums[3 * row + which] = sum;
}
)";

}  // namespace shallow_water

#endif
