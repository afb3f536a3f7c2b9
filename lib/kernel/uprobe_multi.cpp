#include "uprobe_multi.hpp"

#include <sys/utsname.h>

#include <cstdio>

namespace adaptyst::lib {

namespace {

bool is_kernel(bool (*what)(const char* release)) {
  utsname names{};
  return uname(&names) == 0 && what(names.release);
}

bool is_at_least(const char* release, int of_major, int of_minor) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(release, "%d.%d", &major, &minor) != 2) return false;
  return major > of_major || (major == of_major && minor >= of_minor);
}

}  // namespace

bool kernel_has_uprobe_multi() { return is_kernel(has_uprobe_multi); }
bool kernel_has_uprobe_sessions() { return is_kernel(has_uprobe_sessions); }

bool has_uprobe_multi(const char* release) { return is_at_least(release, 6, 10); }
bool has_uprobe_sessions(const char* release) { return is_at_least(release, 6, 13); }

}  // namespace adaptyst::lib
