// Samples stacks of the threads of observed processes: on their cores by a clock with random intervals, and when they
// leave them. Needs context_probes, which has the current regions of threads.
#ifndef ADAPTYST_LIB_KERNEL_SAMPLER_HPP
#define ADAPTYST_LIB_KERNEL_SAMPLER_HPP

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "../model/samples.hpp"
#include "bpf_loading.hpp"
#include "kernel_sampling.hpp"
#include "process_filter.hpp"

struct samples_bpf;

namespace adaptyst::lib {

class context_probes;

struct sampler_options {
  process_filter whose = process_filter::this_process;
  std::uint64_t frequency = 997;  // mean, in Hz on each processor
  std::uint32_t max_stacks = 0;   // that are kept; 0: the default
  // Only threads without regions are sampled. Their samples are rare enough to take memory when they need it, and the
  // tables take 30 ms less to make.
  bool only_unmarked = false;
  bool only_off_core = false;  // no clocks: another source samples threads on their cores
};

class sampler final : public sample_source {
 public:
  // Loads the programs and starts the clocks, in about 10 ms. Throws error.
  sampler(const context_probes& probes, const sampler_options& options);
  ~sampler() override;
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;

  sample_sums read() override;
  std::uint64_t cost_ns() const override;
  // Thread switches so far, with the cost of their stacks. Thread-safe.
  event_load read_wait_load() const;
  // From now on, records one of 2^step waits, at random. Called by one thread.
  void record_waits(unsigned step);
  void stop() override;
  std::string find_kernel_function(std::uint64_t address) const override;

 private:
  void start_clocks();

  owned_programs<samples_bpf> loaded_;
  std::vector<owned_link> tracepoints_;
  std::atomic<unsigned> coarsest_wait_step_{0};
  std::uint64_t unsampled_ = 0;  // processors without a clock
  pid_t maker_;                  // a forked child shares the programs' memory, and must not stop them
  bool stopped_ = false;
};

}  // namespace adaptyst::lib

#endif
