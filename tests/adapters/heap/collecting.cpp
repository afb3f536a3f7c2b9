// A program with a collector that is linked with the adapter, or without it.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

int own_news = 0;

void work() {
  ADAPTYST_REGION("solve");
  for (int at = 0; at != 10; ++at) std::free(std::malloc(100));
  int* volatile made = new int(7);
  delete made;
}

}  // namespace

// The program's own operator is left alone; its region is nested in the open one.
void* operator new(std::size_t bytes) {
  ADAPTYST_REGION("operator new");
  ++own_news;
  if (void* const made = std::malloc(bytes)) return made;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

int main(int count, char** /*arguments*/) {
  adaptyst::collector collector("engine=inline,report=none,overhead=none,memory=exact-heap");
  own_news = 0;
  work();
  const int news = own_news;
  for (const adaptyst::region& row : collector.stop().regions) {
    if (row.path.front() != "solve") continue;
    const adaptyst::heap_usage heap = row.heap.value_or(adaptyst::heap_usage{});
    std::printf("%s %d %d %d %d\n", row.path.back().c_str(), static_cast<int>(row.count),
                static_cast<int>(heap.allocated_bytes), static_cast<int>(heap.allocations),
                static_cast<int>(heap.frees.value_or(0)));
  }
  if (count > 1) adaptyst::collector("engine=inline,report=none,overhead=none,memory=heap").stop();
  return news == 1 ? 0 : 1;
}
