// Counts this process's memory that holds data of other processes.
#ifndef ADAPTYST_LIB_RECORDER_FOREIGN_BYTES_HPP
#define ADAPTYST_LIB_RECORDER_FOREIGN_BYTES_HPP

#include <atomic>
#include <cstddef>

namespace adaptyst::lib {

// Counts memory against two limits: 768 MiB for one holder, and 1 GiB for all holders of this process together.
// Different holders can be used by different threads.
class foreign_bytes {
 public:
  foreign_bytes() = default;
  ~foreign_bytes() { give_back(bytes_); }
  foreign_bytes(const foreign_bytes&) = delete;
  foreign_bytes& operator=(const foreign_bytes&) = delete;

  // False: a limit is reached.
  bool reserve(std::size_t more) noexcept {
    if (bytes_ + more > max_bytes || total_bytes.load() + more > max_total_bytes) return false;
    bytes_ += more;
    total_bytes += more;
    return true;
  }
  void give_back(std::size_t bytes) noexcept {
    bytes_ -= bytes;
    total_bytes -= bytes;
  }
  // Reserves or gives back until `bytes` are reserved. False: a limit is reached, and nothing is reserved now.
  bool hold(std::size_t bytes) noexcept {
    give_back(bytes_);
    return reserve(bytes);
  }

 private:
  static constexpr std::size_t max_bytes = std::size_t{768} << 20;
  static constexpr std::size_t max_total_bytes = std::size_t{1} << 30;
  static inline std::atomic<std::size_t> total_bytes{0};

  std::size_t bytes_ = 0;
};

}  // namespace adaptyst::lib

#endif
