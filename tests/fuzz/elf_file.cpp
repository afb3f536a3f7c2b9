// A file whose probes, control block and functions are looked for.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "discover/elf_functions.hpp"
#include "discover/elf_probes.hpp"
#include "support/error.hpp"
#include "target.hpp"

namespace {

using namespace adaptyst::lib;

const std::string& put(const std::uint8_t* data, std::size_t size) {
  static const int descriptor = memfd_create("elf_file", MFD_CLOEXEC);
  static const std::string name = fmt::format("/proc/self/fd/{}", descriptor);
  EXPECT(ftruncate(descriptor, 0) == 0);
  EXPECT(pwrite(descriptor, data, size, 0) == static_cast<ssize_t>(size));
  return name;
}

// Only errors of ours, which name the file, are good ones.
template <class Attempt>
void refused_or_done(const std::string& file, const Attempt& attempt) {
  try {
    attempt();
  } catch (const error& failed) {
    EXPECT(std::string(failed.what()).find(file) != std::string::npos);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& file = put(data, size);
  refused_or_done(file, [&] {
    for (const elf_probe& probe : find_elf_markers(file).probes) EXPECT(!probe.has_fast_point || probe.offset < size);
  });
  refused_or_done(file, [&] {
    for (const function_place& place : find_functions(file, {"*", "*::*"}, clones::with_their_function))
      EXPECT(!place.refused.empty() || place.offset < size);
    EXPECT(!explain_no_function(file, "sum(*)").summary().empty());
  });
  return 0;
}
