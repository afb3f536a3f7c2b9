// Whether one link attaches a program to all places of a file, by the kernel's version.
#ifndef ADAPTYST_LIB_KERNEL_UPROBE_MULTI_HPP
#define ADAPTYST_LIB_KERNEL_UPROBE_MULTI_HPP

namespace adaptyst::lib {

// For one process: Linux 6.10 and later. (6.6 has the link, but filters by thread instead of process.)
bool kernel_has_uprobe_multi();
// Also with one program for the entry and the return of a function: Linux 6.13 and later.
bool kernel_has_uprobe_sessions();
// The same for a release, "6.12.3-amd64".
bool has_uprobe_multi(const char* release);
bool has_uprobe_sessions(const char* release);

}  // namespace adaptyst::lib

#endif
