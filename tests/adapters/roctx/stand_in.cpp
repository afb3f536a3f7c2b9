// A stand-in for the library of ROCTX: it has its levels and numbers, and prints what it received at the end.
#include <atomic>
#include <cstdint>
#include <cstdio>

#define ROCTX_API extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<int> marks, pushes, pops, starts, stops, unknown;
std::atomic<std::uint64_t> last{0};
thread_local int level = 0;

struct at_end {
  ~at_end() {
    std::printf("marks %d pushes %d pops %d starts %d stops %d unknown %d\n", marks.load(), pushes.load(), pops.load(),
                starts.load(), stops.load(), unknown.load());
  }
} report;

}  // namespace

ROCTX_API void roctxMarkA(const char*) { ++marks; }
ROCTX_API int roctxRangePushA(const char*) { return ++pushes, level++; }
ROCTX_API int roctxRangePop() { return ++pops, level == 0 ? -1 : --level; }
ROCTX_API std::uint64_t roctxRangeStartA(const char*) { return ++starts, ++last; }
ROCTX_API void roctxRangeStop(std::uint64_t id) {
  ++stops;
  if (id == 0 || id > last) ++unknown;
}
