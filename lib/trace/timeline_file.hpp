// The file of a timeline, by what it is to be.
#ifndef ADAPTYST_LIB_TRACE_TIMELINE_FILE_HPP
#define ADAPTYST_LIB_TRACE_TIMELINE_FILE_HPP

#include <cstdint>
#include <memory>
#include <string>

#include "trace_writer.hpp"

namespace adaptyst::lib {

// `origin_ns`: CLOCK_MONOTONIC at the trace's time 0.
using store_opener = std::unique_ptr<trace_writer> (*)(const std::string& file, std::uint64_t origin_ns,
                                                       name_speller spelled);

// Who can write SQLite says so, before anything is opened. A collector in a program never can: SQLite takes locks, opens
// files and allocates in ways that no observed process is to have.
void set_store_opener(store_opener opener) noexcept;

// A store, an event log or a Chrome trace, by the ending of its name: FILE.sqlite, FILE.events, another. `spelled`: a
// marker's name as people read it, asked once for each. Throws error; for a store also where no opener has been set.
std::unique_ptr<trace_writer> open_timeline_file(const std::string& file, std::uint64_t origin_ns,
                                                 name_speller spelled);

}  // namespace adaptyst::lib

#endif
