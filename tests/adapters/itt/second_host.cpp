// A library with a static part of its own, as each library with annotations has: it has its own objects for domains and
// names that the program has as well.
#include "static_part.hpp"

namespace {

itt_host::static_part own;
itt_host::itt_domain* const domain = own.domain("app");
itt_host::itt_string* const name = own.string("shared name");

}  // namespace

extern "C" __attribute__((visibility("default"))) void second_host_begin() { own.begin(domain, name); }
extern "C" __attribute__((visibility("default"))) void second_host_end() { own.end(domain); }
