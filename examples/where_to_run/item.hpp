// What passes the pipeline: a sparse matrix times a dense one, smoothed within its edges, the norm of each row, and these in order.
#ifndef WHERE_TO_RUN_ITEM_HPP
#define WHERE_TO_RUN_ITEM_HPP

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace where_to_run {

constexpr int columns = 32;  // of the dense matrix
constexpr int sweeps = 16;   // of the stencil

// A square matrix by rows (CSR), with about the same number of entries in each.
struct sparse_matrix {
  int rows = 0;
  std::vector<int> begins, column;  // rows + 1, entries
  std::vector<float> value;

  std::size_t entries() const { return value.size(); }
};

struct item {
  sparse_matrix a;
  std::vector<float> b;                // rows × columns
  std::vector<float> product, smooth;  // the same
  std::vector<float> norms, sorted;    // rows
};

inline item make_item(int rows, double density) {
  item made;
  std::mt19937 random(static_cast<unsigned>(rows));
  std::uniform_real_distribution<float> number(-1, 1);
  const int entries_in_row = std::max(1, static_cast<int>(density * rows));
  made.a.rows = rows;
  made.a.begins.push_back(0);
  for (int row = 0; row != rows; ++row) {
    // Evenly apart from a random one on, so that columns rise.
    const int first = static_cast<int>(random() % static_cast<unsigned>(rows / entries_in_row));
    for (int at = 0; at != entries_in_row; ++at) {
      made.a.column.push_back(first + at * (rows / entries_in_row));
      made.a.value.push_back(number(random));
    }
    made.a.begins.push_back(static_cast<int>(made.a.column.size()));
  }
  const auto cells = static_cast<std::size_t>(rows) * columns;
  for (std::size_t at = 0; at != cells; ++at) made.b.push_back(number(random));
  made.product.resize(cells);
  made.smooth.resize(cells);
  made.norms.resize(static_cast<std::size_t>(rows));
  made.sorted.resize(static_cast<std::size_t>(rows));
  return made;
}

}  // namespace where_to_run

#endif
