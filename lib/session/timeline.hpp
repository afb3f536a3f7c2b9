// Moves the timeline of one or several processes from their rings to a file.
#ifndef ADAPTYST_LIB_SESSION_TIMELINE_HPP
#define ADAPTYST_LIB_SESSION_TIMELINE_HPP

#include <sys/types.h>

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "../recorder/trace_reader.hpp"
#include "../symbolise/construct_names.hpp"
#include "../trace/trace_writer.hpp"

namespace adaptyst::lib {

// Takes the events of processes in addition to the file of a timeline.
class scope_taker {
 public:
  virtual ~scope_taker() = default;

  // Before and after the events of a process. `is_complete`: see trace_reader::read().
  virtual void begin(pid_t process, trace_reader& reader, const process_state& state) = 0;
  virtual void add(pid_t process, const traced_event& event) = 0;
  virtual void end(pid_t process, const trace_reader& reader, bool is_complete) = 0;
};

class timeline {
 public:
  // `file`: null if only a scope_taker takes the events. `max_bytes`: of the file; later events are only counted. 0: no
  // limit.
  timeline(std::unique_ptr<trace_writer> file, std::uint64_t max_bytes)
      : file_(std::move(file)), max_bytes_(max_bytes) {}

  struct taken {
    std::uint64_t events;
    bool is_all;  // false: time did not permit all of them
  };
  // Takes the events that the threads of a process have recorded since the last call; the first call names the process.
  // Empties the rings even if the file cannot be written any more, and throws error once in that case.
  taken take(pid_t process, const std::string& command, const process_state& state);
  bool has_file() const noexcept { return file_ != nullptr; }
  // Null: none. It must outlive this, or the next call.
  void follow(scope_taker* scopes) noexcept { scopes_ = scopes; }
  // Longest time of each further call for another process.
  void limit_poll(std::uint64_t max_ns) noexcept { max_poll_ns_ = max_ns; }

  // Throws error.
  void flush() {
    if (file_ != nullptr) file_->flush();
  }
  void finish();

  timeline_usage usage() const;

 private:
  void name(pid_t process, const process_state& state, const traced_event& event);

  std::unique_ptr<trace_writer> file_;
  scope_taker* scopes_ = nullptr;
  std::uint64_t max_bytes_;
  std::map<pid_t, std::uint64_t> beyond_limit_;  // events, by process
  std::uint64_t max_poll_ns_ = 100'000'000;
  // By process and the address of its state. Never erased: the file identifies markers by their addresses here.
  std::map<std::pair<pid_t, std::uint64_t>, std::unique_ptr<trace_reader>> readers_;
};

}  // namespace adaptyst::lib

#endif
