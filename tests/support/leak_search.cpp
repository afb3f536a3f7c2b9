// LeakSanitizer does not search a forked child: at the child's exit it would wait for ever for the lock of its allocator, if
// another thread of the parent held that at the fork. The parent is searched as usual.
//
// Clang 14's LeakSanitizer takes thread-local memory of a loaded library that begins 16 bytes into a page for memory of glibc
// 2.19, reads its size from the bytes in front of it, and crashes ("Tracer caught signal 11"). A library of 8 such bytes begins there
// in one thread of 128; one with a variable that is aligned to 32 bytes never does. Each library of the tests gets one.
#include <unistd.h>

namespace {

const pid_t program = getpid();

alignas(32) [[gnu::used]] thread_local char never_at_16 = 0;

}  // namespace

extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return getpid() != program; }
