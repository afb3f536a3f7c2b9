// A program whose memory is a trap for those who read it:
//
//   hostile_memory recorders FILE     its list of recorders stands in a file, which is perhaps never delivered
//   hostile_memory process FILE       so does the state of its markers
//   hostile_memory rows N BUCKETS     fabricated rows, each with a path of its own and a wide histogram
//   hostile_memory recursion N        an honest recursion of N levels, each with a name of 120 bytes
//
// It prints "set" and sleeps for a minute, but for the last two: for 2 s, and not at all.
#include <adaptyst/region.hpp>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <adaptyst/detail/recorder.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

using namespace adaptyst::detail;

process* find_state() { return reinterpret_cast<process*>(adaptyst_object_v3.process); }

[[noreturn]] void wait(unsigned seconds) {
  std::puts("set");
  std::fflush(stdout);
  sleep(seconds);
  _exit(0);
}

// Not from its beginning, where an ELF file would be looked for.
void* map(const char* file) {
  constexpr std::size_t bytes = 1 << 19;
  constexpr off_t from = 4096;
  const int opened = open(file, O_RDONLY);
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, opened, from);
  if (opened >= 0 && mapped != MAP_FAILED) return mapped;
  std::perror(file);
  std::exit(1);
}

template <class T>
T* allocate(recorder_store& store, std::size_t count) {
  void* const room = store.allocate_pages(count * sizeof(T));
  if (room == nullptr) std::exit(3);
  return static_cast<T*>(room);
}

void fabricate(recorder_store& store, std::uint32_t count, std::uint32_t buckets) {
  constexpr std::size_t name_bytes = 120;
  constexpr std::size_t recorder_bytes = 8192;
  auto* const histogram = allocate<std::uint64_t>(store, ADAPTYST_HISTOGRAM_BUCKETS);
  for (std::size_t at = 0; at != ADAPTYST_HISTOGRAM_BUCKETS; ++at) histogram[at] = 1;
  char* const name = allocate<char>(store, name_bytes + 1);
  std::memset(name, 'N', name_bytes);
  auto* const site = allocate<adaptyst_site>(store, 1);
  site->id = 7;
  site->name = site->file = site->function = name;
  site->name_bytes = name_bytes;
  auto* const paths = allocate<adaptyst_path>(store, count);
  const std::uint32_t chunk_count = (count + rows_per_chunk - 1) / rows_per_chunk;
  auto* const chunks = allocate<row_chunk>(store, chunk_count);
  for (std::uint32_t at = 0; at != count; ++at) {
    paths[at].id = 1000 + at;
    paths[at].site = site;
    row& made = chunks[at / rows_per_chunk].rows[at % rows_per_chunk];
    made.id = paths[at].id;
    made.path = &paths[at];
    made.site = site;
    made.count = buckets;
    made.total_ns = 1000;
    made.min_ns = 0;
    made.max_ns = adaptyst_histogram_lower(buckets - 1);
    made.histogram = histogram;
    made.buckets = static_cast<decltype(made.buckets)>(buckets);
    made.threads = 1;
  }
  constexpr std::uint32_t chunks_of_recorder = max_rows / rows_per_chunk;
  const std::uint32_t recorders = (chunk_count + chunks_of_recorder - 1) / chunks_of_recorder;
  char* const room = allocate<char>(store, recorders * recorder_bytes);
  recorder_head* next = nullptr;
  for (std::uint32_t number = 0; number != recorders; ++number) {
    auto* const head = reinterpret_cast<recorder_head*>(room + number * recorder_bytes);
    std::uint32_t used = 0;
    for (; used != chunks_of_recorder && number * chunks_of_recorder + used < chunk_count; ++used)
      head->chunks[used] = &chunks[number * chunks_of_recorder + used];
    head->rows_used = used * rows_per_chunk;
    head->next = reinterpret_cast<recorder*>(next);
    head->serial = head->first_serial = 1;
    head->epoch = store.head.epoch;
    next = head;
  }
  store.head.layout = state_layout;
  store.head.recorders = reinterpret_cast<recorder*>(next);
}

void recurse(const std::string& name, int levels) {
  ADAPTYST_REGION(name);
  if (levels > 1) recurse(name, levels - 1);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string_view what = arguments[1];
  if (what == "recursion") {
    recurse(std::string(120, 'n'), std::atoi(arguments[2]));
    return 0;
  }
  { ADAPTYST_REGION("first"); }
  process* const state = find_state();
  if (what == "process") {
    adaptyst_object_v3.process = reinterpret_cast<std::uint64_t>(map(arguments[2]));
    wait(60);
  }
  if (state == nullptr) return 1;
  if (what == "rows") {
    fabricate(*state->store, static_cast<std::uint32_t>(std::atoi(arguments[2])),
              static_cast<std::uint32_t>(std::atoi(arguments[3])));
    wait(2);
  }
  state->store->head.recorders = static_cast<recorder*>(map(arguments[2]));
  state->store->head.layout = state_layout;
  wait(60);
}
