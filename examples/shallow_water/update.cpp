// The numerical scheme, for a block of rows: second order in space, with limited slopes and local Lax-Friedrichs
// fluxes.
#include "update.hpp"

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace shallow_water {
namespace {

class flux_row {
 public:
  explicit flux_row(int faces) : faces_(static_cast<std::size_t>(faces)), values_(std::size(quantities) * faces_) {}
  double* of(quantity which) { return values_.data() + static_cast<std::size_t>(which) * faces_; }

 private:
  std::size_t faces_;
  std::vector<double> values_;
};

// Velocities of some rows and of the stencil around them, along x and along y.
class velocities {
 public:
  velocities(const field& field, row_range rows, const fluid& water)
      : lowest_(rows.first - stencil),
        pitch_(static_cast<std::size_t>(field.pitch())),
        plane_(pitch_ * static_cast<std::size_t>(rows.size() + 2 * stencil)),
        values_(2 * plane_) {
    for (int number = lowest_; number != rows.last + stencil; ++number)
      for (const quantity momentum : {quantity::x_momentum, quantity::y_momentum}) {
        const double* const h = field.row(quantity::depth, number) - stencil;
        const double* const p = field.row(momentum, number) - stencil;
        double* const v = values_.data() + offset(momentum, number);
        for (std::size_t i = 0; i != pitch_; ++i) v[i] = velocity(h[i], p[i], water);
      }
  }

  const double* row(quantity momentum, int number) const { return values_.data() + offset(momentum, number) + stencil; }

 private:
  std::size_t offset(quantity momentum, int number) const {
    return (momentum == quantity::y_momentum ? plane_ : 0) + pitch_ * static_cast<std::size_t>(number - lowest_);
  }

  int lowest_;
  std::size_t pitch_, plane_;
  std::vector<double> values_;
};

// The value on the near and on the far side of the face between the cells at[-step] and at[0].
inline double near_side(const double* at, std::ptrdiff_t step) {
  return at[-step] + 0.5 * minmod(at[-step] - at[-2 * step], at[0] - at[-step]);
}
inline double far_side(const double* at, std::ptrdiff_t step) {
  return at[0] - 0.5 * minmod(at[0] - at[-step], at[step] - at[0]);
}

// Fluxes through the near faces of the first `count` cells of a row, in x (step 1) or y (step: the field's pitch).
// Depth and velocity are extended to the faces, not momentum: a thin edge of water would come out fast and negative.
void face_fluxes(const field& in, const velocities& moving, int row, quantity across, int count, const fluid& water,
                 flux_row& out) {
  const quantity along = across == quantity::x_momentum ? quantity::y_momentum : quantity::x_momentum;
  const std::ptrdiff_t step = across == quantity::x_momentum ? 1 : in.pitch();
  const double* const h = in.row(quantity::depth, row);
  const double* const u = moving.row(across, row);
  const double* const v = moving.row(along, row);
  double* const out_h = out.of(quantity::depth);
  double* const out_u = out.of(across);
  double* const out_v = out.of(along);
  for (int i = 0; i != count; ++i) {
    const face_state near{near_side(h + i, step), near_side(u + i, step), near_side(v + i, step)};
    const face_state far{far_side(h + i, step), far_side(u + i, step), far_side(v + i, step)};
    const face_flux through = flux(near, far, water);
    out_h[i] = through.depth;
    out_u[i] = through.across;
    out_v[i] = through.along;
  }
}

}  // namespace

void update_rows(const field& from, const field& base, field& result, row_range rows, const stage& by,
                 const fluid& water) {
  if (rows.size() == 0) return;
  const int columns = from.columns();
  const velocities moving(from, rows, water);
  flux_row west(columns + 1), south(columns), north(columns);
  face_fluxes(from, moving, rows.first, quantity::y_momentum, columns, water, south);
  for (int row = rows.first; row != rows.last; ++row) {
    face_fluxes(from, moving, row + 1, quantity::y_momentum, columns, water, north);
    face_fluxes(from, moving, row, quantity::x_momentum, columns + 1, water, west);
    for (const quantity each : quantities) {
      const double* const f = from.row(each, row);
      const double* const b = base.row(each, row);
      double* const t = result.row(each, row);
      const double* const w = west.of(each);
      const double* const s = south.of(each);
      const double* const n = north.of(each);
      for (int i = 0; i != columns; ++i) {
        const double moved = f[i] - (by.dt_over_dx * (w[i + 1] - w[i]) + by.dt_over_dy * (n[i] - s[i]));
        t[i] = by.keep * b[i] + (1 - by.keep) * moved;
      }
    }
    std::swap(south, north);
  }
}

pace compute_pace(const field& in, row_range rows, double dx, double dy, const fluid& water) {
  pace found;
  for (int row = rows.first; row < rows.last; ++row) {
    const double* const h = in.row(quantity::depth, row);
    const double* const p = in.row(quantity::x_momentum, row);
    const double* const q = in.row(quantity::y_momentum, row);
    for (int i = 0; i != in.columns(); ++i) {
      const double c = wave_speed(h[i], water);
      const double along_x = std::abs(velocity(h[i], p[i], water)) + c;
      const double along_y = std::abs(velocity(h[i], q[i], water)) + c;
      found.rate = std::max(found.rate, along_x / dx + along_y / dy);
      found.speed = std::max(found.speed, std::max(along_x, along_y));
    }
  }
  return found;
}

}  // namespace shallow_water
