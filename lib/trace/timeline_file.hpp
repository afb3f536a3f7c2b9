// Opens the file of a timeline by its format.
#ifndef ADAPTYST_LIB_TRACE_TIMELINE_FILE_HPP
#define ADAPTYST_LIB_TRACE_TIMELINE_FILE_HPP

#include <cstdint>
#include <memory>
#include <string>

#include "trace_writer.hpp"

namespace adaptyst::lib {

// Opens the file of a timeline. `origin_ns`: CLOCK_MONOTONIC at the trace's time 0. `spelled`: makes the readable name
// of a marker, called once for each. Throws error.
using timeline_opener = std::unique_ptr<trace_writer> (*)(const std::string& file, std::uint64_t origin_ns,
                                                          name_speller spelled);

// A program's collector opens an event log, FILE.events, or a timeline for viewers. It refuses a store: SQLite takes locks,
// opens files and allocates memory in ways that an observed process must not. An observer opens stores as well
// (store_writer.hpp).
std::unique_ptr<trace_writer> open_timeline_file(const std::string& file, std::uint64_t origin_ns,
                                                 name_speller spelled);

}  // namespace adaptyst::lib

#endif
