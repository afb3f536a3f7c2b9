// The events of a trace as a picture: tracks of threads and device queues, and in each track rows of intervals that do
// not overlap.
//
// Memory is limited for any length of the trace. If there are more intervals than `max_kept`, only the longest are
// kept. The others are summed for each track and time bucket: their number, their time, and the main site. The longest
// intervals are known after a first pass, so such a trace is read twice.
#ifndef ADAPTYST_LIB_TRACE_TIMELINE_TRACKS_HPP
#define ADAPTYST_LIB_TRACE_TIMELINE_TRACKS_HPP

#include <adaptyst/detail/histogram.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace_writer.hpp"

namespace adaptyst::lib {

struct timeline_interval : time_span {
  static constexpr std::uint32_t no_track = std::numeric_limits<std::uint32_t>::max();

  std::uint64_t submitted_ns = 0;  // 0: unknown
  std::uint64_t correlation = 0, bytes = 0;
  std::uint32_t site = 0;
  std::uint32_t submitted_by = no_track;  // track of the thread that submitted it
  bool nests = true;
};

// The intervals of one time bucket that are not kept individually.
struct summed_intervals {
  std::uint64_t count = 0;   // intervals that begin in it
  std::uint64_t sum_ns = 0;  // their time in the bucket; more than its width if nested
  std::uint32_t site = 0;    // the site with most of the time, if one has more than half (Boyer and Moore 1981)
  std::uint64_t weight_ns = 0;

  void add(std::uint32_t of_site, std::uint64_t ns);
};

struct timeline_track {
  std::string group, name;  // "solver (1234)", "thread 1"; "gpu0", "queue 7"
  bool is_queue = false;
  std::uint64_t count = 0, longest_ns = 0;                   // over all its intervals
  std::uint64_t summed = 0;                                  // intervals that are not kept individually
  std::vector<timeline_interval> kept;                       // after make_rows(): sorted by begin, the longer first
  std::unordered_map<std::uint32_t, summed_intervals> sums;  // by bucket number
};

// Intervals of one track that do not overlap, in order, by index in `kept`.
struct timeline_row {
  std::uint32_t track = 0;
  std::vector<std::uint32_t> intervals;
};

struct timeline_site {
  std::string name;
  region_kind kind = region_kind::region;
  std::uint32_t color = 0;  // the first of its call paths; see traced_site
};

class timeline_tracks final : public trace_writer {
 public:
  static constexpr std::size_t max_rows = 16;  // of a track; deeper intervals are summed
  // The number of the coarsest buckets: the columns of a screen. Each finer level has a quarter of the width.
  static constexpr std::uint64_t coarsest_buckets = 2048;
  static constexpr unsigned max_level = 6;

  explicit timeline_tracks(std::size_t max_kept = 2'000'000) : max_kept_(max_kept) {}

  // Call it before each trace: addresses of sites and ids of processes are specific to a trace. `label` precedes the
  // names of its processes.
  void begin_trace(std::string label);
  // Whether there were too many intervals: then all traces must be read again.
  bool needs_second_pass() const noexcept { return pass_ == 1 && seen_ > max_kept_; }
  void begin_second_pass();

  void name_process(std::int64_t process, const traced_process& what) override;
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override;
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override;
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override;
  bool knows_device(std::int64_t process, std::uint32_t device) const override;
  void add(std::int64_t process, const traced_event& event) override;
  void add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) override;
  std::uint64_t lost() const noexcept override { return 0; }
  void flush() override {}
  // Names the tracks and sorts them: threads by process, then queues by device.
  void finish() override;

  // Sums the shortest intervals until `count` are left. Call it after finish().
  void keep_at_most(std::size_t count);
  // The rows of all tracks, in the order of the tracks; intervals that do not fit are summed. Call it after finish().
  std::vector<timeline_row> make_rows();

  const std::vector<timeline_track>& tracks() const noexcept { return tracks_; }
  const std::vector<timeline_site>& sites() const noexcept { return sites_; }
  std::uint64_t first_ns() const noexcept { return seen_ != 0 ? first_ns_ : 0; }
  std::uint64_t range_ns() const noexcept { return seen_ != 0 ? last_ns_ - first_ns_ : 0; }
  std::uint64_t width_ns(unsigned level) const noexcept;
  unsigned level_of_sums() const noexcept { return level_of_sums_; }
  std::uint64_t seen() const noexcept { return seen_; }        // intervals and instant events
  std::uint64_t metrics() const noexcept { return metrics_; }  // metrics have no interval
  std::size_t kept() const noexcept;
  // Intervals of at least this length are kept, unless they are too deep; 0: all.
  std::uint64_t shortest_kept_ns() const noexcept { return shortest_kept_ns_; }
  const std::map<std::string, std::uint64_t>& losses() const noexcept { return losses_; }  // by reason

 private:
  // Trace and process, with the thread, or with the device and queue.
  struct track_key {
    std::uint32_t trace = 0;
    std::int64_t process = 0;
    bool is_queue = false;
    std::uint32_t device = 0;
    std::uint64_t number = 0;

    bool operator<(const track_key& other) const {
      return std::tie(is_queue, trace, device, process, number) <
             std::tie(other.is_queue, other.trace, other.device, other.process, other.number);
    }
  };
  using of_process = std::tuple<std::uint32_t, std::int64_t, std::uint32_t>;

  std::uint32_t find_track(const track_key& key);
  std::uint32_t find_site(const traced_site& site);
  void choose_level_of_sums();
  void sum_up(timeline_track& track, const timeline_interval& interval);
  void make_rows_of(std::uint32_t number, std::vector<timeline_row>& to);

  std::size_t max_kept_;
  int pass_ = 1;
  std::uint32_t trace_ = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::string> labels_;
  std::uint64_t seen_ = 0, metrics_ = 0;
  std::uint64_t first_ns_ = std::numeric_limits<std::uint64_t>::max(), last_ns_ = 0;
  std::uint64_t shortest_kept_ns_ = 0;
  unsigned level_of_sums_ = 2;
  std::array<std::uint64_t, ADAPTYST_HISTOGRAM_BUCKETS> durations_{};
  std::vector<timeline_track> tracks_;
  std::map<track_key, std::uint32_t> numbers_;
  std::vector<timeline_site> sites_;
  std::unordered_map<const traced_site*, std::uint32_t> by_address_;
  std::map<std::pair<std::string, region_kind>, std::uint32_t> by_name_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::string> processes_;
  std::map<of_process, std::string> threads_;
  std::map<of_process, traced_device> devices_;
  std::map<std::string, std::uint64_t> losses_;
};

}  // namespace adaptyst::lib

#endif
