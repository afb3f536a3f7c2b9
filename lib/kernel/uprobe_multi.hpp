// The abilities of uprobes, by the kernel's version.
#ifndef ADAPTYST_LIB_KERNEL_UPROBE_MULTI_HPP
#define ADAPTYST_LIB_KERNEL_UPROBE_MULTI_HPP

#include <sys/utsname.h>

#include <cstdio>
#include <string>

namespace adaptyst::lib {

namespace uprobe_detail {
inline bool is_at_least(const char* release, int of_major, int of_minor) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(release, "%d.%d", &major, &minor) != 2) return false;
  return major > of_major || (major == of_major && minor >= of_minor);
}
}  // namespace uprobe_detail

// The release of this kernel, "6.12.3-amd64"; empty if unknown.
inline std::string kernel_release() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "";
}

// Whether one link attaches a program to all places of a file, for one process: Linux 6.10 and later. (6.6 has the
// link, but filters by thread instead of process.)
inline bool has_uprobe_multi(const char* release) { return uprobe_detail::is_at_least(release, 6, 10); }
// Also with one program for the entry and the return of a function: Linux 6.13 and later.
inline bool has_uprobe_sessions(const char* release) { return uprobe_detail::is_at_least(release, 6, 13); }
// Whether the kernel replaces a probed 10-byte nop by a call: Linux 7.3 and later. 6.18 to 7.2 replace a 5-byte nop.
inline bool replaces_nop10(const char* release) { return uprobe_detail::is_at_least(release, 7, 3); }

// The same for this kernel.
inline bool kernel_has_uprobe_multi() { return has_uprobe_multi(kernel_release().c_str()); }
inline bool kernel_has_uprobe_sessions() { return has_uprobe_sessions(kernel_release().c_str()); }

}  // namespace adaptyst::lib

#endif
