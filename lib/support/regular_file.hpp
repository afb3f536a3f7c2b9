// A file to be read whose name came from another program.
#ifndef ADAPTYST_LIB_SUPPORT_REGULAR_FILE_HPP
#define ADAPTYST_LIB_SUPPORT_REGULAR_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace adaptyst::lib {

// Open for reading while it lives. To open a pipe may take for ever, and to open a device may do something: neither
// happens, whatever the name leads to.
class regular_file {
 public:
  // `wanted`: "probes", for the message. Throws error when it cannot be opened, or is not a regular file.
  regular_file(const std::string& name, std::string_view wanted, const std::string& hint);
  ~regular_file();
  regular_file(const regular_file&) = delete;
  regular_file& operator=(const regular_file&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  // A name that leads to this very file for as long as it is open, whatever becomes of the one that it was opened by.
  std::string path() const;
  // How many bytes were there to be read.
  std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace adaptyst::lib

#endif
