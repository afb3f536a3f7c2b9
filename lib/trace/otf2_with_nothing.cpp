#include <fmt/format.h>

#include "../support/error.hpp"
#include "otf2.hpp"

namespace adaptyst::lib {

namespace {

[[noreturn]] void refuse(const std::string& file) {
  throw error(fmt::format("{} is an OTF2 archive, and adaptyst was built without OTF2", file), file, 0,
              "build adaptyst with ADAPTYST_WITH_OTF2=ON (Debian: libotf2-trace-dev)");
}

}  // namespace

std::unique_ptr<trace_writer> make_otf2_writer(const std::string& file, std::optional<std::int64_t> /*utc_ns*/) {
  refuse(file);
}

std::unique_ptr<trace_input> open_otf2(const std::string& file) { refuse(file); }

}  // namespace adaptyst::lib
