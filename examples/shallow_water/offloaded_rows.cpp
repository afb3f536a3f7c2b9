#include "offloaded_rows.hpp"

#include <adaptyst/offload.hpp>

#include <cmath>
#include <stdexcept>

#include "opencl_rows.hpp"
#include "threaded_rows.hpp"

namespace shallow_water {
namespace {

row_range choose_block(int rows, double share) {
  const int max_rows = rows - 2 * stencil;  // what touches the edges of the basin stays with the host
  const int size = std::min(max_rows, static_cast<int>(std::lround(share * rows)));
  if (size < 2 * stencil) return {rows, rows};
  const int first = std::min((rows - size) / 2, rows - stencil - size);
  return {first, first + size};
}

std::unique_ptr<row_device> make_device(const row_block& block, offload_device device) {
  if (block.rows.size() == 0) return nullptr;
  if (device != offload_device::thread) {
    if (std::unique_ptr<row_device> found = make_opencl_rows(block)) return found;
    if (device == offload_device::opencl)
      throw std::runtime_error("no OpenCL device with double precision is here (Debian: pocl-opencl-icd)");
  }
  return std::make_unique<threaded_rows>(block);
}

}  // namespace

offloaded_rows::offloaded_rows(int columns, int rows, double share, boundary edges, const fluid& water,
                               offload_device device)
    : rows_(choose_block(rows, share)), device_(make_device({columns, rows_, edges, water}, device)) {}

void offloaded_rows::begin_step(const field& now, field& next, const stage& predictor, const stage& corrector) {
  if (device_ != nullptr) device_->begin_step(now, next, predictor, corrector);
}

void offloaded_rows::wait() {
  if (device_ == nullptr) return;
  ADAPTYST_WAIT("wait for device");
  device_->wait();
}

void offloaded_rows::sum_rows(const field& now, std::vector<totals>& of_rows) {
  if (device_ != nullptr) device_->sum_rows(now, of_rows);
}

}  // namespace shallow_water
