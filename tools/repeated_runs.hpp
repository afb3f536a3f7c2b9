// Finds a process that is in two profiles, for example if a pattern matches a profile and a merged profile with it.
#ifndef ADAPTYST_TOOLS_REPEATED_RUNS_HPP
#define ADAPTYST_TOOLS_REPEATED_RUNS_HPP

#include <adaptyst/profile.hpp>
#include <map>
#include <string>

namespace adaptyst::tools {

class repeated_runs {
 public:
  // Warns if an earlier profile has a process of this profile. Call it once for each file.
  void check(const profile& profile, const std::string& file);

 private:
  std::map<std::string, std::string> files_;  // by process
};

}  // namespace adaptyst::tools

#endif
