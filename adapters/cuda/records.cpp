// Turns CUPTI's activity records into operations. CUPTI calls back on a thread of its own, possibly with a lock held:
// records are copied there, and booked later, when CUPTI holds no lock.
#include "records.hpp"

#include <adaptyst/adapter/demangle.hpp>
#include <adaptyst/adapter/gpu_name.hpp>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "../name_cache.hpp"

namespace cuda_adapter {
namespace {

using adaptyst::operation_kind;

const std::string& copy_name(cupti::copy direction) {
  static const std::array<std::string, 11> names{"memcpy",      "memcpy HtoD", "memcpy DtoH", "memcpy HtoA",
                                                 "memcpy AtoH", "memcpy AtoA", "memcpy AtoD", "memcpy DtoA",
                                                 "memcpy DtoD", "memcpy HtoH", "memcpy PtoP"};
  const auto at = static_cast<std::size_t>(direction);
  return names[at < names.size() ? at : 0];
}

// A copy within devices has neither direction, but is still a copy.
operation_kind copy_kind(cupti::copy direction) noexcept {
  switch (direction) {
    case cupti::copy::h_to_d:
    case cupti::copy::h_to_a: return operation_kind::copy_to;
    case cupti::copy::d_to_h:
    case cupti::copy::a_to_h: return operation_kind::copy_from;
    case cupti::copy::a_to_a:
    case cupti::copy::a_to_d:
    case cupti::copy::d_to_a:
    case cupti::copy::d_to_d:
    case cupti::copy::h_to_h:
    case cupti::copy::peer: return operation_kind::fill;
    default: return operation_kind::other;  // of a later CUPTI
  }
}

// Numbers of streams are unique in their context.
template <class Record>
std::uint64_t queue_number(const Record& activity) noexcept {
  return (std::uint64_t{activity.context} << 32) | activity.stream;
}

// CUPTI's conversion from the device's clock is not exact, and a kernel may seem to start before its call. An earlier
// start is counted as bad_times.
constexpr std::uint64_t max_early_ns = 100'000;

}  // namespace

void records::set_clock(adaptyst::clock_id clock) noexcept {
  const std::lock_guard<std::mutex> booking(booking_);
  clock_ = adaptyst::device_clock{clock};
  clock_.synchronise();
}

void records::request(std::uint8_t** buffer, std::size_t* bytes) noexcept {
  *buffer = nullptr;
  *bytes = 0;
  const std::lock_guard<std::mutex> handing_over(handing_over_);
  if (!free_buffers_.empty()) {
    *buffer = free_buffers_.back();
    free_buffers_.pop_back();
  } else if (buffers_ != max_buffers) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, buffer_bytes));
    if (*buffer != nullptr) ++buffers_;
  }
  if (*buffer != nullptr) *bytes = buffer_bytes;
}

// Calls CUPTI only without a lock: CUPTI may hold a lock while it requests a buffer.
void records::complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  std::vector<finished> found;
  void* record = nullptr;
  while (valid_bytes != 0 && in_.next_record(buffer, valid_bytes, &record) == cupti::success) read(record, found);
  std::size_t dropped = 0;
  if (in_.get_dropped(nullptr, 0, &dropped) != cupti::success) dropped = 0;
  const std::lock_guard<std::mutex> handing_over(handing_over_);
  waiting_.insert(waiting_.end(), found.begin(), found.end());
  dropped_ += dropped;
  if (buffer != nullptr) free_buffers_.push_back(buffer);
}

void records::read(const void* record, std::vector<finished>& into) {
  const auto copy = [&](const cupti::memcpy_record& activity, std::uint32_t correlation) {
    into.push_back({activity.start, activity.end, activity.bytes, queue_number(activity), activity.device, correlation,
                    copy_kind(activity.direction), &copy_name(activity.direction)});
  };
  int kind;
  std::memcpy(&kind, record, sizeof kind);
  switch (static_cast<cupti::activity>(kind)) {
    case cupti::activity::concurrent_kernel: {
      const auto& kernel = *static_cast<const cupti::kernel_record*>(record);
      into.push_back({kernel.start, kernel.end, 0, queue_number(kernel), kernel.device, kernel.correlation,
                      operation_kind::kernel, &find_kernel_name(kernel.name)});
      return;
    }
    case cupti::activity::memcpy: {
      const auto& memcpy_activity = *static_cast<const cupti::memcpy_record*>(record);
      return copy(memcpy_activity, memcpy_activity.correlation);
    }
    case cupti::activity::peer_memcpy:  // has the same beginning
      return copy(*static_cast<const cupti::memcpy_record*>(record),
                  static_cast<const cupti::peer_memcpy_record*>(record)->correlation);
    case cupti::activity::memset: {
      static const std::string name = "memset";
      const auto& memset_activity = *static_cast<const cupti::memset_record*>(record);
      into.push_back({memset_activity.start, memset_activity.end, memset_activity.bytes, queue_number(memset_activity),
                      memset_activity.device, memset_activity.correlation, operation_kind::fill, &name});
      return;
    }
  }
}

// Finds the name by its text, not by its address: CUPTI's name is unloaded with the kernel's module, and another name
// may later have the same address.
const std::string& records::find_kernel_name(const char* symbol) {
  if (symbol == nullptr) symbol = "(kernel without a name)";
  const std::lock_guard<std::mutex> handing_over(handing_over_);
  const auto [found, is_new] = kernels_.try_emplace(symbol);
  if (is_new) {
    const auto demangled = adaptyst::demangled(symbol);
    char text[128];
    adaptyst::adapters::write_shortened(text, demangled != nullptr ? demangled.get() : symbol);
    found->second = text;
  }
  return found->second;
}

void records::learn_devices() noexcept {
  if (learned_) return;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return;
  const auto get_count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  const auto get_name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  const auto get_pci_bus_id = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetPCIBusId"));
  int count = 0;
  if (get_count != nullptr && get_name != nullptr && get_pci_bus_id != nullptr && get_count(&count) == 0) {
    const std::lock_guard<std::mutex> booking(booking_);
    for (int at = 0; at < count && static_cast<std::size_t>(at) < devices_.size(); ++at) {
      char name[128] = "";
      char place[32] = "";
      std::unique_ptr<adaptyst::device>& entry = devices_[static_cast<std::size_t>(at)];
      if (entry == nullptr && get_name(name, sizeof name, at) == 0 && get_pci_bus_id(place, sizeof place, at) == 0)
        entry = std::make_unique<adaptyst::device>(adaptyst::detail::gpu_at(at, "CUDA", name, place));
    }
    learned_ = count > 0;
  }
  dlclose(driver);
}

const adaptyst::device& records::device(std::uint32_t ordinal) noexcept {
  static const adaptyst::device none{adaptyst::device_kind::gpu, ~0U, "CUDA, of an unknown number"};
  if (ordinal >= devices_.size()) return none;
  std::unique_ptr<adaptyst::device>& entry = devices_[ordinal];
  if (entry == nullptr) entry = std::make_unique<adaptyst::device>(adaptyst::device_kind::gpu, ordinal, "CUDA");
  used_[ordinal] = true;
  return *entry;
}

void records::book() noexcept {
  const std::lock_guard<std::mutex> booking(booking_);
  std::vector<finished> all;
  std::size_t dropped;
  {
    const std::lock_guard<std::mutex> handing_over(handing_over_);
    all.swap(waiting_);
    dropped = std::exchange(dropped_, 0);
  }
  clock_.synchronise();
  std::sort(all.begin(), all.end(), [](const finished& a, const finished& b) { return a.started < b.started; });
  for (const finished& activity : all) book(activity);
  book_unknown(dropped, "(records that CUPTI dropped)");
  if (all.empty()) return;
  for (std::size_t at = 0; at != devices_.size(); ++at)
    if (used_[at]) adaptyst::report_clock(*devices_[at], clock_);
}

void records::book(const finished& work) noexcept {
  adaptyst::submission when;
  last_device_ = &device(work.device);
  if (!launched_.find(work.correlation, when)) return book_unknown(1, work.name->c_str());
  adaptyst::operation done =
      adaptyst::submit(when, *work.name, *last_device_, work.queue, work.kind, adaptyst::work{work.bytes}, "", "", 0);
  if (work.started == 0 || work.ended == 0) return done.abandon(adaptyst::operation_loss::no_times);
  std::uint64_t started;
  std::uint64_t ended;
  if (!clock_.to_monotonic(work.started, started) || !clock_.to_monotonic(work.ended, ended))
    return done.abandon(adaptyst::operation_loss::unknown_clock);
  const std::uint64_t submitted = when.where().submitted_ns;
  if (started < submitted && submitted - started <= max_early_ns) {
    ended += submitted - started;
    started = submitted;
  }
  done.complete(started, ended);
}

// Books work with an unknown time of submission, or with no known times at all.
void records::book_unknown(std::size_t count, const char* name) noexcept {
  if (count == 0) return;  // device() would name a device before its name is known
  const adaptyst::device& on = last_device_ != nullptr ? *last_device_ : device(0);
  for (; count != 0; --count)
    adaptyst::submit(name, on, 0, operation_kind::other, adaptyst::work{}, "", "", 0)
        .abandon(adaptyst::operation_loss::no_times);
}

}  // namespace cuda_adapter
