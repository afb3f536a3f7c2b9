// What to do about events that were lost, for people.
#ifndef ADAPTYST_LIB_REPORT_LOSS_ADVICE_HPP
#define ADAPTYST_LIB_REPORT_LOSS_ADVICE_HPP

#include <adaptyst/profile.hpp>
#include <string>
#include <vector>

namespace adaptyst::lib {

// For each reason, in the order of loss_reason, a sentence that begins with its name: why, below which region, as far
// as that can be told, and what helps. Not of what the report explains elsewhere.
std::vector<std::string> advice_on_losses(const profile& profile);

}  // namespace adaptyst::lib

#endif
