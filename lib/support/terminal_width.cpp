#include "terminal_width.hpp"

#include <sys/ioctl.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "text.hpp"

namespace adaptyst::lib {

std::size_t terminal_width(int descriptor) {
  constexpr std::size_t max_columns = 1000;
  if (const char* const told = std::getenv("COLUMNS"); told != nullptr) {
    const std::string_view text(told);
    std::size_t asked = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), asked);
    if (failed == std::errc() && end == text.data() + text.size() && asked != 0 && asked <= max_columns) return asked;
  }
  winsize now{};
  if (ioctl(descriptor, TIOCGWINSZ, &now) != 0 || now.ws_col == 0) return columns;
  return now.ws_col < max_columns ? now.ws_col : max_columns;
}

}  // namespace adaptyst::lib
