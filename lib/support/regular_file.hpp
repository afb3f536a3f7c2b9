// A file to be read whose name came from another program.
#ifndef ADAPTYST_LIB_SUPPORT_REGULAR_FILE_HPP
#define ADAPTYST_LIB_SUPPORT_REGULAR_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace adaptyst::lib {

// Holds the file open for reading. Opening a pipe may wait for ever, and opening a device may have an effect, so only
// regular files are opened, whatever the name leads to.
class regular_file {
 public:
  // `wanted`: "probes", for the message. Throws error when it cannot be opened, or is not a regular file.
  regular_file(const std::string& name, std::string_view wanted, const std::string& hint);
  ~regular_file();
  regular_file(const regular_file&) = delete;
  regular_file& operator=(const regular_file&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  // Another name of this file, valid while it is open, even if its own name is removed or leads elsewhere meanwhile.
  std::string path() const;
  // Returns how many bytes were read: fewer at the end of the file, 0 after an error.
  std::size_t read(std::uint64_t offset, void* buffer, std::size_t bytes) const noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace adaptyst::lib

#endif
