// Checks of option values. Those of CLI11 take nan for a number within every range, and print ranges with 309 digits.
#ifndef ADAPTYST_TOOLS_VALUE_CHECKS_HPP
#define ADAPTYST_TOOLS_VALUE_CHECKS_HPP

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace adaptyst::tools {

// A decimal number within these limits.
CLI::Validator number_between(double least, double most);
// A decimal number above 0.
CLI::Validator positive_number();
// 0, 1, 2, …
CLI::Validator whole_number();
// One of these words; suggests the nearest. Help and completion find the words.
CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace adaptyst::tools

#endif
