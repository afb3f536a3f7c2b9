// What flux.hpp and update.cpp say, in OpenCL C: velocities, fluxes and new values each by a kernel, a work item a cell.
#ifndef SHALLOW_WATER_OPENCL_KERNELS_HPP
#define SHALLOW_WATER_OPENCL_KERNELS_HPP

namespace shallow_water {

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

#define NEAR(at) ((at)[-step] + 0.5 * minmod((at)[-step] - (at)[-2 * step], (at)[0] - (at)[-step]))
#define FAR(at) ((at)[0] - 0.5 * minmod((at)[0] - (at)[-step], (at)[step] - (at)[0]))

// Planes of depth, x and y momentum lie one behind the other; so do those of the velocities, and of what flows through
// the west faces and through the south faces. All kernels begin at the row `first` of the block's memory.

kernel void velocities(global const double* of, global double* moving, long first, long pitch, long plane, double dry) {
  const long cell = (first + (long)get_global_id(1)) * pitch + (long)get_global_id(0);
  moving[cell] = velocity(of[cell], of[cell + plane], dry);
  moving[cell + plane] = velocity(of[cell], of[cell + 2 * plane], dry);
}

triple near_face(global const double* h, global const double* across, global const double* along, long step,
                 double gravity) {
  const triple near = {NEAR(h), NEAR(across), NEAR(along)};
  const triple far = {FAR(h), FAR(across), FAR(along)};
  return flux(near, far, gravity);
}

kernel void fluxes(global const double* of, global const double* moving, global double* through, long first, long pitch,
                   long plane, double gravity) {
  const long cell = (first + (long)get_global_id(1)) * pitch + 2 + (long)get_global_id(0);
  global const double* const x = moving + cell;
  global const double* const y = moving + plane + cell;
  const triple west = near_face(of + cell, x, y, 1, gravity);
  const triple south = near_face(of + cell, y, x, pitch, gravity);
  through[cell] = west.depth;
  through[cell + plane] = west.across;
  through[cell + 2 * plane] = west.along;
  through[cell + 3 * plane] = south.depth;
  through[cell + 4 * plane] = south.along;
  through[cell + 5 * plane] = south.across;
}

kernel void update(global const double* from, global const double* base, global double* to,
                   global const double* through, long first, long pitch, long plane, double dt_over_dx,
                   double dt_over_dy, double keep) {
  const long cell = (first + (long)get_global_id(1)) * pitch + 2 + (long)get_global_id(0);
  for (long which = 0; which != 3; ++which) {
    const long at = cell + which * plane;
    global const double* const west = through + at;
    global const double* const south = through + 3 * plane + at;
    const double moved = from[at] - (dt_over_dx * (west[1] - west[0]) + dt_over_dy * (south[pitch] - south[0]));
    to[at] = keep * base[at] + (1 - keep) * moved;
  }
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
