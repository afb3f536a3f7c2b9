// Counts the events of a process's markers, and reads the step of each on the overhead budget. Cheap enough for ten
// reads a second while threads count.
#ifndef ADAPTYST_LIB_RECORDER_SITE_COUNTS_HPP
#define ADAPTYST_LIB_RECORDER_SITE_COUNTS_HPP

#include <adaptyst/detail/levels.hpp>
#include <adaptyst/detail/recorder.hpp>
#include <cstdint>
#include <unordered_map>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

struct site_count {
  std::uint64_t id = 0;       // of the marker, as in a profile
  std::uint64_t events = 0;   // ended events
  std::uint64_t step_at = 0;  // address of its step in the process; not checked
  std::uint32_t kind = 0;
  std::uint32_t step = 0;   // at the first read
  bool has_nested = false;  // there are events inside its own
  // Inside its events, at any depth, there are events other than regions, or of this marker itself: these must not be
  // skipped together with one of its events.
  bool holds_others = false;
  std::unordered_map<std::uint64_t, std::uint64_t>
      inside;  // number of its events directly inside those of other markers, by the addresses of these
};

class site_counts {
 public:
  // Reads the current epoch.
  void poll(const process_state& state);
  // By the addresses of the markers' records.
  const std::unordered_map<std::uint64_t, site_count>& all() const noexcept { return sites_; }

 private:
  struct path_state {
    std::uint64_t site, parent;  // addresses
    bool holds_others;
  };
  const path_state* find_path_state(const memory& in, std::uint64_t address);
  void note_others(std::uint64_t address);
  bool know_site(const memory& in, std::uint64_t address);

  std::unordered_map<std::uint64_t, site_count> sites_;
  std::unordered_map<std::uint64_t, path_state> paths_;  // by their addresses
  std::size_t steps_ = 0;                                // in this read, from new paths to the paths above them
};

// Sets the time that is subtracted from recorded events of sampled markers; false: it cannot be written.
bool set_sampled_floor(const process_state& state, double floor_ns);
// Puts a marker on a step; false: it cannot be written.
bool set_step(const process_state& state, const site_count& site, std::uint32_t step);
// Puts all markers back on the step of the engine, after any observer.
void reset_steps(const process_state& state);

// Sets the levels that the process records, for markers that it has already run and for later ones. Call it before an
// epoch begins, after reset_steps(). Without a state of the process, it does nothing.
void set_levels(const process_state& state, const detail::level_settings& levels);

}  // namespace adaptyst::lib

#endif
