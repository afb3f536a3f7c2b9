// Checks of option values. The checks of CLI11 accept nan in every range, and print ranges with 309 digits. Help shows
// only the metavariable of an option: no check adds a type to it.
//
// A message has two lines: the error, and the remedy.
#ifndef ADAPTYST_TOOLS_VALUE_CHECKS_HPP
#define ADAPTYST_TOOLS_VALUE_CHECKS_HPP

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace adaptyst::tools {

// A decimal number within these limits.
CLI::Validator number_between(double least, double most);
// A decimal number above 0.
CLI::Validator positive_number();
// 0, 1, 2, …
CLI::Validator whole_number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
// One of these words; suggests the nearest. Help and completion find the words.
CLI::Validator one_of(const std::vector<std::string>& words);

// With a unit or the default unit (support/units.hpp). These replace the text: for transform(), not for check().

constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr double max_duration_s = 1e9;  // three decades; fits into a count of ns
// The option gets seconds.
CLI::Validator duration(double least_s, double most_s = max_duration_s);
// The option gets a number with "%".
CLI::Validator percentage(double least, double most = no_limit);

// 0.05 for "5%" or "5", which a check has passed.
double parse_fraction(const std::string& text);

}  // namespace adaptyst::tools

#endif
