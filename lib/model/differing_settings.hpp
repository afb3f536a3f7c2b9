// What runs before and after a change were run with, where that is not the same.
#ifndef ADAPTYST_LIB_MODEL_DIFFERING_SETTINGS_HPP
#define ADAPTYST_LIB_MODEL_DIFFERING_SETTINGS_HPP

#include <adaptyst/compare.hpp>
#include <vector>

namespace adaptyst::lib {

// The engine first, then options, then metadata, each by name. Options that only say where results go are left out.
std::vector<differing_setting> find_differing_settings(const std::vector<const profile*>& before,
                                                       const std::vector<const profile*>& after);

}  // namespace adaptyst::lib

#endif
