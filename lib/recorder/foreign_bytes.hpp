// Counts this process's memory that holds data of other processes.
#ifndef ADAPTYST_LIB_RECORDER_FOREIGN_BYTES_HPP
#define ADAPTYST_LIB_RECORDER_FOREIGN_BYTES_HPP

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
  bool reserve(std::size_t more) noexcept;
  void give_back(std::size_t bytes) noexcept;
  // Reserves or gives back until `bytes` are reserved. False: a limit is reached, and nothing is reserved now.
  bool hold(std::size_t bytes) noexcept;

 private:
  std::size_t bytes_ = 0;
};

}  // namespace adaptyst::lib

#endif
