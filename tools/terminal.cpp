// Draws on a terminal with the sequences of xterm, and restores it at the end.
#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "output.hpp"

namespace adaptyst::tools {

namespace {

// Control sequences of xterm and compatible terminals.
constexpr const char* to_other_screen = "\033[?1049h\033[?25l";  // hides the cursor
constexpr const char* to_first_screen = "\033[?25h\033[?1049l";
constexpr const char* to_first_line = "\033[H";
constexpr const char* clear_rest_of_line = "\033[K";
constexpr const char* clear_rest = "\033[J";

}  // namespace

bool terminal::is_present() { return isatty(STDOUT_FILENO) == 1; }

void terminal::enter() {
  if (is_entered_) return;
  is_entered_ = true;
  has_keys_ = tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  print(to_other_screen);
  std::fflush(stdout);
}

void terminal::leave() {
  if (!is_entered_) return;
  is_entered_ = false;
  print(to_first_screen);
  std::fflush(stdout);
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

terminal::extent terminal::size() const {
  winsize now{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) != 0 || now.ws_col == 0 || now.ws_row == 0) return {80, 24};
  return {now.ws_col, now.ws_row};
}

// Overwrites line by line, because a cleared screen flickers.
bool terminal::show(const std::string& text) {
  std::string drawn = to_first_line;
  std::size_t left = size().lines;
  for (std::size_t at = 0; at < text.size() && left != 0; --left) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    drawn += text.substr(at, end - at) + clear_rest_of_line;
    if (left != 1) drawn += '\n';
    at = end + 1;
  }
  if (left != 0) drawn += clear_rest;
  print(drawn);
  return std::fflush(stdout) == 0;
}

std::string terminal::pressed() {
  char keys[64];
  const ssize_t count = read(STDIN_FILENO, keys, sizeof keys);
  if (count == 0) return "q";
  return {keys, count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace adaptyst::tools
