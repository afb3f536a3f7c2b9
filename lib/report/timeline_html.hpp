// The HTML report of a trace: a timeline in a browser, in one file.
#ifndef ADAPTYST_LIB_REPORT_TIMELINE_HTML_HPP
#define ADAPTYST_LIB_REPORT_TIMELINE_HTML_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "../trace/timeline_tracks.hpp"

namespace adaptyst::lib {

struct timeline_about {
  std::string title;
  std::string subject;                // the content of the traces
  std::vector<std::string> warnings;  // missing or omitted data
  bool is_simulated = false;
};

// If the file would be larger than `max_bytes`, sums replace the shortest intervals until the file fits, and the page
// reports this. Names and sums cannot be reduced further. Call it with finished tracks; it changes them.
std::string to_html(timeline_tracks& tracks, const timeline_about& about, std::size_t max_bytes = 8'000'000);

}  // namespace adaptyst::lib

#endif
