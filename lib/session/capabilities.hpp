// Rights that an observer has no more use for.
#ifndef ADAPTYST_LIB_SESSION_CAPABILITIES_HPP
#define ADAPTYST_LIB_SESSION_CAPABILITIES_HPP

#include <vector>

namespace adaptyst::lib {

// This thread, and those that it starts, give up all capabilities but these; nothing is gained. Throws error.
void keep_capabilities(const std::vector<unsigned>& kept);

}  // namespace adaptyst::lib

#endif
