#include "repeated_runs.hpp"

#include <fmt/format.h>

#include "output.hpp"

namespace adaptyst::tools {

// Different processes never have the same duration to the nanosecond.
void repeated_runs::check(const profile& profile, const std::string& file) {
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

}  // namespace adaptyst::tools
