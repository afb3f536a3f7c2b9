// The options of a collector or observer, from all sources. Unknown options and values out of range are reported on
// standard error and ignored.
#ifndef ADAPTYST_LIB_SESSION_SESSION_OPTIONS_HPP
#define ADAPTYST_LIB_SESSION_SESSION_OPTIONS_HPP

#include <adaptyst/collector.hpp>
#include <string_view>

#include "../support/options.hpp"

namespace adaptyst { inline namespace v1 {

struct collector::chosen {
  options all;
};

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

options read_options(std::string_view text, std::string_view source);
options read_options(options filled, std::string_view source);

// $ADAPTYST overrides the options in the program.
options with_environment(options options);

}  // namespace adaptyst::lib

#endif
