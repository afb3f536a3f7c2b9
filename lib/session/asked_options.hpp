// The options of who looks, from wherever they were given. What is not known, or out of range, is told on standard
// error and left out.
#ifndef ADAPTYST_LIB_SESSION_ASKED_OPTIONS_HPP
#define ADAPTYST_LIB_SESSION_ASKED_OPTIONS_HPP

#include <string_view>

#include "../support/options.hpp"

namespace adaptyst::lib {

options asked_in(std::string_view text, std::string_view source);
options asked_in(options filled, std::string_view source);

// $ADAPTYST goes before what the program asks for.
options with_environment(options options);

}  // namespace adaptyst::lib

#endif
