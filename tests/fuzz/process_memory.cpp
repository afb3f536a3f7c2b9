// The memory of a process that is observed from outside: control blocks, the shared state, recorders, rows, markers and
// devices in it, and the regions that come of them. recorded_state.cpp makes an honest one to begin with.
#include <numeric>
#include <random>

#include "model/region_list.hpp"
#include "poked_memory.hpp"
#include "recorder/device_reader.hpp"
#include "recorder/open_regions.hpp"
#include "recorder/recorder_reader.hpp"
#include "recorder/site_counts.hpp"
#include "recorder/trace_reader.hpp"
#include "target.hpp"

namespace {

using namespace adaptyst::lib;
using fuzz::poke;

constexpr std::uint64_t control_blocks[] = {0x1000, 0x2000};

// What a profile of it promises to those who write and read it; the bytes are profile.cpp's concern.
void check(const std::vector<adaptyst::region>& regions, std::size_t devices) {
  for (const adaptyst::region& region : regions) {
    EXPECT(!region.path.empty() && region.path.size() <= max_path_names);
    EXPECT(region.device < devices);
    EXPECT(region.durations.count() == 0 || region.min_ns <= region.max_ns);
    const auto& buckets = region.durations.buckets();
    EXPECT(std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0}) == region.durations.count());
    EXPECT(region.durations.count() == 0 || region.quantile_ns(0.99).has_value());
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::poked_memory memory(data, size);
  process_state state{&memory, 0, {}};
  for (const std::uint64_t address : control_blocks) {
    adaptyst_object block{};
    if (!memory.read(address, block)) continue;
    state.objects.push_back(address);
    if (state.process == 0) state.process = block.process;
  }
  state.address = find_store(memory, state.process);
  recorder_reader reader;
  reader.poll(state);
  const measurements before = reader.result();
  reader.poll(state);
  site_counts counts;
  for (int turn = 0; turn != 2; ++turn) counts.poll(state);
  read_open_regions(state);
  read_last_regions(state);
  measurements all = reader.result();
  add(all, before);  // as of a second process
  const device_list devices = read_devices(state, 2000, 1000, 500);
  trace_reader timeline(state);
  for (int turn = 0; turn != 2; ++turn) {
    trace_reader::open_scopes open{{0, {}}, {1, {}}};
    timeline.read_open(state, open);
    timeline.read([](const traced_event& event) {
      if (event.site == nullptr || event.end_ns < event.begin_ns) std::abort();
    });
  }
  check(assemble(all, devices.index), devices.devices.size());
  return 0;
}

#ifdef ADAPTYST_FUZZ_MUTATES

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Changes, copies and drops pokes as wholes: bytes that shift all that follow them would leave nothing of the memory.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::minstd_rand random(seed);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random()) % end; };
  std::vector<poke> pokes;
  for (std::size_t at = 0; at + poke::bytes <= size; at += poke::bytes) pokes.push_back(poke::from(data + at));
  if (pokes.empty()) pokes.push_back({static_cast<std::uint32_t>(control_blocks[0]), 0});
  poke& chosen = pokes[below(pokes.size())];
  const poke& other = pokes[below(pokes.size())];
  switch (below(8)) {
    case 0: chosen.value = other.address(); break;
    case 1: chosen.value = other.value; break;
    case 2: chosen.address_and_delay = other.address() + 8 * static_cast<std::uint32_t>(below(8)); break;
    case 3: chosen.address_and_delay = chosen.address() + static_cast<std::uint32_t>(below(8)); break;
    case 4: pokes.erase(pokes.begin() + static_cast<std::ptrdiff_t>(below(pokes.size()))); break;
    case 5: {  // a struct, somewhere else
      const std::size_t first = below(pokes.size());
      const std::size_t last = std::min(pokes.size(), first + 1 + below(32));
      const std::uint32_t moved = other.address() - pokes[first].address();
      for (std::size_t at = first; at != last; ++at)
        pokes.push_back({pokes[at].address_and_delay + moved, pokes[at].value});
      break;
    }
    case 6: {  // the same word again, later
      poke late = chosen;
      late.address_and_delay = late.address() + 1 + static_cast<std::uint32_t>(below(7));
      LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(&late.value), sizeof late.value, sizeof late.value);
      pokes.push_back(late);
      break;
    }
    default: LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(&chosen.value), sizeof chosen.value, sizeof chosen.value);
  }
  const std::size_t count = std::min(pokes.size(), max_size / poke::bytes);
  for (std::size_t at = 0; at != count; ++at) pokes[at].to(data + at * poke::bytes);
  return count * poke::bytes;
}

#endif
