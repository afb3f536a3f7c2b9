#include "timeline_page.hpp"

#include <fmt/format.h>

#include "report/timeline_html.hpp"
#include "support/output_file.hpp"
#include "trace/timeline_tracks.hpp"

namespace adaptyst::tools {

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void read_all(const lib::trace_set& traces, lib::timeline_tracks& to, lib::bad_rows& bad) {
  for (std::size_t at = 0; at != traces.size(); ++at) {
    to.begin_trace(traces.size() > 1 ? last_part(traces.trace(at).file()) : std::string());
    traces.trace(at).read(to, traces.shift_ns(at), bad);
  }
}

}  // namespace

timeline_page write_timeline_page(const lib::trace_set& traces, const std::string& to, lib::bad_rows& bad) {
  lib::timeline_tracks tracks;
  read_all(traces, tracks, bad);
  if (tracks.needs_second_pass()) {
    tracks.begin_second_pass();
    lib::bad_rows same;
    read_all(traces, tracks, same);
  }
  tracks.finish();
  lib::timeline_about about;
  about.is_simulated = traces.is_simulated();
  about.title = last_part(traces.trace(0).file());
  if (traces.size() > 1) about.title += fmt::format(" and {} more", traces.size() - 1);
  about.subject = traces.trace(0).describe();
  about.warnings = traces.remarks();
  if (std::string remark = bad.text(); !remark.empty()) about.warnings.push_back(std::move(remark));
  const timeline_page made{tracks.seen() + tracks.metrics(), tracks.first_ns()};
  lib::write_file(to, lib::to_html(tracks, about));
  return made;
}

}  // namespace adaptyst::tools
