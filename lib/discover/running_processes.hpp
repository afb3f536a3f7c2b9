// Processes: which run, which have a name, and the rights that each has.
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

// Whether a process belongs to our user; for root, every process does.
bool is_ours(pid_t process);

}  // namespace adaptyst::lib

namespace adaptyst { inline namespace v1 {

// Which running processes carry markers, for callers that ask again and again: find() costs a list of processes, and a
// look at those that are new. The others are looked at again after ever longer times, a minute at most, since a process
// may load a library with markers late.
class process_search {
 public:
  process_search();
  ~process_search();
  process_search(const process_search&) = delete;
  process_search& operator=(const process_search&) = delete;

  // Processes of our own user, or of all users for root; without this process.
  std::vector<std::int64_t> find();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

// The rights of a process: its users and capabilities, which an exec() of a setuid program changes.
struct process_rights {
  std::array<uid_t, 4> users{};  // real, effective, saved, of the file system
  std::array<gid_t, 4> groups{};
  std::uint64_t capabilities = 0;  // that it may use

  // Not setuid, nor setgid.
  bool have_one_user() const noexcept;
  // Whether a user with the rights `before` could start a program with these rights: with the same ones, or with fewer.
  bool follow(const process_rights& before) const noexcept;
};

// Empty when the process has ended.
std::optional<process_rights> read_rights(pid_t process);

// This thread, and those that it starts, give up all capabilities but these; nothing is gained. Throws error.
void keep_capabilities(const std::vector<unsigned>& kept);

}  // namespace adaptyst::lib

#endif
