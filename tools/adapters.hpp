// The adapters' libraries, which report devices without a change to the program: where they are, and which variable of
// the environment loads each.
#ifndef ADAPTYST_TOOLS_ADAPTERS_HPP
#define ADAPTYST_TOOLS_ADAPTERS_HPP

#include <string>
#include <utility>
#include <vector>

namespace adaptyst::tools {

std::vector<std::string> adapter_names();

// A library of ours next to this command: installed, or in the build tree. Throws error; `what`: for what it is needed,
// `option`: the option of CMake that builds it.
std::string find_own_library(const char* file, const std::string& what, const char* option);

// Whether one of them collects in the program's ranks itself, so that there is nothing to observe from outside.
bool collect_in_ranks(const std::vector<std::string>& adapters);

// The variables that a command needs to be observed with these adapters. Complains of what will keep them from seeing
// anything; throws error if one of them cannot be found.
std::vector<std::pair<std::string, std::string>> adapter_environment(std::vector<std::string> adapters,
                                                                     const std::vector<std::string>& command);

}  // namespace adaptyst::tools

#endif
