// What the basin holds in total: the quantities that a solver must not lose.
#ifndef SHALLOW_WATER_TOTALS_HPP
#define SHALLOW_WATER_TOTALS_HPP

#include "grid.hpp"

namespace shallow_water {

// Per unit of a cell's area and of density.
struct totals {
  double depth = 0, x_momentum = 0, y_momentum = 0;
};

inline totals compute_totals(const field& in, int row) {
  totals sum;
  for (int i = 0; i != in.columns(); ++i) {
    sum.depth += in.row(quantity::depth, row)[i];
    sum.x_momentum += in.row(quantity::x_momentum, row)[i];
    sum.y_momentum += in.row(quantity::y_momentum, row)[i];
  }
  return sum;
}

}  // namespace shallow_water

#endif
