#include "uprobe_multi.hpp"

#include <sys/utsname.h>

#include <cstdio>

namespace adaptyst::lib {

bool kernel_has_uprobe_multi() {
  utsname names{};
  return uname(&names) == 0 && has_uprobe_multi(names.release);
}

bool has_uprobe_multi(const char* release) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 10);
}

}  // namespace adaptyst::lib
