#include "timeline_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

store_opener opener = nullptr;

}  // namespace

void set_store_opener(store_opener with) noexcept { opener = with; }

std::unique_ptr<trace_writer> open_store(const std::string& file, std::uint64_t origin_ns, name_speller spelled) {
  if (opener == nullptr)
    throw error(fmt::format("cannot write the timeline to {}: a program does not write SQLite itself", file), file, 0,
                "adaptyst run --timeline FILE.sqlite does, where it is built with ADAPTYST_WITH_SQLITE; or name a "
                "FILE.trace.json, of which adaptyst run and any viewer know");
  return opener(file, origin_ns, std::move(spelled));
}

}  // namespace adaptyst::lib
