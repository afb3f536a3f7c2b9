// The terminal as a screen that is redrawn, and restored at the end.
#ifndef ADAPTYST_TOOLS_TERMINAL_HPP
#define ADAPTYST_TOOLS_TERMINAL_HPP

#include <termios.h>

#include <cstddef>
#include <string>

namespace adaptyst::tools {

class terminal {
 public:
  // Whether standard output is a terminal.
  static bool is_present();

  terminal() { enter(); }
  ~terminal() { leave(); }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  // Switches to the other screen, and back. If standard input is a terminal as well, keys are read one by one.
  void enter();
  void leave();

  struct extent {
    std::size_t columns, lines;
  };
  extent size() const;
  // Shows these lines, which must fit the width. False: the terminal cannot be written to.
  bool show(const std::string& text);

  // The descriptor that is readable after a key; -1: no keys.
  int keys() const noexcept { return has_keys_ ? 0 : -1; }
  // The pressed keys. The end of the input means `q`.
  std::string pressed();

 private:
  bool is_entered_ = false;
  bool has_keys_ = false;
  termios before_{};
};

}  // namespace adaptyst::tools

#endif
