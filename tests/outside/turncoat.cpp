// A program that lets itself be observed, and is another one before the observer is done: turncoat NEXT makes its list of
// markers name words at places that it has chosen, waits until an observer goes through the list, and becomes NEXT by
// exec(). NEXT is this program without an argument: it keeps words at the same places, and says how many have changed.
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

constexpr std::size_t words = 96;
constexpr std::size_t apart = 256;  // more than a marker's record
constexpr std::uint64_t value = 0x0123456789abcdef;

char* place() {
  void* const chosen = reinterpret_cast<void*>(std::uintptr_t{0x600000000000});
  return static_cast<char*>(
      mmap(chosen, words * apart, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
}

void be_robbed(const char* next) {
  char* const at = place();
  for (std::size_t one = 0; one != words; ++one)
    reinterpret_cast<adaptyst_site*>(at + one * apart)->step = ADAPTYST_STEP_LAST;
  adaptyst::detail::process* const state = adaptyst::detail::find_process(adaptyst_object_v2);
  std::size_t slot = 0;
  for (auto& site : state->sites.slots) site = reinterpret_cast<adaptyst_site*>(at + slot++ % words * apart);
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
  auto* const first = reinterpret_cast<std::uint64_t*>(place());
  auto* const end = first + words * apart / sizeof *first;
  std::fill(first, end, value);
  sleep(1);
  ADAPTYST_REGION("end");
  std::printf("%ld changed\n",
              static_cast<long>(std::count_if(first, end, [](std::uint64_t now) { return now != value; })));
}
