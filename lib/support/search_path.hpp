// Finds the program of a command.
#ifndef ADAPTYST_LIB_SUPPORT_SEARCH_PATH_HPP
#define ADAPTYST_LIB_SUPPORT_SEARCH_PATH_HPP

#include <string>

namespace adaptyst::lib {

// As in execvp(): in the folders of PATH, unless the word has a slash. Empty: there is no such program.
std::string program_called(const std::string& word);

}  // namespace adaptyst::lib

#endif
