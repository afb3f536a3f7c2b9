// Rows on an OpenCL device.
#ifndef SHALLOW_WATER_OPENCL_ROWS_HPP
#define SHALLOW_WATER_OPENCL_ROWS_HPP

#include <memory>

#include "row_device.hpp"

namespace shallow_water {

// On the first device that computes in double precision, GPUs before others; null without one. std::runtime_error if it
// refuses the work.
std::unique_ptr<row_device> make_opencl_rows(const row_block& block);

}  // namespace shallow_water

#endif
