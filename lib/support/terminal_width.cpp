#include "terminal_width.hpp"

#include <sys/ioctl.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "text.hpp"

namespace adaptyst::lib {

std::size_t terminal_width(int descriptor) {
  constexpr std::size_t max_columns = 1000;
  if (const char* const variable = std::getenv("COLUMNS"); variable != nullptr) {
    const std::string_view text(variable);
    std::size_t chosen = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), chosen);
    if (failed == std::errc() && end == text.data() + text.size() && chosen != 0 && chosen <= max_columns)
      return chosen;
  }
  winsize now{};
  if (ioctl(descriptor, TIOCGWINSZ, &now) != 0 || now.ws_col == 0) return columns;
  return now.ws_col < max_columns ? now.ws_col : max_columns;
}

}  // namespace adaptyst::lib
