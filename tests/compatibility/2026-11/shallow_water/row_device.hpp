// What a device must be able to do to take a block of rows.
#ifndef SHALLOW_WATER_ROW_DEVICE_HPP
#define SHALLOW_WATER_ROW_DEVICE_HPP

#include <vector>

#include "boundary.hpp"
#include "grid.hpp"
#include "totals.hpp"
#include "update.hpp"

namespace shallow_water {

inline row_range widened(row_range rows, int by) { return {rows.first - by, rows.last + by}; }

// A block of a basin, for those who keep it in memory of their own, with four halo rows at either end.
struct row_block {
  int columns;
  row_range rows;
  boundary edges;
  fluid water;

  row_range with_halo() const { return widened(rows, 2 * stencil); }
  row_range predicted() const { return widened(rows, stencil); }
};

class row_device {
 public:
  row_device() = default;
  virtual ~row_device() = default;  // after all that was begun
  row_device(const row_device&) = delete;
  row_device& operator=(const row_device&) = delete;

  virtual const char* name() const = 0;

  // Returns at once; reads `now` and writes the block's rows of `next` until wait().
  virtual void begin_step(const field& now, field& next, const stage& predictor, const stage& corrector) = 0;
  virtual void wait() = 0;

  // Sums of the block's rows, waited for.
  virtual void sum_rows(const field& now, std::vector<totals>& of_rows) = 0;
};

}  // namespace shallow_water

#endif
