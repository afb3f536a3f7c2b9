#include "offloaded_rows.hpp"

#include <adaptyst/offload.hpp>

#include <cmath>

namespace shallow_water {
namespace {

row_range block_of(int rows, double share) {
  const int most = rows - 2 * stencil;  // what touches the edges of the basin stays with the host
  const int size = std::min(most, static_cast<int>(std::lround(share * rows)));
  if (size < 2 * stencil) return {rows, rows};
  const int first = std::min((rows - size) / 2, rows - stencil - size);
  return {first, first + size};
}

row_range widened(row_range rows, int by) { return {rows.first - by, rows.last + by}; }

load work_in(row_range rows, int columns) {
  const double cells = static_cast<double>(rows.size()) * columns;
  return {static_cast<std::uint64_t>(cells * bytes_per_update), cells * flops_per_update};
}

}  // namespace

offloaded_rows::offloaded_rows(int columns, int rows, double share, boundary edges, const fluid& water)
    : rows_(block_of(rows, share)),
      edges_(edges),
      water_(water),
      now_(columns, rows_, 2 * stencil),
      predicted_(columns, rows_, 2 * stencil),
      next_(columns, rows_, 2 * stencil) {}

void offloaded_rows::begin_step(const field& now, field& next, const stage& predictor, const stage& corrector) {
  if (rows_.size() == 0) return;
  const int columns = now.columns();
  const row_range with_halo = widened(rows_, 2 * stencil), predicted = widened(rows_, stencil);
  worker_.copy_to("upload rows", {now.bytes_of(with_halo)},
                  [this, &now, with_halo] { now_.copy_rows(now, with_halo); });
  worker_.kernel("predictor", work_in(predicted, columns), [this, predictor, predicted] {
    update_rows(now_, now_, predicted_, predicted, predictor, water_);
    fill_sides(predicted_, predicted, edges_);
  });
  worker_.kernel("corrector", work_in(rows_, columns),
                 [this, corrector] { update_rows(predicted_, now_, next_, rows_, corrector, water_); });
  worker_.copy_from("download rows", {now.bytes_of(rows_)}, [this, &next] { next.copy_rows(next_, rows_); });
}

void offloaded_rows::wait() {
  if (rows_.size() == 0) return;
  ADAPTYST_REGION("wait for accelerator");
  worker_.wait();
}

void offloaded_rows::sum_rows(const field& now, std::vector<totals>& of_rows) {
  if (rows_.size() == 0) return;
  ADAPTYST_OFFLOAD("sum rows", worker_.device());
  worker_.untold([this, &now, &of_rows] {
    now_.copy_rows(now, rows_);
    for (int row = rows_.first; row != rows_.last; ++row) of_rows[static_cast<std::size_t>(row)] = totals_of(now_, row);
  });
  worker_.wait();
}

}  // namespace shallow_water
