// Processes: the running ones, those with a name, and their rights.
#ifndef ADAPTYST_LIB_DISCOVER_RUNNING_PROCESSES_HPP
#define ADAPTYST_LIB_DISCOVER_RUNNING_PROCESSES_HPP

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace adaptyst::lib {

// Throws error.
std::vector<pid_t> running_processes();

// The running children of a process; empty also if the system does not list them.
std::vector<pid_t> find_children(pid_t process);

// Whether a process belongs to the current user; for root, all processes do.
bool is_ours(pid_t process);

}  // namespace adaptyst::lib

namespace adaptyst { inline namespace v1 {

// Finds the running processes with markers, for repeated calls. A call costs a list of processes and a read of each new
// process. Other processes are read again at increasing intervals of up to a minute, because a process may load a
// library with markers late.
class process_search {
 public:
  process_search();
  ~process_search();
  process_search(const process_search&) = delete;
  process_search& operator=(const process_search&) = delete;

  // Processes of the current user, or of all users for root; without this process.
  std::vector<std::int64_t> find();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

// The rights of a process: its users and capabilities. The exec() of a setuid program changes them.
struct process_rights {
  std::array<uid_t, 4> users{};  // real, effective, saved, of the file system
  std::array<gid_t, 4> groups{};
  std::uint64_t capabilities = 0;  // the effective capabilities

  // Whether all user ids are equal, and all group ids: neither setuid nor setgid.
  bool have_one_user() const noexcept;
  // Whether a user with the rights `before` could start a program with these rights: the same rights or fewer.
  bool follow(const process_rights& before) const noexcept;
};

// Empty if the process has ended.
std::optional<process_rights> read_rights(pid_t process);

// Drops all capabilities except these in this thread and in threads that it starts; adds none. Throws error.
void keep_capabilities(const std::vector<unsigned>& kept);

}  // namespace adaptyst::lib

#endif
