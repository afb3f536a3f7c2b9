// A program in a process of its own, which waits at a gate until all is ready.
#ifndef ADAPTYST_TOOLS_GATED_PROGRAM_HPP
#define ADAPTYST_TOOLS_GATED_PROGRAM_HPP

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/descriptor.hpp"

namespace adaptyst::tools {

using environment = std::vector<std::pair<std::string, std::string>>;

// Replaces this process by a program; `gained`: what the program's environment has more than ours. Returns why it could
// not, an errno, of which the second makes the status of a shell.
int execute(const std::vector<std::string>& command, const environment& gained);
int find_status(int number);

// For root: daemons that the program leaves behind become children of this process, and so are known to be the
// program's, whichever user they have become.
void adopt_orphans();

class gated_program {
 public:
  // Forks. From here on this process takes no signals that are the program's; see pass_on_signals(). Ends this process if
  // that is not possible. `gained`: what the program's environment has more than ours.
  gated_program(const std::vector<std::string>& command, const environment& gained);
  // A program that has not begun never does; then signals are ours again.
  ~gated_program();
  gated_program(const gated_program&) = delete;
  gated_program& operator=(const gated_program&) = delete;

  pid_t id() const noexcept { return child_; }
  void begin();
  // Becomes readable when there may be something for the two that follow.
  int signals() const noexcept { return signals_.get(); }
  void pass_on_signals() const;
  // How it ended, as waitpid() reports it; empty: it has not. It stays a zombie, so that the observer can read how it
  // ended and what CPU time it used. Also takes in
  // processes that this one has adopted.
  std::optional<int> find_end() const;
  // The same, when it has ended; passes signals on until then.
  int wait() const;
  // When it has ended: whether it could not be started, and complains of that.
  bool complain_unless_started() const;

 private:
  // What the command inherits unchanged, as this process inherited it.
  struct inherited {
    sigset_t blocked;
    struct sigaction at_child_end;
  };
  [[noreturn]] void become(const std::vector<std::string>& command, const environment& gained);

  inherited as_{};
  const std::string name_;
  lib::descriptor signals_, gate_, refusal_;  // the ends on our side
  pid_t child_ = -1;
  bool has_begun_ = false;
};

}  // namespace adaptyst::tools

#endif
