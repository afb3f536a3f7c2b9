#include "apart.hpp"

#include <exception>
#include <system_error>
#include <thread>

#include "all_signals_blocked.hpp"
#include "room_in_heap.hpp"

namespace adaptyst::lib {

void run_apart(const std::function<void()>& work) {
  std::exception_ptr thrown;
  std::thread apart;
  try {
    const all_signals_blocked meanwhile;  // the thread inherits that
    apart = std::thread([&] {
      const room_in_heap room;
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
  } catch (const std::system_error&) {  // no further thread
  }
  if (apart.joinable()) apart.join();
  else work();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace adaptyst::lib
