// Selects how many page faults are recorded, so that recording them costs no more than a share of the CPU time. Only
// computes from counts.
#ifndef ADAPTYST_LIB_KERNEL_FAULT_SAMPLING_HPP
#define ADAPTYST_LIB_KERNEL_FAULT_SAMPLING_HPP

#include <cstdint>

namespace adaptyst::lib {

// Since the observation began.
struct fault_load {
  std::uint64_t faults = 0;        // including skipped ones
  std::uint64_t recording_ns = 0;  // CPU time for recorded ones, without calls

  // CPU time in which the kernel calls the BPF program, also for skipped page faults.
  std::uint64_t calling_ns() const noexcept;
};

class fault_sampling {
 public:
  static constexpr unsigned coarsest = 12;

  // `share`: of the CPU time, for all observation.
  explicit fault_sampling(double share) : share_(share) {}

  // Returns k: one of 2^k page faults is to be recorded. `cpu_ns`: CPU time of the observed processes so far.
  // `other_cost_ns`: what the context has cost them, without page faults.
  unsigned decide(std::uint64_t cpu_ns, const fault_load& now, std::uint64_t other_cost_ns);

 private:
  double share_;
  unsigned step_ = 0;
  std::uint64_t cpu_ns_ = 0, other_cost_ns_ = 0;
  fault_load last_;
  double recorded_ = 0;           // page faults so far
  std::uint64_t enough_ns_ = 0;   // CPU time for which a lower step has been enough
  unsigned coarsest_enough_ = 0;  // the coarsest of these lower steps
};

}  // namespace adaptyst::lib

#endif
