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

// The address space of the program that the process ran when this was made, as far as ptrace permits; after an exec()
// it cannot be read or written any more. Reads and writes take a bounded time. Nothing that is read can be relied upon: an address or a count may be wrong,
// and the caller must cope with that.
class other_memory final : public memory {
 public:
  // `to_write`: whether it may be written; without, the descriptor is opened to read only.
  explicit other_memory(pid_t process, bool to_write = true) : process_(process), to_write_(to_write) { open(); }
  ~other_memory() override { close(); }
  other_memory(const other_memory&) = delete;
  other_memory& operator=(const other_memory&) = delete;

  // Opens the address space of the program that the process runs now. It is not written if it has rights that the one
  // before had not.
  void open();
  void close() noexcept;
  // The process has ended, or runs another program.
  bool is_gone() const noexcept;
  // Something of it was not delivered in time; nothing more is read.
  bool has_hung() const noexcept;
  // Why it cannot be read although it exists: an errno, for a limit or missing rights; or 0.
  int refusal() const noexcept;
  // Its user is ours, and has no rights over others: what it says can only harm itself.
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
  int why_not_ = 0;          // errno, where there is no descriptor
  std::optional<process_rights> rights_;
  bool may_write_ = false;
  mutable std::vector<range> writable_;  // as it was when it was last looked up
  mutable std::uint64_t missed_ns_ = 0;  // when something was not among them even then
};

}  // namespace adaptyst::lib

#endif
