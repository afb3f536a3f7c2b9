// The same process in two of the profiles that were named, as by a pattern that fits a file and the sum that it is in.
#ifndef ADAPTYST_TOOLS_REPEATED_RUNS_HPP
#define ADAPTYST_TOOLS_REPEATED_RUNS_HPP

#include <adaptyst/profile.hpp>
#include <map>
#include <string>

namespace adaptyst::tools {

class repeated_runs {
 public:
  // Complains if a process of it is in an earlier one. To be called once for each file.
  void check(const profile& profile, const std::string& file);

 private:
  std::map<std::string, std::string> files_;  // by process
};

}  // namespace adaptyst::tools

#endif
