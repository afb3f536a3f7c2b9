// What flows through the face between two cells, after Harten, Lax and van Leer (HLL).
//
// The formulas are written so that a mirrored face gives the mirrored flux to the last bit: symmetric water stays
// symmetric, and nothing at all flows through a wall, which is a face between a cell and its mirror image.
#ifndef SHALLOW_WATER_FLUX_HPP
#define SHALLOW_WATER_FLUX_HPP

#include <algorithm>
#include <cmath>

namespace shallow_water {

struct fluid {
  double gravity;
  double dry;  // depth below which water hardly moves
};

// Seen from a face: velocity across it and along it.
struct face_state {
  double depth, across, along;
};

// Of depth and momentum.
struct face_flux {
  double depth, across, along;
};

// Momentum over depth, but falling to 0 instead of growing without bound where there is hardly any water
// (Kurganov and Petrova 2007).
inline double velocity(double depth, double momentum, const fluid& water) {
  const double square = depth * depth;
  return 2 * depth * momentum / (square + std::max(square, water.dry * water.dry));
}

inline double wave_speed(double depth, const fluid& water) { return std::sqrt(water.gravity * std::max(depth, 0.0)); }

// The smaller slope, or 0 at an extremum.
inline double minmod(double a, double b) {
  return (std::copysign(0.5, a) + std::copysign(0.5, b)) * std::min(std::abs(a), std::abs(b));
}

inline face_flux flux(const face_state& left, const face_state& right, const fluid& water) {
  const double ul = left.across, ur = right.across;
  const double cl = wave_speed(left.depth, water), cr = wave_speed(right.depth, water);
  const double low = std::min(0.0, std::min(ul - cl, ur - cr));
  const double high = std::max(0.0, std::max(ul + cl, ur + cr));
  const double scale = 1 / std::max(high - low, 1e-300);
  const auto hll = [&](double flux_left, double flux_right, double of_left, double of_right) {
    return ((high * flux_left - low * flux_right) + high * low * (of_right - of_left)) * scale;
  };
  const double pl = left.depth * ul, pr = right.depth * ur;
  const auto pressure = [&](double depth) { return 0.5 * water.gravity * depth * depth; };
  return {hll(pl, pr, left.depth, right.depth),
          hll(pl * ul + pressure(left.depth), pr * ur + pressure(right.depth), pl, pr),
          hll(pl * left.along, pr * right.along, left.depth * left.along, right.depth * right.along)};
}

}  // namespace shallow_water

#endif
