#include "timeline_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "../support/error.hpp"
#include "../support/output_form.hpp"
#include "chrome_trace.hpp"
#include "event_log_writer.hpp"
#include "perfetto_trace.hpp"

namespace adaptyst::lib {

std::unique_ptr<trace_writer> open_timeline_file(const std::string& file, std::uint64_t origin_ns,
                                                 name_speller spelled) {
  switch (choose_timeline(file)) {
    case timeline_kind::event_log: return std::make_unique<event_log_writer>(file, origin_ns, std::move(spelled));
    case timeline_kind::chrome_trace:
      return std::make_unique<chrome_trace>(file, origin_ns, static_cast<chrome_trace::kind_words>(to_string),
                                            std::move(spelled));
    case timeline_kind::perfetto:
      return std::make_unique<perfetto_trace>(file, perfetto_trace::read_clocks(origin_ns), std::move(spelled));
    case timeline_kind::store: break;
  }
  throw error(fmt::format("cannot write the timeline to {}: a program does not write SQLite itself", file), file, 0,
              "name a FILE.events, and make a store with adaptyst convert; or use adaptyst run -o FILE.sqlite, "
              "if it is built with ADAPTYST_WITH_SQLITE");
}

}  // namespace adaptyst::lib
