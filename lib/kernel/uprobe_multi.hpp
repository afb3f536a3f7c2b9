// The abilities of uprobes, by the kernel's version.
#ifndef ADAPTYST_LIB_KERNEL_UPROBE_MULTI_HPP
#define ADAPTYST_LIB_KERNEL_UPROBE_MULTI_HPP

#include <string>

namespace adaptyst::lib {

// Whether one link attaches a program to all places of a file, for one process: Linux 6.10 and later. (6.6 has the
// link, but filters by thread instead of process.)
bool kernel_has_uprobe_multi();
// Also with one program for the entry and the return of a function: Linux 6.13 and later.
bool kernel_has_uprobe_sessions();
// The release of this kernel; empty if unknown.
std::string kernel_release();
// The same for a release, "6.12.3-amd64".
bool has_uprobe_multi(const char* release);
bool has_uprobe_sessions(const char* release);
// Whether the kernel replaces a probed 10-byte nop by a call: Linux 7.3 and later. 6.18 to 7.2 replace a 5-byte nop.
bool replaces_nop10(const char* release);

}  // namespace adaptyst::lib

#endif
