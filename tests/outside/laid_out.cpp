// Programs that do not run where their file says: laid_out MODE COUNT MICROSECONDS [LIBRARY]
//
// COUNT regions "step" with a pause of MICROSECONDS in each. MODE is a list of words: own: with a collector; move: what
// runs is first copied from the file to anonymous memory, as programs do that want huge pages for their code; unlink:
// LIBRARY, which is loaded and passes the regions, is deleted before; run: it is not.
#include <adaptyst/adaptyst.hpp>
#include <adaptyst/collector.hpp>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace {

bool moved(char* begin, std::size_t bytes) {
  void* const copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  std::memcpy(copy, begin, bytes);
  return mprotect(copy, bytes, PROT_READ | PROT_EXEC) == 0 &&
         mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin) == begin;
}

bool move_code() {
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return false;
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[8192];
  char* begin = nullptr;
  char* end = nullptr;
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    void *first, *last;
    char rights[5];
    if (std::sscanf(line, "%p-%p %4s", &first, &last, rights) != 3 || rights[2] != 'x') continue;
    if (std::strstr(line, self) == nullptr) continue;
    begin = static_cast<char*>(first);
    end = static_cast<char*>(last);
  }
  if (maps != nullptr) std::fclose(maps);
  return begin != nullptr && moved(begin, static_cast<std::size_t>(end - begin));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const auto has = [&](const char* word) { return std::strstr(arguments[1], word) != nullptr; };
  const long times = std::atol(arguments[2]);
  const auto pause = static_cast<useconds_t>(std::atol(arguments[3]));
  if (has("move") && !move_code()) return 3;
  void (*run)(int) = nullptr;
  if (count > 4) run = reinterpret_cast<void (*)(int)>(dlsym(dlopen(arguments[4], RTLD_NOW), "run"));
  if (has("unlink")) unlink(arguments[4]);
  std::optional<adaptyst::collector> collector;
  if (has("own")) collector.emplace();
  for (long at = 0; at != times; ++at) {
    if (run != nullptr) run(1);
    ADAPTYST_REGION("step");
    if (pause != 0) usleep(pause);
  }
}
