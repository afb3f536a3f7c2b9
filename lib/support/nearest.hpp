// The valid name nearest to a misspelt name.
#ifndef ADAPTYST_LIB_SUPPORT_NEAREST_HPP
#define ADAPTYST_LIB_SUPPORT_NEAREST_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// The number of characters to insert, to delete, to replace, or to swap with their neighbour.
std::size_t distance(std::string_view a, std::string_view b);

// The greatest distance of a name that the user may have meant.
std::size_t max_distance(std::string_view text);

// The candidate with the smallest distance, the first of several; empty: no name is near.
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);

// "did you mean 'overhead'? choose from engine, report, …"
std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& candidates);

}  // namespace adaptyst::lib

#endif
