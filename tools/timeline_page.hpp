// `adaptyst convert IN... OUT.html`: traces as a timeline in a browser.
#ifndef ADAPTYST_TOOLS_TIMELINE_PAGE_HPP
#define ADAPTYST_TOOLS_TIMELINE_PAGE_HPP

#include <cstdint>
#include <string>

#include "distribute/trace_set.hpp"

namespace adaptyst::tools {

struct timeline_page {
  std::uint64_t events = 0;
  std::uint64_t first_ns = 0;  // time 0 of the page
};

// Reads the traces and writes the HTML report. Reads them twice if they do not fit into memory. Throws error.
timeline_page write_timeline_page(const lib::trace_set& traces, const std::string& to, lib::bad_rows& bad);

constexpr const char* simulated_remark = "simulated: made by a generator, not measured";

// Prints what is missing in the traces, what has no certain place, and which rows are bad.
void complain_about(const lib::trace_set& traces, const lib::bad_rows& bad);

}  // namespace adaptyst::tools

#endif
