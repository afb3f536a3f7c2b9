// The terminal as a screen that is drawn anew, and left as it was found.
#ifndef ADAPTYST_TOOLS_TERMINAL_HPP
#define ADAPTYST_TOOLS_TERMINAL_HPP

#include <termios.h>

#include <cstddef>
#include <string>

namespace adaptyst::tools {

class terminal {
 public:
  // Whether standard output is one.
  static bool is_there();

  terminal() { enter(); }
  ~terminal() { leave(); }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  // To the other screen, with keys as they are pressed, if standard input is a terminal as well; and back.
  void enter();
  void leave();

  struct extent {
    std::size_t columns, lines;
  };
  extent size() const;
  // Lines that are not too long. False: it cannot be written to.
  bool show(const std::string& text);

  // The descriptor to wait for keys at; -1: there are none.
  int keys() const noexcept { return has_keys_ ? 0 : -1; }
  // Those that were pressed. The end of the input is as good as `q`.
  std::string pressed();

 private:
  bool is_entered_ = false;
  bool has_keys_ = false;
  termios before_{};
};

}  // namespace adaptyst::tools

#endif
