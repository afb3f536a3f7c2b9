// Makes operations from CUPTI's records of device work.
//
// CUPTI passes records in buffers, in the order in which work ended, on a thread of its own. They are kept and then
// booked together in the order of their start times, as the device activity buffer requires.
#ifndef ADAPTYST_ADAPTERS_CUDA_RECORDS_HPP
#define ADAPTYST_ADAPTERS_CUDA_RECORDS_HPP

#include <adaptyst/adapter/device_clock.hpp>
#include <adaptyst/operation.hpp>
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cupti_library.hpp"
#include "launches.hpp"

namespace cuda_adapter {

// May be called by CUPTI's worker thread and by threads that flush at the same time.
class records {
 public:
  static constexpr std::size_t buffer_bytes = 1U << 20;
  static constexpr std::size_t max_buffers = 64;  // beyond this number, CUPTI drops records, and reports how many

  records(const cupti::library& in, const launches& launched) noexcept : in_(in), launched_(launched) {}

  // Sets the clock of the times.
  void set_clock(adaptyst::clock_id clock) noexcept;

  void request(std::uint8_t** buffer, std::size_t* bytes) noexcept;
  void complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;

  // Gets the names of devices from the driver. Not in a callback of CUPTI, where the driver must not be called. A
  // device that is booked earlier has the name CUDA.
  void learn_devices() noexcept;

  // Books all records passed so far.
  void book() noexcept;

 private:
  struct finished {
    std::uint64_t started, ended;
    std::uint64_t bytes;
    std::uint64_t queue;
    std::uint32_t device;
    std::uint32_t correlation;
    adaptyst::operation_kind kind;
    const std::string* name;
  };

  void read(const void* record, std::vector<finished>& into);
  const std::string& find_kernel_name(const char* symbol);
  void book(const finished& work) noexcept;
  void book_unknown(std::size_t count, const char* name) noexcept;
  const adaptyst::device& device(std::uint32_t ordinal) noexcept;

  const cupti::library& in_;
  const launches& launched_;

  std::mutex handing_over_;
  std::vector<std::uint8_t*> free_buffers_;
  std::size_t buffers_ = 0;
  std::vector<finished> waiting_;
  std::size_t dropped_ = 0;
  std::unordered_map<std::string, std::string> kernels_;  // linked name to source name

  std::mutex booking_;
  adaptyst::device_clock clock_{adaptyst::clock_id::monotonic};
  std::array<std::unique_ptr<adaptyst::device>, 64> devices_;
  std::array<bool, 64> used_{};  // the others are not in the profile
  bool learned_ = false;
  const adaptyst::device* last_device_ = nullptr;  // used for work without a record
};

}  // namespace cuda_adapter

#endif
