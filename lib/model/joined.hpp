// Texts of several profiles as one.
#ifndef ADAPTYST_LIB_MODEL_JOINED_HPP
#define ADAPTYST_LIB_MODEL_JOINED_HPP

#include <cstddef>
#include <string>

namespace adaptyst::lib {

// Of a map of texts, the keys that are kept: those that come first.
constexpr std::size_t max_joined_keys = 256;

// A set of words, " | " between them, in order: the order of merging leaves no trace. Of more than 16 the first, and
// "…": each rank of many may say something else.
std::string joined(const std::string& a, const std::string& b);

}  // namespace adaptyst::lib

#endif
