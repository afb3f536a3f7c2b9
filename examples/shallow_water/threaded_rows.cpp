#include "threaded_rows.hpp"

#include <adaptyst/offload.hpp>

namespace shallow_water {
namespace {

load work_in(row_range rows, int columns) {
  const double cells = static_cast<double>(rows.size()) * columns;
  return {static_cast<std::uint64_t>(cells * bytes_per_update), cells * flops_per_update};
}

}  // namespace

threaded_rows::threaded_rows(const row_block& block)
    : block_(block),
      now_(block.columns, block.rows, 2 * stencil),
      predicted_(block.columns, block.rows, 2 * stencil),
      next_(block.columns, block.rows, 2 * stencil) {}

void threaded_rows::begin_step(const field& now, field& next, const stage& predictor, const stage& corrector) {
  const row_range with_halo = block_.with_halo(), predicted = block_.predicted();
  worker_.copy_to("upload rows", {now.bytes_in(with_halo)},
                  [this, &now, with_halo] { now_.copy_rows(now, with_halo); });
  worker_.kernel("predictor", work_in(predicted, block_.columns), [this, predictor, predicted] {
    update_rows(now_, now_, predicted_, predicted, predictor, block_.water);
    fill_sides(predicted_, predicted, block_.edges);
  });
  worker_.kernel("corrector", work_in(block_.rows, block_.columns),
                 [this, corrector] { update_rows(predicted_, now_, next_, block_.rows, corrector, block_.water); });
  worker_.copy_from("download rows", {now.bytes_in(block_.rows)},
                    [this, &next] { next.copy_rows(next_, block_.rows); });
}

void threaded_rows::sum_rows(const field& now, std::vector<totals>& of_rows) {
  ADAPTYST_OFFLOAD("sum rows", worker_.device());
  worker_.untold([this, &now, &of_rows] {
    now_.copy_rows(now, block_.rows);
    for (int row = block_.rows.first; row != block_.rows.last; ++row)
      of_rows[static_cast<std::size_t>(row)] = compute_totals(now_, row);
  });
  worker_.wait();
}

}  // namespace shallow_water
