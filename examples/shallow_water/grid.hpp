// Where the water is kept: three numbers a cell, depth and the momentum along x and y, each in an array of its own.
//
// Rows are contiguous. Beyond the cells lie halo cells that hold what is next to them across a boundary or a cut: two
// columns on each side, and as many rows at each end as the owner asks for.
#ifndef SHALLOW_WATER_GRID_HPP
#define SHALLOW_WATER_GRID_HPP

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace shallow_water {

constexpr int stencil = 2;  // cells that an update looks at, in each direction

enum class quantity : std::size_t { depth, x_momentum, y_momentum };
constexpr quantity quantities[] = {quantity::depth, quantity::x_momentum, quantity::y_momentum};

// Rows first, first + 1, …, last − 1.
struct row_range {
  int first = 0, last = 0;
  int size() const { return std::max(0, last - first); }
};

class field {
 public:
  field(int columns, row_range rows, int halo_rows)
      : columns_(columns),
        lowest_(rows.first - halo_rows),
        pitch_(static_cast<std::size_t>(columns) + 2 * stencil),
        plane_(pitch_ * static_cast<std::size_t>(rows.size() + 2 * halo_rows)),
        values_(std::size(quantities) * plane_) {}

  int columns() const { return columns_; }
  std::ptrdiff_t pitch() const { return static_cast<std::ptrdiff_t>(pitch_); }  // from a cell to the one above it

  // The cell in column 0 of a row. Rows keep their numbers in a field that holds only some of them.
  double* row(quantity quantity, int number) { return values_.data() + offset(quantity, number); }
  const double* row(quantity quantity, int number) const { return values_.data() + offset(quantity, number); }

  // Takes rows over from another field of equal width, halo columns included.
  void copy_rows(const field& from, row_range rows) {
    for (const quantity each : quantities)
      std::copy_n(from.row(each, rows.first) - stencil, pitch_ * static_cast<std::size_t>(rows.size()),
                  row(each, rows.first) - stencil);
  }

  std::size_t bytes_in(row_range rows) const {
    return std::size(quantities) * pitch_ * static_cast<std::size_t>(rows.size()) * sizeof(double);
  }

 private:
  std::size_t offset(quantity quantity, int number) const {
    return static_cast<std::size_t>(quantity) * plane_ + pitch_ * static_cast<std::size_t>(number - lowest_) + stencil;
  }

  int columns_;
  int lowest_;
  std::size_t pitch_, plane_;
  std::vector<double> values_;
};

}  // namespace shallow_water

#endif
