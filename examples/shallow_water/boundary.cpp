#include "boundary.hpp"

namespace shallow_water {

void fill_sides(field& of, row_range rows, boundary kind) {
  const int columns = of.columns();
  for (const quantity each : quantities) {
    const double sign = kind == boundary::wall && each == quantity::x_momentum ? -1 : 1;
    for (int number = rows.first; number < rows.last; ++number) {
      double* const row = of.row(each, number);
      for (int out = 1; out <= stencil; ++out) {
        row[-out] = sign * row[kind == boundary::wall ? out - 1 : columns - out];
        row[columns + out - 1] = sign * row[kind == boundary::wall ? columns - out : out - 1];
      }
    }
  }
}

void fill_ends(field& of, int rows, boundary kind) {
  const int end = of.columns() + stencil;
  for (const quantity each : quantities) {
    const double sign = kind == boundary::wall && each == quantity::y_momentum ? -1 : 1;
    for (int out = 1; out <= stencil; ++out) {
      const double* const for_below = of.row(each, kind == boundary::wall ? out - 1 : rows - out);
      const double* const for_above = of.row(each, kind == boundary::wall ? rows - out : out - 1);
      double* const below = of.row(each, -out);
      double* const above = of.row(each, rows + out - 1);
      for (int i = -stencil; i != end; ++i) {
        below[i] = sign * for_below[i];
        above[i] = sign * for_above[i];
      }
    }
  }
}

}  // namespace shallow_water
