// Rates of the time since the last reading, instead of sums since the start of observation.
//
//   adaptyst::activity_meter meter;
//   meter.next(observer.changes(), 0);   // starts
//   for (;;) {
//     sleep(1);
//     std::cout << to_table(meter.next(observer.changes(), 1e9));
//   }
//
// `adaptyst top` shows it. A region counts when it ends; if it took longer than the interval, its share is the whole
// interval. Unknown quantities are empty, never 0.
#ifndef ADAPTYST_LIB_MODEL_ACTIVITY_HPP
#define ADAPTYST_LIB_MODEL_ACTIVITY_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst { inline namespace v1 {

// A call path on a device with events in the interval.
struct active_region {
  std::vector<std::string> path;
  std::uint64_t id = 0;                 // as region::id
  std::vector<std::int64_t> processes;  // that have run it, if known: observer::find_processes()
  region_kind kind = region_kind::region;
  std::optional<adaptyst::device_kind> device_kind;  // empty for a device that the profile does not list
  std::uint32_t device_index = 0;
  bool on_host = false;
  std::uint64_t count = 0;
  std::optional<double> per_second;
  std::optional<double> self_share, total_share;  // of the interval; above 1 with several threads. Empty: no durations
  std::optional<double> mean_ns;
  std::optional<std::uint64_t> p99_ns;
  std::uint64_t self_ns = 0;
  std::uint64_t count_so_far = 0, total_so_far_ns = 0;  // since the start of observation
};

struct active_device {
  device_kind kind = device_kind::other;
  std::uint32_t index = 0;
  std::string name;
  // Utilisation by all processes together, at most 1: in the interval, and since the first reading.
  std::optional<double> utilisation, utilisation_so_far;
  bool is_host = false;
};

struct activity {
  std::string engine;
  std::vector<process_info> processes;  // including ended ones
  double wall_ns = 0;                   // length of the interval
  std::vector<active_region> regions;   // by self time, greatest first
  std::vector<active_device> devices;
  // Until a marker runs: the functions in which threads were sampled in the interval, and the number of samples.
  std::map<std::string, std::uint64_t> functions;
  std::uint64_t events = 0, events_so_far = 0;
  std::optional<double> events_per_second;
  losses lost, lost_so_far;
  // Overhead as a fraction of the interval; relative to the time of one thread.
  std::optional<double> overhead;
};

class activity_meter {
 public:
  activity_meter();
  ~activity_meter();
  activity_meter(const activity_meter&) = delete;
  activity_meter& operator=(const activity_meter&) = delete;

  // The activity since the last call, `wall_ns` ago; the first call starts. Regions that are missing in `now` had no
  // events (observer::changes()).
  activity next(const profile& now, double wall_ns);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Adds the regions of an earlier reading without events since, with rates of 0 and after the others, so that rows do
// not come and go; at most `max_regions` in all.
void add_idle(activity& shown, const activity& earlier, std::size_t max_regions = 1000);

}}  // namespace adaptyst::v1

#endif
