// Where a command's program is.
#ifndef ADAPTYST_LIB_SUPPORT_SEARCH_PATH_HPP
#define ADAPTYST_LIB_SUPPORT_SEARCH_PATH_HPP

#include <string>

namespace adaptyst::lib {

// As execvp() finds it: in the folders of PATH, unless the word has a slash. Empty: there is no such program.
std::string program_called(const std::string& word);

}  // namespace adaptyst::lib

#endif
