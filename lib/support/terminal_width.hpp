// How many columns there are to write to.
#ifndef ADAPTYST_LIB_SUPPORT_TERMINAL_WIDTH_HPP
#define ADAPTYST_LIB_SUPPORT_TERMINAL_WIDTH_HPP

#include <cstddef>

namespace adaptyst::lib {

// What $COLUMNS says, else the terminal behind the descriptor; 100 where neither does.
std::size_t terminal_width(int descriptor);

}  // namespace adaptyst::lib

#endif
