// The known names nearest to one that is not known.
#ifndef ADAPTYST_LIB_SUPPORT_NEAREST_HPP
#define ADAPTYST_LIB_SUPPORT_NEAREST_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// How many characters must be put in, taken out, replaced, or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b);

// The greatest distance at which a known name may be what the user meant.
std::size_t max_distance(std::string_view text);

// The known name with the smallest distance, the first of several; empty: none is near.
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& known);

// "did you mean 'overhead'? known are engine, report, …"
std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& known);

}  // namespace adaptyst::lib

#endif
