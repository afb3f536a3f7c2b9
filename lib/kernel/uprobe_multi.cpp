#include "uprobe_multi.hpp"

#include <sys/utsname.h>

#include <cstdio>

namespace adaptyst::lib {

namespace {

bool is_at_least(const char* release, int of_major, int of_minor) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(release, "%d.%d", &major, &minor) != 2) return false;
  return major > of_major || (major == of_major && minor >= of_minor);
}

}  // namespace

std::string kernel_release() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "";
}

bool kernel_has_uprobe_multi() { return has_uprobe_multi(kernel_release().c_str()); }
bool kernel_has_uprobe_sessions() { return has_uprobe_sessions(kernel_release().c_str()); }

bool has_uprobe_multi(const char* release) { return is_at_least(release, 6, 10); }
bool has_uprobe_sessions(const char* release) { return is_at_least(release, 6, 13); }
bool replaces_nop10(const char* release) { return is_at_least(release, 7, 3); }

}  // namespace adaptyst::lib
