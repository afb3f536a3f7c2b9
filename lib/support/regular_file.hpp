// A file for reading, with a name from another program; and the file of a command's program.
#ifndef ADAPTYST_LIB_SUPPORT_REGULAR_FILE_HPP
#define ADAPTYST_LIB_SUPPORT_REGULAR_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "reading_process.hpp"

namespace adaptyst::lib {

// Keeps the file open for reading. Opening a pipe may never return, and opening a device may have an effect, so only
// regular files are opened. A name in /proc/PID of another process is opened within a bounded time, and read from a
// copy if its file system is in user space (FUSE).
class regular_file {
 public:
  // `wanted`: "probes", for the message. Throws error if it cannot be opened, or is not a regular file.
  regular_file(const std::string& name, std::string_view wanted, const std::string& hint);
  ~regular_file();
  regular_file(const regular_file&) = delete;
  regular_file& operator=(const regular_file&) = delete;

  // Descriptor for reading: that of the file, or of the copy.
  int descriptor() const noexcept;
  // Whether its file system is in user space. Such a file must have no probes: the kernel reads a file in which it
  // places a probe, and every fork of the system waits for that read.
  bool is_copied() const noexcept { return static_cast<bool>(file_.contents); }
  // Identity of the file itself: device and inode.
  std::pair<dev_t, ino_t> identity() const noexcept { return {file_.device, file_.inode}; }
  // Another name of this file, valid while it is open, even if its name is removed or leads elsewhere. A regular_file
  // with this name reads the copy, if there is one.
  std::string path() const;
  // Returns the number of bytes read: fewer at the end of the file, 0 after an error.
  std::size_t read(std::uint64_t offset, void* buffer, std::size_t bytes) const noexcept;

 private:
  readable_file file_;
};

// The file of a command's program, as execvp() finds it: in the folders of PATH, unless the word has a slash. Empty: there
// is no such program.
std::string program_called(const std::string& word);

}  // namespace adaptyst::lib

#endif
