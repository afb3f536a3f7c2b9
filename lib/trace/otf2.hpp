// Archives of OTF2, the trace format of Score-P, Vampir and others (https://www.vi-hps.org/projects/score-p).
//
// An archive is an anchor file, FILE.otf2, with FILE.def and a folder FILE next to it. Without libotf2, adaptyst refuses
// them by name.
#ifndef ADAPTYST_LIB_TRACE_OTF2_HPP
#define ADAPTYST_LIB_TRACE_OTF2_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "trace_input.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

// The archive appears when it is finished; an existing one is not replaced. `utc_ns`: the time of day at time 0.
// trace_writer::lost() counts events that the format cannot hold. Throws error.
std::unique_ptr<trace_writer> make_otf2_writer(const std::string& file, std::optional<std::int64_t> utc_ns);

// Copies the archive to a temporary store, which is read. Throws error.
std::unique_ptr<trace_input> open_otf2(const std::string& file);

}  // namespace adaptyst::lib

#endif
