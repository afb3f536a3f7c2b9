// The socket over which programs under observation send announcements.
//
// It never waits for a program. A connection without data is kept in a list, with a limit for each process, for each
// user and in total. Announcements of the process that has used the least time so far come first.
#ifndef ADAPTYST_LIB_SESSION_CHANNEL_HPP
#define ADAPTYST_LIB_SESSION_CHANNEL_HPP

#include <adaptyst/detail/announcement.hpp>
#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../support/descriptor.hpp"

namespace adaptyst::lib {

class channel {
 public:
  // Throws error.
  channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  const std::string& name() const noexcept { return name_; }
  // Becomes readable when a program waits for handle().
  int descriptor() const noexcept { return ready_.get(); }

  // Calls `answer` for each waiting announcement, with its descriptor if it has one. Ignores announcements of other
  // users; for root, those of processes that it has not started. If the sender was built with other headers, only `abi`
  // is valid. Sends the reply that `answer` returns, if any. Returns after 0.3 s even if more announcements are
  // waiting.
  struct reply {
    adaptyst_answer answer{};
    lib::descriptor along;  // or none
  };
  using answering = std::function<std::optional<reply>(pid_t, const adaptyst_announcement&, lib::descriptor)>;
  void handle(const answering& answer);
  // Senders of announcements ignored since the last call.
  std::set<pid_t> take_ignored() { return std::exchange(ignored_, {}); }
  // Number of programs that did not wait for the answer since the last call.
  std::uint64_t take_unanswered() { return std::exchange(unanswered_, 0); }

 private:
  struct connection {
    lib::descriptor with;
    ucred peer;
    std::uint64_t since_ns;
  };
  using connections = std::list<connection>;

  bool accept_one();
  void make_room(const ucred& peer);
  std::vector<connections::iterator> find_ready();
  void handle(connections::iterator which, const answering& answer);

  std::string name_;
  lib::descriptor listening_, ready_;
  connections waiting_;                                // the oldest first
  std::unordered_map<pid_t, std::uint64_t> spent_ns_;  // on announcements of each process
  std::set<pid_t> ignored_;
  std::uint64_t unanswered_ = 0;
  bool has_complained_ = false;  // about too few descriptors
};

}  // namespace adaptyst::lib

#endif
