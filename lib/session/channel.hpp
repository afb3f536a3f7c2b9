// The socket over which programs under observation announce what happens to them.
#ifndef ADAPTYST_LIB_SESSION_CHANNEL_HPP
#define ADAPTYST_LIB_SESSION_CHANNEL_HPP

#include <adaptyst/detail/announcement.hpp>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "../support/descriptor.hpp"

namespace adaptyst::lib {

class channel {
 public:
  // Throws error.
  channel();
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  const std::string& name() const noexcept { return name_; }
  int descriptor() const noexcept { return descriptor_; }

  // Calls `answer` for each waiting announcement, with the descriptor that came along, if there was one. Announcements
  // of other users are ignored; for root, those of processes that it has not started. If the sender was built with
  // other headers, only `abi` is valid. Sends the reply that `answer` returns, if any.
  struct reply {
    adaptyst_answer answer{};
    lib::descriptor along;  // or none
  };
  using answering = std::function<std::optional<reply>(pid_t, const adaptyst_announcement&, lib::descriptor)>;
  void handle(const answering& answer);

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace adaptyst::lib

#endif
