// The device's share of the work: a block of rows in the middle of the basin.
//
// In each time step the block goes to the device's memory with four halo rows at either end, both stages run there, and
// the rows come back. Of the first stage the two rows beyond either end are computed on both sides of the cut: that is
// cheaper than to exchange them in the middle of a step.
#ifndef SHALLOW_WATER_OFFLOADED_ROWS_HPP
#define SHALLOW_WATER_OFFLOADED_ROWS_HPP

#include <memory>
#include <vector>

#include "row_device.hpp"

namespace shallow_water {

enum class offload_device {
  thread,  // a thread of this process, which computes what the host would, to the last bit
  opencl,  // the first device that has double precision; std::runtime_error without one
  any,     // that, or else a thread
};

class offloaded_rows {
 public:
  // `share` of the basin's rows, 0 … 1. Some stay with the host, and a block too small to be worth it is empty.
  offloaded_rows(int columns, int rows, double share, boundary edges, const fluid& water, offload_device device);

  row_range rows() const { return rows_; }
  const char* device_name() const { return device_ != nullptr ? device_->name() : "no device"; }

  // Reads `now` and writes the block's rows of `next` until wait(). The halo of `now` must have been filled.
  void begin_step(const field& now, field& next, const stage& predictor, const stage& corrector);
  void wait();

  // Sums of the block's rows, waited for.
  void sum_rows(const field& now, std::vector<totals>& of_rows);

 private:
  row_range rows_;
  std::unique_ptr<row_device> device_;  // none without rows
};

}  // namespace shallow_water

#endif
