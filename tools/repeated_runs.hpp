// Finds a process that is in two profiles, for example if a pattern matches a profile and a merged profile with it.
#ifndef ADAPTYST_TOOLS_REPEATED_RUNS_HPP
#define ADAPTYST_TOOLS_REPEATED_RUNS_HPP

#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <map>
#include <string>

#include "output.hpp"

namespace adaptyst::tools {

class repeated_runs {
 public:
  // Warns if an earlier profile has a process of this profile. Call it once for each file. Different processes never have
  // the same duration to the nanosecond.
  void check(const profile& profile, const std::string& file) {
    for (const process_info& process : profile.processes) {
      if (process.started.empty()) continue;
      const std::string same = fmt::format("{} {} {}", process.pid, process.started, process.duration_ns);
      const auto [earlier, is_new] = files_.try_emplace(same, file);
      if (is_new) continue;
      complain(fmt::format("{} and {} are of the same run, which counts twice: both have process {}, started {}",
                           earlier->second, file, process.pid, process.started));
      return;
    }
  }

 private:
  std::map<std::string, std::string> files_;  // by process
};

}  // namespace adaptyst::tools

#endif
