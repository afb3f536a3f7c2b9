// Names of threads that a program passes to an annotation interface.
#ifndef ADAPTYST_ADAPTERS_THREAD_NAME_HPP
#define ADAPTYST_ADAPTERS_THREAD_NAME_HPP

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "thread_state.hpp"

namespace adaptyst::adapters {

// The kernel's name of a thread, as pthread_setname_np() sets it: timelines show it. A thread inherits the name of its
// process; a name that the program has given is kept. The main thread's name is that of the process, and is kept too.
inline void name_thread(std::uint32_t thread, std::string_view name) noexcept {
  const thread_state_kept unchanged;
  if (name.empty() || static_cast<pid_t>(thread) == getpid()) return;
  char path[48];
  char inherited[20] = {};
  char current[20] = {};
  const auto read_name = [&path](char(&into)[20], int mode) {
    const int file = open(path, mode | O_CLOEXEC);
    if (file >= 0 && read(file, into, sizeof into - 1) < 0) into[0] = '\0';
    return file;
  };
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", static_cast<int>(getpid()));
  const int main_file = read_name(inherited, O_RDONLY);
  if (main_file >= 0) close(main_file);
  std::snprintf(path, sizeof path, "/proc/self/task/%u/comm", thread);
  const int file = read_name(current, O_RDWR);
  if (file < 0) return;
  if (current[0] != '\0' && std::strcmp(current, inherited) == 0)
    static_cast<void>(write(file, name.data(), name.size()) < 0);
  close(file);
}

}  // namespace adaptyst::adapters

#endif
