// Runs markers of all kinds, and writes what the recorder then holds as pokes, for process_memory: recorded_state FILE.
// To be run again, for a first input of the new kind, when the layout of the recorder changes.
#include <adaptyst/adaptyst.hpp>

#include <cstdio>
#include <thread>
#include <vector>

#include "own_recorder.hpp"

namespace {

namespace detail = adaptyst::detail;

struct sizes {
  double bytes;
  long rows;
};

void work(int depth) {
  ADAPTYST_REGION("work", sizes{8.0, depth});
  ADAPTYST_METRIC("residual", 0.5 * depth);
  if (depth != 0) work(depth - 1);
  ADAPTYST_MARK("done");
}

// Addresses of this process, and where they lie in the memory that is written.
struct range {
  std::uint64_t from, bytes, to;
};

class dump {
 public:
  explicit dump(std::FILE* to) : to_(to) {}

  void know(const void* from, std::uint64_t bytes, std::uint64_t to) {
    ranges_.push_back({reinterpret_cast<std::uint64_t>(from), bytes, to});
  }

  void write(const void* from, std::uint64_t bytes) { write_as(from, from, bytes); }
  // As if it stood somewhere else.
  void write_as(const void* where, const void* from, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at + 8 <= bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, static_cast<const char*>(from) + at, sizeof word);
      if (word != 0) poke(moved(reinterpret_cast<std::uint64_t>(where) + at), moved(word));
    }
  }

  void poke(std::uint64_t address, std::uint64_t word) {
    const auto short_address = static_cast<std::uint32_t>(address);
    std::fwrite(&short_address, sizeof short_address, 1, to_);
    std::fwrite(&word, sizeof word, 1, to_);
  }

 private:
  std::uint64_t moved(std::uint64_t word) const {
    for (const range& range : ranges_)
      if (word >= range.from && word - range.from < range.bytes) return word - range.from + range.to;
    return word;
  }

  std::FILE* to_;
  std::vector<range> ranges_;
};

}  // namespace

int main(int count, char* arguments[]) {
  if (count != 2) return 2;
  const support::own_recorder awake;
  const adaptyst::device gpu(adaptyst::device_kind::gpu, 0, "gpu");
  {
    ADAPTYST_REGION("all");
    work(1);
    ADAPTYST_OFFLOAD("offload", gpu);
    std::thread([] { work(0); }).join();
    const std::uint64_t now = adaptyst::now_ns();
    adaptyst::submit("copy", gpu, 0, adaptyst::operation_kind::copy_to).complete(now, now + 100);
  }
  auto& state = *reinterpret_cast<detail::process*>(adaptyst_object_v5.process);
  std::FILE* const file = std::fopen(arguments[1], "wb");
  if (file == nullptr) return 1;
  dump out(file);
  constexpr std::uint64_t next = 1 << 20;
  std::uint64_t place = 0x20000000;
  out.know(&adaptyst_object_v5, sizeof adaptyst_object_v5, 0x1000);
  out.know(&state, sizeof state, 0x10000000);
  detail::recorder_store& store = *state.store;
  out.know(&store, sizeof store, 0x14000000);
  for (detail::recorder* r = state.control.recorders; r != nullptr; r = r->next) {
    out.know(r, sizeof *r, place += next);
    for (std::uint32_t at = 0; at * detail::rows_per_chunk < r->rows_used; ++at)
      out.know(r->chunks[at], sizeof *r->chunks[at], place += next);
  }
  detail::device_activity_buffer& activity = store.activity;
  for (std::uint32_t at = 0; at != activity.chunk_count; ++at)
    out.know(activity.chunks[at], sizeof *activity.chunks[at], place += next);
  store.head.layout = 0;  // known to every reader
  out.write(&adaptyst_object_v5, sizeof adaptyst_object_v5);
  out.write(&state.store, sizeof state.store);
  out.write(&store.head, sizeof store.head);
  out.write(&activity, offsetof(detail::device_activity_buffer, devices));
  for (const detail::device_entry& device : activity.devices)
    if (device.state != 0) out.write(&device, sizeof device);
  for (std::uint32_t at = 0; at != activity.chunk_count; ++at)
    out.write(activity.chunks[at], sizeof *activity.chunks[at]);
  out.write(store.arena, store.arena_used);
  for (detail::recorder* r = state.control.recorders; r != nullptr; r = r->next) {
    out.write(r, sizeof(detail::recorder_head));
    for (std::uint32_t at = 0; at != r->rows_used; ++at) {
      const detail::row_chunk& chunk = *r->chunks[at / detail::rows_per_chunk];
      const detail::row& row = chunk.rows[at % detail::rows_per_chunk];
      const std::uint64_t bytes = row.buckets * sizeof row.histogram[0];
      out.know(row.histogram + row.first_bucket, bytes, place += next);
      detail::row written = row;  // its histogram's first bucket would lie before what there is of it
      written.histogram = reinterpret_cast<std::uint64_t*>(place - row.first_bucket * sizeof row.histogram[0]);
      out.know(row.attributes, row.attribute_count * sizeof row.attributes[0], place += next);
      out.write_as(&row, &written, sizeof written);
      out.write(row.histogram + row.first_bucket, bytes);
      out.write(row.attributes, row.attribute_count * sizeof row.attributes[0]);
    }
  }
  return std::fclose(file) == 0 ? 0 : 1;
}
