// What payloads and metrics said, in lines below a region's row.
//
// A payload's members are amounts, and have a sum; bytes and flops have a rate. A metric may be a level, such as bytes
// in use or a residual, so it has none, unless it is a time, which adds up in any case. The name says the unit: a time
// ends in _ns, _us, _ms, _s or _seconds and has no "per_" in it, as a rate has; "bytes", "bytes …" and what ends in
// "_bytes" or " bytes" are bytes.
#ifndef ADAPTYST_LIB_REPORT_ATTRIBUTE_TEXT_HPP
#define ADAPTYST_LIB_REPORT_ATTRIBUTE_TEXT_HPP

#include <adaptyst/profile.hpp>
#include <string>

namespace adaptyst::lib {

// One of them: "residual mean 0.31 [0.02, 0.9]".
std::string attribute_text(const std::string& name, const attribute& values, const region& region);
// All of them, "; " between, broken into lines.
std::string attribute_lines(const region& region, std::size_t line_columns, std::size_t indent);

// "0.083 FLOP/B, 75% of 0.667 GFLOP/s that one thread can attain, bound by memory".
std::string roofline_text(const roofline& region);
// Of which ceilings these are shares.
std::string roofline_legend(const machine_ceilings& ceilings);

}  // namespace adaptyst::lib

#endif
