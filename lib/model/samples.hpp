// Stack samples, and their addition to the rows.
#ifndef ADAPTYST_LIB_MODEL_SAMPLES_HPP
#define ADAPTYST_LIB_MODEL_SAMPLES_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "measurements.hpp"

namespace adaptyst::lib {

// The state of the thread: running, blocked, or ready without a free core.
enum class thread_state { on_cpu, blocked, waiting };

constexpr std::uint64_t unknown_path = ~std::uint64_t{0};

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

// Takes samples: the kernel's programs (sampler.hpp), or rings of the kernel (recorder_samples.hpp).
class sample_source {
 public:
  virtual ~sample_source() = default;

  // All samples so far; stretches off a core only when they are over.
  virtual sample_sums read() = 0;
  // Ends the sampling; read() still works.
  virtual void stop() = 0;
  virtual std::uint64_t cost_ns() const { return 0; }  // see context_probes
  // The kernel's function at an address; empty: unknown.
  virtual std::string find_kernel_function(std::uint64_t /*address*/) const { return {}; }
};

// Adds samples to the rows that all samples in them belong to: those with context, or, without context, those of scopes
// without sampled events. Call it after add_context().
void add_samples(measurements& sum, const sample_sums& from, bool has_context);

}  // namespace adaptyst::lib

#endif
