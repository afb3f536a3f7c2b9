// The part of heat.py that takes time: C++ with markers, as a shared library.
#include <adaptyst/adaptyst.hpp>

#include <cstddef>

// Heat that spreads on an insulated plate during one step; returns the greatest change of a cell.
extern "C" double spread(const double* now, double* next, std::size_t rows, std::size_t columns) {
  ADAPTYST_FUNCTION();
  constexpr double diffusivity = 0.2;  // of a step and a cell: below 0.25, or it oscillates
  double greatest = 0;
  for (std::size_t row = 0; row != rows; ++row) {
    for (std::size_t column = 0; column != columns; ++column) {
      const double* const here = now + row * columns + column;
      const double left = here[column > 0 ? -1 : 0];
      const double right = here[column + 1 < columns ? 1 : 0];
      const double above = row > 0 ? *(here - columns) : *here;
      const double below = row + 1 < rows ? here[columns] : *here;
      const double change = diffusivity * (left + right + above + below - 4 * *here);
      next[row * columns + column] = *here + change;
      greatest = change > greatest ? change : -change > greatest ? -change : greatest;
    }
  }
  return greatest;
}
