// Settings that a collector or observer changes while the program runs: budget steps of markers, and read positions of
// rings.
//
// A collector in the process writes them in place. An observer that started the program provides sealed memory, mapped
// in their place: only it can write there, and it writes nowhere else. An observer that attached later writes into the
// memory of the process.
//
// The program validates them: an invalid step counts as that of the engine, and an invalid tail never makes it
// overwrite a ring.
#ifndef ADAPTYST_DETAIL_OBSERVER_SETTINGS_HPP
#define ADAPTYST_DETAIL_OBSERVER_SETTINGS_HPP

#include "levels.hpp"
#include "recorder_store.hpp"
#include "site_step.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr uint32_t max_sites = 1 << 16;
constexpr uint32_t max_recorders = 1 << 16;

// Markers take the slow path, which detects the end of the observation.
constexpr uint64_t unclaimed_step = ADAPTYST_STEP_DEEPER;

struct observer_settings {
  uint64_t magic;  // if of another observer or layout, the settings are ignored
  uint64_t over;   // the observation ended: markers become idle
  // Duration of an empty recorded event of a sampled marker, in clock ticks. Each recorded event is shortened by it.
  uint64_t sampled_floor;
  level_settings levels;
  char pad[page_bytes - 3 * sizeof(uint64_t) - sizeof(level_settings)];
  uint64_t steps[max_sites];      // enum adaptyst_site_step, by number of the marker
  uint64_t tails[max_recorders];  // entries read of a ring, by number of the recorder
};
static_assert(sizeof(observer_settings) % page_bytes == 0, "it is mapped");

constexpr uint64_t settings_magic = 0x7365687369770000 ^ sizeof(observer_settings) ^ (sizeof(level_settings) << 48);

template <class = void>
ADAPTYST_DETAIL_INLINE uint32_t read_step(const adaptyst_site& marker) noexcept {
  const uint64_t set = load(*marker.step);
  return set <= ADAPTYST_STEP_LAST ? static_cast<uint32_t>(set) : uint32_t{ADAPTYST_STEP_ENGINE};
}

// Maps an observer's settings in the place of `own`, and closes their file. False if the file is invalid: our settings
// stay.
template <class = void>
inline bool map_settings(observer_settings& own, long file) noexcept {
  constexpr long end = 2;  // SEEK_END
  uint64_t magic = 0;
  const bool is_sound = is_store(file) && system::call(__NR_lseek, file, 0L, end) == long{sizeof(observer_settings)} &&
                        system::call(__NR_pread64, file, &magic, sizeof magic, 0L) == long{sizeof magic} &&
                        magic == settings_magic;
  constexpr int how = system::shared_file | system::in_place;
  const bool taken =
      is_sound && system::map(&own, sizeof own, system::read_only, how, static_cast<int>(file), 0) == &own;
  if (file >= 0) system::call(__NR_close, file);
  return taken;
}

// Clears the settings; a collector or observer of this process may write here.
template <class = void>
inline void clear_settings(observer_settings& own) noexcept {
  constexpr int how = system::private_memory | system::in_place;
  system::map(&own, sizeof own, system::read_write, how, -1, 0);
}

}}}  // namespace adaptyst::v1::detail

#endif
