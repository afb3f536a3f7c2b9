// The libraries that tell of devices without a change to the program: where they are, and by which variable of the
// environment each is loaded.
#ifndef ADAPTYST_TOOLS_ADAPTERS_HPP
#define ADAPTYST_TOOLS_ADAPTERS_HPP

#include <string>
#include <utility>
#include <vector>

namespace adaptyst::tools {

std::vector<std::string> adapter_names();

// What the environment must gain for a command to be observed with these adapters. Complains of what will keep them from
// seeing anything; throws error where one of them is not to be found.
std::vector<std::pair<std::string, std::string>> environment_of_adapters(const std::vector<std::string>& adapters,
                                                                         const std::vector<std::string>& command);

}  // namespace adaptyst::tools

#endif
