// The table of options as a page, docs/options.md, and for a terminal.
#ifndef ADAPTYST_TOOLS_OPTIONS_PAGE_HPP
#define ADAPTYST_TOOLS_OPTIONS_PAGE_HPP

#include <string>

namespace adaptyst::tools {

std::string options_in_markdown();
std::string options_in_text();

}  // namespace adaptyst::tools

#endif
