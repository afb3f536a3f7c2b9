#include "opencl_rows.hpp"

namespace shallow_water {

std::unique_ptr<row_device> make_opencl_rows(const row_block&) { return nullptr; }

}  // namespace shallow_water
