// A program that lets itself be observed, and is another one before the observer is done: replaced_program NEXT says that the
// settings of its markers stand in words of its own choice, waits until an observer writes there, and becomes NEXT by
// exec(). NEXT is this program without an argument: it keeps words in the same place, and says how many have changed.
#include <adaptyst/adaptyst.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <adaptyst/detail/process.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace {

constexpr std::size_t words = adaptyst::detail::max_sites;
constexpr std::uint64_t value = 0x0123456789abcdef;

std::uint64_t* place() {
  void* const chosen = reinterpret_cast<void*>(std::uintptr_t{0x600000000000});
  return static_cast<std::uint64_t*>(mmap(chosen, words * sizeof value, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
}

void be_robbed(const char* next) {
  std::uint64_t* const at = place();
  std::fill(at, at + words, std::uint64_t{ADAPTYST_STEP_LAST});
  adaptyst::detail::process* const state = adaptyst::detail::find_process(adaptyst_object_v5);
  state->store->head.settings = reinterpret_cast<char*>(at) - offsetof(adaptyst::detail::observer_settings, steps);
  state->store->head.numbered = words;
  const std::uint64_t before = state->epochs;
  std::puts("ready");
  std::fflush(stdout);
  while (adaptyst::detail::load(state->epochs) == before) usleep(100);
  execl(next, next, nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    be_robbed(arguments[1]);
    return 9;
  }
  std::uint64_t* const first = place();
  std::uint64_t* const end = first + words;
  std::fill(first, end, value);
  sleep(1);
  ADAPTYST_REGION("end");
  std::printf("%ld changed\n",
              static_cast<long>(std::count_if(first, end, [](std::uint64_t now) { return now != value; })));
}
