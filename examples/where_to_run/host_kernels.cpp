#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace where_to_run {

namespace {

void multiply(item& data) {
  const int* const begins = data.a.begins.data();
  const int* const column_of_entry = data.a.column.data();
  const float* const value = data.a.value.data();
  for (int row = 0; row != data.a.rows; ++row) {
    float sum[columns] = {};
    for (int at = begins[row]; at != begins[row + 1]; ++at) {
      const float* const b = &data.b[static_cast<std::size_t>(column_of_entry[at]) * columns];
      for (int column = 0; column != columns; ++column) sum[column] += value[at] * b[column];
    }
    std::copy(sum, sum + columns, &data.product[static_cast<std::size_t>(row) * columns]);
  }
}

// To a neighbour: less across edges, which so stay where they are (Perona and Malik 1990).
float flow(float difference) { return difference / (1 + difference * difference); }

// The borders stay as they are.
void sweep(const float* from, float* to, int rows) {
  std::copy(from, from + columns, to);
  for (int row = 1; row < rows - 1; ++row) {
    const float* const here = from + static_cast<std::size_t>(row) * columns;
    float* const out = to + static_cast<std::size_t>(row) * columns;
    out[0] = here[0];
    for (int column = 1; column < columns - 1; ++column)
      out[column] =
          here[column] +
          0.125F * (flow(here[column - 1] - here[column]) + flow(here[column + 1] - here[column]) +
                    flow(here[column - columns] - here[column]) + flow(here[column + columns] - here[column]));
    out[columns - 1] = here[columns - 1];
  }
  const std::size_t last = static_cast<std::size_t>(rows - 1) * columns;
  std::copy(from + last, from + last + columns, to + last);
}

void smooth(item& data) {
  static_assert(sweeps % 2 == 0, "the last sweep ends in `product`, from where it is swapped");
  for (int turn = 0; turn != sweeps; ++turn)
    if (turn % 2 == 0) sweep(data.product.data(), data.smooth.data(), data.a.rows);
    else sweep(data.smooth.data(), data.product.data(), data.a.rows);
  std::swap(data.product, data.smooth);
}

void reduce(item& data) {
  for (std::size_t row = 0; row != data.norms.size(); ++row) {
    const float* const cells = &data.smooth[row * columns];
    float sum = 0;
    for (int column = 0; column != columns; ++column) sum += cells[column] * cells[column];
    data.norms[row] = std::sqrt(sum);
  }
}

void sort(item& data) {
  data.sorted = data.norms;
  std::sort(data.sorted.begin(), data.sorted.end());
}

}  // namespace

void run_on_host(item& data, std::size_t region) {
  constexpr void (*kernels[])(item&) = {multiply, smooth, reduce, sort};
  kernels[region](data);
}

}  // namespace where_to_run
