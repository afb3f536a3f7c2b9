// Options as text, and back.
#ifndef ADAPTYST_LIB_SUPPORT_OPTIONS_HPP
#define ADAPTYST_LIB_SUPPORT_OPTIONS_HPP

#include <adaptyst/options.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "output_form.hpp"

namespace adaptyst::lib {

// Sets the options in `text`. Returns an error for each option that is ignored, since it is unknown or out of range;
// `source`: the source of the text, for the message.
std::vector<error> apply(options& options, std::string_view text, std::string_view source);

// The same for options that a program has filled in: a value out of range is replaced by the default.
std::vector<error> check(options& checked, std::string_view source);

// The values that differ from the defaults, by the names of the options.
std::map<std::string, std::string> changed_values(const options& options);

}  // namespace adaptyst::lib

#endif
