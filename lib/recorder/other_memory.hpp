// Memory of another process, bound to the program that it runs.
#ifndef ADAPTYST_LIB_RECORDER_OTHER_MEMORY_HPP
#define ADAPTYST_LIB_RECORDER_OTHER_MEMORY_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../discover/running_processes.hpp"
#include "../support/reading_process.hpp"
#include "memory.hpp"

namespace adaptyst::lib {

// The address space of the program that the process ran when this object was created, as far as ptrace permits; after
// an exec(), it cannot be read or written any more. Reads and writes take a bounded time. The data may be wrong: the
// caller must check every address and count.
class other_memory final : public memory {
 public:
  // `to_write`: whether it may be written; false: the descriptor is opened for reading only.
  explicit other_memory(pid_t process, bool to_write = true) : process_(process), to_write_(to_write) { open(); }
  ~other_memory() override { close(); }
  other_memory(const other_memory&) = delete;
  other_memory& operator=(const other_memory&) = delete;

  // Opens the address space of the current program of the process. It is not written if the program has more rights
  // than the previous one.
  void open();
  void close() noexcept;
  // The process has ended, or runs another program.
  bool is_gone() const noexcept;
  // A read was not delivered in time; nothing more is read.
  bool has_hung() const noexcept;
  // Why it cannot be read although it exists: an errno, for a limit or missing rights; or 0.
  int refusal() const noexcept;
  // The process has the same user as this one and no rights over others: wrong data can harm only this user.
  bool has_our_user() const noexcept;

  using memory::read;
  using memory::write;
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override;
  // Writes only into a process of one user, and only where the process itself may write.
  bool write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept override;
  std::string text(std::uint64_t address, std::size_t max_bytes) const override;
  unsigned patience() const noexcept override { return 3; }

 private:
  struct range {
    std::uint64_t begin, end;
  };

  program_memory memory_of_program() const noexcept { return {process_, descriptor_, image_}; }
  bool is_writable(std::uint64_t address, std::size_t bytes) const;
  std::vector<range> writable_ranges() const;

  pid_t process_;
  bool to_write_;
  int descriptor_ = -1;
  std::uint64_t image_ = 0;  // of the program; 0: it changed while its memory was opened
  int why_not_ = 0;          // errno, if there is no descriptor
  std::optional<process_rights> rights_;
  bool may_write_ = false;
  mutable std::vector<range> writable_;  // as of the last lookup
  mutable std::uint64_t lost_ns_ = 0;    // time of the last lookup without success
};

}  // namespace adaptyst::lib

#endif
