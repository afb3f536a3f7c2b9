// Whether one link attaches a program to all places of a file, as far as the kernel's version tells.
#ifndef ADAPTYST_LIB_KERNEL_UPROBE_MULTI_HPP
#define ADAPTYST_LIB_KERNEL_UPROBE_MULTI_HPP

namespace adaptyst::lib {

// For one process: Linux 6.10 and later. (6.6 has the link, but takes a thread for a process.)
bool kernel_has_uprobe_multi();
// And with one program for the entry and the return of a function: Linux 6.13 and later.
bool kernel_has_uprobe_sessions();
// The same of a release, "6.12.3-amd64".
bool has_uprobe_multi(const char* release);
bool has_uprobe_sessions(const char* release);

}  // namespace adaptyst::lib

#endif
