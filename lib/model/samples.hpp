// Stack samples from the kernel, and their addition to the rows.
#ifndef ADAPTYST_LIB_MODEL_SAMPLES_HPP
#define ADAPTYST_LIB_MODEL_SAMPLES_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "measurements.hpp"

namespace adaptyst::lib {

// The state of the thread: running, blocked, or ready without a free core.
enum class thread_state { on_cpu, blocked, waiting };

// One stack of a call path; stacks by id, 0: none.
struct sample_row {
  std::int64_t process = 0;
  std::uint64_t path = 0;  // id of the path; 0: outside all regions
  thread_state state = thread_state::on_cpu;
  std::uint64_t user = 0, kernel = 0;
  std::uint64_t count = 0;
  std::uint64_t ns = 0;  // 0 on a core
};

struct sample_sums {
  std::vector<sample_row> rows;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> stacks;  // addresses, innermost first
  sample_usage usage;
};

// Adds samples to the rows with context. Call it after add_context().
void add_samples(measurements& sum, const sample_sums& from);

}  // namespace adaptyst::lib

#endif
