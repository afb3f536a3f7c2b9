// Finds programs under observation that have markers and have not announced themselves: they have no descriptor for the
// observer's socket, a filter refuses it, or their environment lacks its name.
#ifndef ADAPTYST_LIB_SESSION_SILENT_PROGRAMS_HPP
#define ADAPTYST_LIB_SESSION_SILENT_PROGRAMS_HPP

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "../discover/process_objects.hpp"

namespace adaptyst::lib {

class silent_programs {
 public:
  // `report`: called with a message and the reason for the report.
  using reporting = std::function<void(const std::string& message, const std::string& why)>;
  explicit silent_programs(reporting report) : report_(std::move(report)) {}

  // A process that will soon become a program.
  void expect(pid_t process, const std::string& program) { expected_[process] = {program, {}}; }
  void note_announced(pid_t process);
  // Checks the expected processes, and those that they have started. Cheap: the time between checks grows.
  void poll();
  // Reports expected programs that have ended without an announcement.
  void finish();

 private:
  struct expectation {
    std::string program, why;  // `why`: an uncertain reason, of a program with markers; empty: unknown
  };
  struct sight {
    std::string image;  // see find_image()
    std::uint64_t since_ns = 0;
    bool is_reported = false;
  };
  void poll_process(pid_t process, pid_t parent);

  reporting report_;
  std::map<pid_t, expectation> expected_;
  std::map<pid_t, std::string> announced_;  // with their images
  std::map<pid_t, sight> seen_;
  file_cache files_;
  std::uint64_t next_ns_ = 0, pause_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
