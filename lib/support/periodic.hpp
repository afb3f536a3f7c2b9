// Calls a function every so often, on a thread of its own.
#ifndef ADAPTYST_LIB_SUPPORT_PERIODIC_HPP
#define ADAPTYST_LIB_SUPPORT_PERIODIC_HPP

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>

namespace adaptyst::lib {

class periodic {
 public:
  // `work` must not throw. The thread takes none of the program's signals. Throws std::system_error.
  periodic(std::chrono::milliseconds interval, std::function<void()> work);
  // Waits until the work under way is done. In a forked child, where there is no such thread, it touches nothing of it.
  ~periodic();
  periodic(const periodic&) = delete;
  periodic& operator=(const periodic&) = delete;

 private:
  struct state;
  pid_t process_;
  std::unique_ptr<state> state_;
};

}  // namespace adaptyst::lib

#endif
