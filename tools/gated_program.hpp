// A program in a separate process, which waits at a gate until the observer is ready.
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

// Replaces this process by a program; `gained`: additional variables of the environment. On failure, returns an errno,
// which find_status() converts to the status of a shell.
int execute(const std::vector<std::string>& command, const environment& gained);
int find_status(int number);

// For root: daemons that the program leaves behind become children of this process, so the observer knows them, even if
// their user has changed.
void adopt_orphans();

class gated_program {
 public:
  // Forks. From then on this process passes the program's signals on; see pass_on_signals(). Ends this process if it
  // cannot fork. `gained`: additional variables of the program's environment.
  gated_program(const std::vector<std::string>& command, const environment& gained);
  // Ends a program that has not begun, and restores the signals of this process.
  ~gated_program();
  gated_program(const gated_program&) = delete;
  gated_program& operator=(const gated_program&) = delete;

  pid_t id() const noexcept { return child_; }
  void begin();
  // Readable when pass_on_signals() or find_end() may have work.
  int signals() const noexcept { return signals_.get(); }
  void pass_on_signals() const;
  // The status of the program, as waitpid() reports it; empty: it runs. The program stays a zombie, so that the
  // observer can read its status and CPU time. Also reaps processes that this process has adopted.
  std::optional<int> find_end() const;
  // Waits for the end of the program and returns its status; passes signals on until then.
  int wait() const;
  // After the end of the program: reports if the program could not be started; true: it could not.
  bool complain_unless_started() const;

 private:
  // State that the command inherits unchanged from the parent of this process.
  struct inherited {
    sigset_t blocked;
    struct sigaction at_child_end;
  };
  [[noreturn]] void become(const std::vector<std::string>& command, const environment& gained);

  inherited as_{};
  const std::string name_;
  lib::descriptor signals_, gate_, refusal_;  // the ends in this process
  pid_t child_ = -1;
  bool has_begun_ = false;
};

}  // namespace adaptyst::tools

#endif
