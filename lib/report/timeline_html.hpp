// The page of a trace: a timeline in a browser, in one file.
#ifndef ADAPTYST_LIB_REPORT_TIMELINE_HTML_HPP
#define ADAPTYST_LIB_REPORT_TIMELINE_HTML_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "../trace/timeline_tracks.hpp"

namespace adaptyst::lib {

struct timeline_about {
  std::string title;
  std::string subject;                // what the traces are
  std::vector<std::string> warnings;  // what is not in them, or was left out
  bool is_simulated = false;
};

// Where it would be larger than `max_bytes`, the shortest intervals are summed up until it is not, which the page says; what
// cannot be less are names and sums. Takes the tracks when they are finished, and changes them so.
std::string to_html(timeline_tracks& tracks, const timeline_about& about, std::size_t max_bytes = 8'000'000);

}  // namespace adaptyst::lib

#endif
