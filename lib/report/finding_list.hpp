// What to look at first, in words.
#ifndef ADAPTYST_LIB_REPORT_FINDING_LIST_HPP
#define ADAPTYST_LIB_REPORT_FINDING_LIST_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace adaptyst::lib {

// One of them: what is slow, on how much of the run that bears and on what it rests, and what to try. `place`: ", above all
// in REGION", empty where the sentence names the region.
struct finding_words {
  std::string sentence, evidence, place, advice;
};

// All of them, as analyse() has them.
std::vector<finding_words> put_findings_in_words(const profile& profile);

// The findings that concern most of the run, with what to try, and how many more there are; ends in an empty line.
// Empty where there are none.
std::string finding_list(const profile& profile, std::size_t line_columns);

}  // namespace adaptyst::lib

#endif
