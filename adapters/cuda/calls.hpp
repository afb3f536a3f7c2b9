// The program's calls of CUDA. CUPTI calls back when they are entered and left.
//
// Calls that submit work to a device are noted, so that the work is nested in the region that is open at that time.
// Calls in which the host waits become wait regions. Calls that allocate or free memory are counted. CUPTI's callbacks
// cost time: no others are enabled.
#ifndef ADAPTYST_ADAPTERS_CUDA_CALLS_HPP
#define ADAPTYST_ADAPTERS_CUDA_CALLS_HPP

#include "cupti_library.hpp"
#include "launches.hpp"
#include "memory.hpp"

namespace cuda_adapter {

// The relevant effects of a call; may be combined.
enum role : std::uint8_t { nothing = 0, gives_work = 1, waits = 2, ends_profile = 4 };

// The role of a function of the runtime or the driver, by its name, with or without a version at the end.
role find_role(const char* function) noexcept;

class calls {
 public:
  // `on_end_of_profile` is called when the program ends a profile, or resets a device.
  calls(const cupti::library& in, void (*on_end_of_profile)()) noexcept : in_(in), end_profile_(on_end_of_profile) {}

  cupti::result subscribe() noexcept;
  void listen(bool on) noexcept;

  const launches& launched() const noexcept { return launched_; }
  device_memory& memory() noexcept { return memory_; }

 private:
  static constexpr std::uint32_t max_functions = 2048;  // of a domain; CUDA 13 has 806

  static void on_call(void* self, int domain, std::uint32_t function, const void* what) noexcept;
  void enter(role what, int domain, const cupti::call& call) noexcept;
  void leave(int domain, const cupti::call& call) noexcept;

  const cupti::library& in_;
  void (*end_profile_)();
  void* subscriber_ = nullptr;
  role roles_[2][max_functions]{};             // of the driver's functions, of the runtime's
  memory_call memory_calls_[max_functions]{};  // of the driver's functions
  launches launched_{};
  device_memory memory_{in_};
};

}  // namespace cuda_adapter

#endif
