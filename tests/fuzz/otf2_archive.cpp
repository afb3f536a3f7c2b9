// An OTF2 archive of another program. Input: the files below in this order, each after its size in 4 bytes, the lowest
// first.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "no_writer.hpp"
#include "support/error.hpp"
#include "target.hpp"
#include "trace/otf2.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string folder = "/tmp/adaptyst-archive-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 0;
  std::error_code failed;
  std::filesystem::create_directory(folder + "/a", failed);
  std::string_view left(reinterpret_cast<const char*>(data), size);
  for (const char* const name : {"a.otf2", "a.def", "a/0.evt", "a/0.def", "a/1.evt", "a/1.def", "a/2.evt", "a/2.def",
                                 "a/3.evt", "a/3.def", "a/7.evt", "a/7.def"}) {
    if (left.size() < 4) break;
    std::uint32_t bytes = 0;
    for (unsigned at = 0; at != 4; ++at) bytes |= std::uint32_t{static_cast<unsigned char>(left[at])} << 8 * at;
    left.remove_prefix(4);
    const std::string_view content = left.substr(0, bytes);
    std::ofstream(folder + "/" + name, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    left.remove_prefix(content.size());
  }
  try {
    no_writer to;
    adaptyst::lib::bad_rows bad;
    adaptyst::lib::open_otf2(folder + "/a.otf2")->read(to, 0, bad);
  } catch (const adaptyst::lib::error&) {}
  std::filesystem::remove_all(folder, failed);
  return 0;
}
