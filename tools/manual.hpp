// Manual pages of section 1, in the format of man(7).
#ifndef ADAPTYST_TOOLS_MANUAL_HPP
#define ADAPTYST_TOOLS_MANUAL_HPP

#include <CLI/CLI.hpp>
#include <string>

namespace adaptyst::tools {

// adaptyst(1)
std::string format_manual(const CLI::App& program);
// adaptyst-run(1)
std::string format_manual(const CLI::App& command, const CLI::App& program);

}  // namespace adaptyst::tools

#endif
