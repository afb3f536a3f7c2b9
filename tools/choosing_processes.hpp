// The processes to which the subcommands attach: the named ones, and with --name and --all also processes that start
// later.
#ifndef ADAPTYST_TOOLS_CHOOSING_PROCESSES_HPP
#define ADAPTYST_TOOLS_CHOOSING_PROCESSES_HPP

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "discover/running_processes.hpp"
#include "observing.hpp"
#include "session/observer.hpp"

namespace adaptyst::tools {

struct process_choice {
  std::vector<std::int64_t> processes;
  std::string name;
  bool all = false;
  bool other_users = true;  // with `all`, for root: also those of other users

  // The only possible process; 0: several are possible.
  std::int64_t only() const { return !all && name.empty() && processes.size() == 1 ? processes.front() : 0; }
};

// PID… and --name.
void add_choice(CLI::App& app, process_choice& choice);

class chosen_processes {
 public:
  chosen_processes(observer& with, const process_choice& choice, listener report)
      : watching_(with), choice_(choice), report_(std::move(report)) {}

  // Attaches to processes that run now. Ends the program if no process has a given name.
  void attach_first();
  // Attaches to processes with markers that started after the last call.
  void attach_new();

  std::size_t attached() const noexcept { return attached_.size(); }
  // Whether a chosen process cannot be observed.
  bool has_refused() const noexcept { return !choice_.all && !refused_.empty(); }

 private:
  void attach(std::int64_t process);
  void leave_alone(std::int64_t process);

  observer& watching_;
  const process_choice& choice_;
  listener report_;
  process_search search_;
  std::set<std::int64_t> attached_, refused_;
  bool has_reported_other_users_ = false;
};

}  // namespace adaptyst::tools

#endif
