// Rows on the worker thread that stands in for an accelerator.
#ifndef SHALLOW_WATER_THREADED_ROWS_HPP
#define SHALLOW_WATER_THREADED_ROWS_HPP

#include "accelerator.hpp"
#include "row_device.hpp"

namespace shallow_water {

class threaded_rows : public row_device {
 public:
  explicit threaded_rows(const row_block& block);

  const char* name() const override { return worker_.device().name(); }
  void begin_step(const field& now, field& next, const stage& predictor, const stage& corrector) override;
  void wait() override { worker_.wait(); }
  void sum_rows(const field& now, std::vector<totals>& of_rows) override;

 private:
  row_block block_;
  field now_, predicted_, next_;  // the accelerator's memory
  accelerator worker_;            // the last member: it ends before the memory that it works on
};

}  // namespace shallow_water

#endif
