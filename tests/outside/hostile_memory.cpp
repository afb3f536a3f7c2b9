// A program whose memory is a trap for those who read it:
//
//   hostile_memory recorders FILE     its list of recorders stands in a file, which is perhaps never delivered
//   hostile_memory process FILE       so does the state of its markers
//   hostile_memory rows N BUCKETS     fabricated rows, each with a path of its own and a wide histogram
//   hostile_memory recursion N        an honest recursion of N levels, each with a name of 120 bytes
//   hostile_memory restless N         N recorders that are always being written
//   hostile_memory events HOW SECONDS fabricated events in its timeline as fast as it can. HOW is one of:
//                                     queues: each operation is on its own queue
//                                     backwards: each scope is before the last one
//                                     endless: a thousand full rings
//
// It prints "set" and sleeps for a minute, but for "rows": for 2 s, and for "recursion" and "events": not at all.
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

process* find_state() { return reinterpret_cast<process*>(adaptyst_object_v5.process); }

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

// Below these, the head of the list is the first.
recorder_head* make_recorders(recorder_store& store, std::size_t count) {
  constexpr std::size_t recorder_bytes = 512;  // they overlap where nothing is read
  char* const room = allocate<char>(store, count * recorder_bytes);
  recorder_head* next = nullptr;
  for (std::size_t at = 0; at != count; ++at) {
    auto* const head = reinterpret_cast<recorder_head*>(room + at * recorder_bytes);
    head->next = reinterpret_cast<recorder*>(next);
    head->epoch = store.head.epoch;
    next = head;
  }
  return next;
}

void be_restless(recorder_store& store, std::size_t count) {
  recorder_head* const first = make_recorders(store, count);
  for (recorder_head* head = first; head != nullptr; head = head->next) head->sequence = 1;
  store.head.layout = state_layout;
  store.head.recorders = reinterpret_cast<recorder*>(first);
}

// A thousand full rings, which overlap.
void be_endless(recorder_store& store) {
  constexpr std::size_t recorders = 1000;
  constexpr std::uint64_t capacity = 1 << 20;
  const recorder* const own = this_thread_recorder;
  auto* const ring = reinterpret_cast<trace_ring*>(allocate<char>(store, recorders * 4096 + ring_bytes(capacity)));
  recorder_head* const first = make_recorders(store, recorders);
  auto* each = reinterpret_cast<char*>(ring);
  for (std::uint64_t at = 0; at != capacity + recorders * 128 - 1; ++at)  // of all rings, whichever is read
    set_entry(ring->entries[at], traced::instant_event, own->root.child->path, at, 0, 1);
  for (recorder_head* head = first; head != nullptr; head = head->next, each += 4096) {
    auto* const other_ring = reinterpret_cast<trace_ring*>(each);
    other_ring->head = other_ring->capacity = capacity;
    other_ring->first = other_ring->lost = 0;
    other_ring->tail = own->ring->tail;
    head->ring = other_ring;
  }
  store.head.recorders = reinterpret_cast<recorder*>(first);
  for (;;) pause();
}

void fabricate_events(recorder_store& store, std::string_view how, int seconds) {
  const recorder* const own = this_thread_recorder;
  if (own->ring == nullptr) std::exit(4);
  alarm(static_cast<unsigned>(seconds));
  if (how == "endless") be_endless(store);
  const adaptyst_path* const path = own->root.child->path;
  std::uint64_t number = std::uint64_t{1} << 50;
  for (;;) {
    --number;
    if (how == "queues") trace_operation(*own->ring, path, 1, number, number + 1, number, 1);
    else trace(*own->ring, 1, traced::scope, path, 2 * number, 2 * number + 1);
  }
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
    adaptyst_object_v5.process = reinterpret_cast<std::uint64_t>(map(arguments[2]));
    wait(60);
  }
  if (state == nullptr) return 1;
  if (what == "rows") {
    fabricate(*state->store, static_cast<std::uint32_t>(std::atoi(arguments[2])),
              static_cast<std::uint32_t>(std::atoi(arguments[3])));
    wait(2);
  }
  if (what == "restless") {
    be_restless(*state->store, static_cast<std::size_t>(std::atoi(arguments[2])));
    wait(60);
  }
  if (what == "events" && count > 3) fabricate_events(*state->store, arguments[2], std::atoi(arguments[3]));
  state->store->head.recorders = static_cast<recorder*>(map(arguments[2]));
  state->store->head.layout = state_layout;
  wait(60);
}
