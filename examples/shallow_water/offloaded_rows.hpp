// The accelerator's share of the work: a block of rows in the middle of the basin.
//
// In each time step the block goes to the accelerator's memory with four halo rows at either end, both stages run
// there, and the rows come back. Of the first stage the two rows beyond either end are computed on both sides of the
// cut: that is cheaper than to exchange them in the middle of a step.
#ifndef SHALLOW_WATER_OFFLOADED_ROWS_HPP
#define SHALLOW_WATER_OFFLOADED_ROWS_HPP

#include <vector>

#include "accelerator.hpp"
#include "boundary.hpp"
#include "grid.hpp"
#include "totals.hpp"
#include "update.hpp"

namespace shallow_water {

class offloaded_rows {
 public:
  // `share` of the basin's rows, 0 … 1. Some stay with the host, and a block too small to be worth it is empty.
  offloaded_rows(int columns, int rows, double share, boundary edges, const fluid& water);

  row_range rows() const { return rows_; }
  const char* device_name() const { return worker_.device().name(); }

  // Reads `now` and writes the block's rows of `next` until wait(). The halo of `now` must have been filled.
  void begin_step(const field& now, field& next, const stage& predictor, const stage& corrector);
  void wait();

  // Sums of the block's rows, waited for.
  void sum_rows(const field& now, std::vector<totals>& of_rows);

 private:
  row_range rows_;
  boundary edges_;
  fluid water_;
  field now_, predicted_, next_;  // the accelerator's memory
  accelerator worker_;            // the last member: it ends before the memory that it works on
};

}  // namespace shallow_water

#endif
