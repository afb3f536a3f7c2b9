// What a comparison rests on, in sentences.
#ifndef ADAPTYST_LIB_REPORT_COMPARISON_WORDS_HPP
#define ADAPTYST_LIB_REPORT_COMPARISON_WORDS_HPP

#include <adaptyst/compare.hpp>
#include <string>
#include <vector>

#include "text_table.hpp"

namespace adaptyst::lib {

// How many regions were compared, and what the verdicts are made of.
std::string describe_method(const comparison& comparison);

// In place of a table of equal profiles.
std::string describe_equal(const comparison& comparison);

// How long threads had no core, where that is much or differs; empty: neither, or not known.
std::string describe_core_waits(const comparison& comparison);

// "the sides were run differently: engine ebpf, now inline; overhead= none, now 2%; solver cg, now mg"
std::string describe_differing(const std::vector<differing_setting>& all);

// A row for each region.
text_table to_rows(const comparison& comparison);

}  // namespace adaptyst::lib

#endif
