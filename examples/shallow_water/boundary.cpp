#include "boundary.hpp"

namespace shallow_water {

void fill_sides(field& field, row_range rows, boundary kind) {
  const int columns = field.columns();
  for (const quantity each : quantities) {
    const double sign = kind == boundary::wall && each == quantity::x_momentum ? -1 : 1;
    for (int number = rows.first; number < rows.last; ++number) {
      double* const row = field.row(each, number);
      for (int out = 1; out <= stencil; ++out) {
        row[-out] = sign * row[kind == boundary::wall ? out - 1 : columns - out];
        row[columns + out - 1] = sign * row[kind == boundary::wall ? columns - out : out - 1];
      }
    }
  }
}

void fill_ends(field& field, int rows, boundary kind) {
  const int end = field.columns() + stencil;
  for (const quantity each : quantities) {
    const double sign = kind == boundary::wall && each == quantity::y_momentum ? -1 : 1;
    for (int out = 1; out <= stencil; ++out) {
      const double* const for_below = field.row(each, kind == boundary::wall ? out - 1 : rows - out);
      const double* const for_above = field.row(each, kind == boundary::wall ? rows - out : out - 1);
      double* const below = field.row(each, -out);
      double* const above = field.row(each, rows + out - 1);
      for (int i = -stencil; i != end; ++i) {
        below[i] = sign * for_below[i];
        above[i] = sign * for_above[i];
      }
    }
  }
}

}  // namespace shallow_water
