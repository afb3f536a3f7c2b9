// Which libraries a program names itself (DT_NEEDED), as far as that can be told without running anything.
#ifndef ADAPTYST_TOOLS_NEEDED_LIBRARIES_HPP
#define ADAPTYST_TOOLS_NEEDED_LIBRARIES_HPP

#include <string>
#include <vector>

namespace adaptyst::tools {

// Empty if it is no 64-bit ELF file, or damaged. `is_command`: a name without a slash is looked for in PATH.
std::vector<std::string> needed_libraries(const std::string& program, bool is_command);

}  // namespace adaptyst::tools

#endif
