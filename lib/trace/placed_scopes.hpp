// Places the ranges and calls of host threads below the ranges around them, for readers of databases.
//
// Ranges that nest are kept in memory until all are known, then placed by their times (containment.hpp). Calls come from
// the file in a second pass. An operation belongs to the range around the call that submitted it.
#ifndef ADAPTYST_LIB_TRACE_PLACED_SCOPES_HPP
#define ADAPTYST_LIB_TRACE_PLACED_SCOPES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "containment.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

// Sites by their contents; addresses stay valid. Beyond the memory limit, all sites have the name "(other paths)".
class site_list {
 public:
  // `color`: the first one of a site stays. `file` and `line`: of the source, if known.
  const traced_site* find(const std::string& name, region_kind kind, std::uint32_t device,
                          const traced_site* parent = nullptr, std::uint32_t color = 0, const std::string& file = {},
                          std::uint32_t line = 0) {
    if (const auto listed = all_.find({parent, device, line, kind, name, file}); listed != all_.end()) {
      if (listed->second->color == 0) listed->second->color = color;
      return listed->second;
    }
    if (name.size() > max_path_bytes - path_bytes_ && name != other_paths) {
      has_too_many_paths_ = true;
      return find(other_paths, kind, device);
    }
    path_bytes_ += std::min(name.size() + file.size(), max_path_bytes - path_bytes_);
    traced_site& made = sites_.emplace_back(traced_site{name, kind, device, parent, {}, color, 0, file, line});
    return all_[{parent, device, line, kind, made.name, made.file}] = &made;
  }
  bool has_too_many_paths() const noexcept { return has_too_many_paths_; }

 private:
  static constexpr std::size_t max_path_bytes = std::size_t{1} << 27U;
  static constexpr const char* other_paths = "(other paths)";

  std::deque<traced_site> sites_;
  std::map<
      std::tuple<const traced_site*, std::uint32_t, std::uint32_t, region_kind, std::string_view, std::string_view>,
      traced_site*>
      all_;
  std::size_t path_bytes_ = 0;  // of names
  bool has_too_many_paths_ = false;
};

// Events without a place, or without a certain place, below ranges.
struct unplaced_events {
  std::uint64_t ranges = 0;         // ranges that nest
  std::uint64_t ambiguous = 0;      // part of `ranges`
  std::uint64_t start_end = 0;      // ranges that may not nest
  std::uint64_t unattributed = 0;   // operations
  std::uint64_t other_devices = 0;  // operations of devices with numbers beyond the limit
  bool has_too_many_ranges = false, has_too_many_paths = false;

  // For trace_input::without_place().
  std::string text(const std::string& file) const;

 private:
  std::string text_of_ranges(const std::string& file) const;
};

class placed_scopes {
 public:
  struct scope {
    std::int64_t process = 0;
    traced_event event;
  };
  using source = std::function<bool(scope&)>;  // false: no further scope

  // A call that may have submitted operations. Files have millions of them.
  struct call {
    std::uint64_t begin_ns = 0;
    const traced_site* site = nullptr;
    const traced_site* region = nullptr;  // the range around it; null: none
    std::uint32_t thread = 0;
    std::uint32_t level = 0;  // calls around it
  };
  // Further calls count as calls within the range around them.
  static constexpr std::uint32_t max_nested_calls = 512;

  placed_scopes(site_list& sites, trace_writer& to, unplaced_events& unplaced)
      : sites_(sites), to_(to), unplaced_(unplaced) {}

  // Adds an event to the writer.
  void add(std::int64_t process, const traced_event& event);
  // Keeps a range that nests; with too many ranges, adds them without a place.
  void add_range(std::int64_t process, const traced_event& range);
  // After the last range.
  void place_ranges();
  // The kept ranges, by thread, or by begin if the writer needs it.
  source list_ranges() const;
  // Adds all scopes; sorted by begin if the writer needs it. Each source must then be sorted.
  void add_all(const std::vector<source>& sources);

  // The site of the shortest range around these times; null: none.
  const traced_site* find_region(std::int64_t process, const traced_event& call) const;
  // `outer`: the call around it, if known.
  void add_call(std::int64_t process, std::int64_t correlation, const traced_event& event,
                const call* outer = nullptr) {
    calls_[{process, correlation}] = {event.begin_ns, event.site, outer != nullptr ? outer->region : event.site->parent,
                                      event.thread, outer != nullptr ? outer->level + 1 : 0};
  }
  // Null: no such call.
  const call* find_call(std::int64_t process, std::int64_t correlation) const;
  // Fills in an operation with its call, and returns the range around the call. Without a call, counts the operation.
  const traced_site* attribute(std::int64_t process, std::int64_t correlation, traced_event& operation);

 private:
  // The ranges of one thread.
  struct thread_ranges {
    std::vector<contained_span> spans;           // in the order of the file
    std::vector<const traced_site*> flat_sites;  // of these spans
    containment held;
    std::vector<const traced_site*> sites;  // of the kept spans, with their parents
  };
  struct hash {
    std::size_t operator()(const std::pair<std::int64_t, std::int64_t>& key) const {
      return std::hash<std::uint64_t>{}(static_cast<std::uint64_t>(key.first) * 0x9e3779b97f4a7c15 +
                                        static_cast<std::uint64_t>(key.second));
    }
  };

  static scope make_range(const std::pair<std::int64_t, std::uint32_t>& thread, const contained_span& times,
                          const traced_site* site);
  void add_held_flat();
  void merge(const std::vector<source>& sources);

  site_list& sites_;
  trace_writer& to_;
  unplaced_events& unplaced_;
  std::map<std::pair<std::int64_t, std::uint32_t>, thread_ranges> ranges_;  // by process and thread
  std::size_t held_ = 0;
  std::unordered_map<std::pair<std::int64_t, std::int64_t>, call, hash> calls_;  // by process and correlation
};

}  // namespace adaptyst::lib

#endif
