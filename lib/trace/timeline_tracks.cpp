// Stores the events of a trace by track, and places them in rows.
#include "timeline_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace adaptyst::lib {

namespace {

// Intervals for one sum bucket, over all tracks: sums then need little memory and space compared with the intervals.
constexpr std::uint64_t kept_for_a_sum = 20;

// Places an interval that may overlap: the first row from `from` on that is free at that time; `max_rows`: no row is
// free.
std::size_t find_row(std::vector<std::uint64_t>& free_from, std::size_t from, const timeline_interval& interval) {
  for (std::size_t row = from; row != timeline_tracks::max_rows; ++row) {
    if (row == free_from.size()) free_from.push_back(0);
    if (free_from[row] > interval.begin_ns) continue;
    free_from[row] = interval.end_ns;
    return row;
  }
  return timeline_tracks::max_rows;
}

// The row of each interval: nested intervals are below the interval around them, all others follow.
std::vector<std::size_t> find_rows(const std::vector<timeline_interval>& all) {
  struct open_scope {
    std::uint64_t end_ns;
    std::size_t row;
  };
  std::vector<std::size_t> rows(all.size());
  std::vector<std::uint64_t> free_from;
  std::vector<open_scope> around;
  for (std::size_t at = 0; at != all.size(); ++at) {
    const timeline_interval& interval = all[at];
    if (!interval.nests) continue;
    while (!around.empty() && (around.back().end_ns <= interval.begin_ns || around.back().end_ns < interval.end_ns))
      around.pop_back();
    rows[at] = find_row(free_from, around.empty() ? 0 : around.back().row + 1, interval);
    if (rows[at] != timeline_tracks::max_rows) around.push_back({interval.end_ns, rows[at]});
  }
  const std::size_t behind = free_from.size();
  for (std::size_t at = 0; at != all.size(); ++at)
    if (!all[at].nests) rows[at] = find_row(free_from, behind, all[at]);
  return rows;
}

}  // namespace

void summed_intervals::add(std::uint32_t of_site, std::uint64_t ns) {
  sum_ns += ns;
  if (of_site == site) weight_ns += ns;
  else if (weight_ns != 0 && weight_ns >= ns) weight_ns -= ns;
  else {
    site = of_site;
    weight_ns = ns - weight_ns;
  }
}

void timeline_tracks::begin_trace(std::string label) {
  ++trace_;
  by_address_.clear();
  if (labels_.size() == trace_) labels_.push_back(std::move(label));
}

void timeline_tracks::begin_second_pass() {
  pass_ = 2;
  trace_ = std::numeric_limits<std::uint32_t>::max();
  by_address_.clear();
  std::uint64_t longer = 0;
  unsigned bucket = ADAPTYST_HISTOGRAM_BUCKETS;
  while (bucket != 0 && longer + durations_[bucket - 1] <= max_kept_) longer += durations_[--bucket];
  shortest_kept_ns_ = adaptyst_histogram_lower(bucket);
  choose_level_of_sums();
}

// Must run before the first sum, when all tracks are known.
void timeline_tracks::choose_level_of_sums() {
  const std::uint64_t room = max_kept_ / kept_for_a_sum;
  while (level_of_sums_ != 0 && tracks_.size() * (coarsest_buckets << 2 * level_of_sums_) > room) --level_of_sums_;
}

void timeline_tracks::name_process(std::int64_t process, const traced_process& what) {
  processes_[{trace_, process}] = to_text(what);
}

void timeline_tracks::name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) {
  threads_[{trace_, process, thread}] = name;
}

bool timeline_tracks::knows_thread(std::int64_t process, std::uint32_t thread) const {
  return threads_.count({trace_, process, thread}) != 0;
}

void timeline_tracks::name_device(std::int64_t process, std::uint32_t device, const traced_device& what) {
  devices_[{trace_, process, device}] = what;
}

bool timeline_tracks::knows_device(std::int64_t process, std::uint32_t device) const {
  return devices_.count({trace_, process, device}) != 0;
}

void timeline_tracks::add_loss(std::int64_t /*process*/, const std::string& reason, std::uint64_t events) {
  if (pass_ == 1) losses_[reason] += events;
}

std::uint32_t timeline_tracks::find_track(const track_key& key) {
  const auto [entry, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(tracks_.size()));
  if (is_new) {
    tracks_.emplace_back();
    tracks_.back().is_queue = key.is_queue;
  }
  return entry->second;
}

std::uint32_t timeline_tracks::find_site(const traced_site& site) {
  if (const auto entry = by_address_.find(&site); entry != by_address_.end()) return entry->second;
  const auto [entry, is_new] = by_name_.try_emplace({site.name, site.kind}, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) sites_.push_back({site.name, site.kind, 0});
  if (std::uint32_t& color = sites_[entry->second].color; color == 0) color = site.color;
  by_address_.emplace(&site, entry->second);
  return entry->second;
}

void timeline_tracks::add(std::int64_t process, const traced_event& event) {
  if (event.as == traced_as::metric) {
    metrics_ += pass_ == 1 ? 1 : 0;
    return;
  }
  const bool is_operation = event.as == traced_as::operation;
  const bool is_on_queue = is_operation && event.site->device != 0;
  track_key key{trace_, process, is_on_queue, 0, event.thread};
  if (is_on_queue) {
    key.device = event.site->device;
    key.number = event.queue;
  }
  timeline_interval interval;
  interval.begin_ns = event.begin_ns;
  interval.end_ns = std::max(event.begin_ns, event.end_ns);
  interval.correlation = event.correlation;
  interval.bytes = event.bytes;
  interval.site = find_site(*event.site);
  interval.nests = event.as == traced_as::scope;
  if (is_operation && event.submitted_ns != 0 && event.submitted_ns <= event.begin_ns) {
    interval.submitted_ns = event.submitted_ns;
    interval.submitted_by = find_track({trace_, process, false, 0, event.thread});
  }
  timeline_track& track = tracks_[find_track(key)];
  if (pass_ == 1) {
    ++seen_;
    ++track.count;
    track.longest_ns = std::max(track.longest_ns, interval.duration_ns());
    ++durations_[adaptyst_histogram_bucket(interval.duration_ns())];
    first_ns_ = std::min(
        {first_ns_, interval.begin_ns, interval.submitted_ns != 0 ? interval.submitted_ns : interval.begin_ns});
    last_ns_ = std::max(last_ns_, interval.end_ns);
    if (seen_ <= max_kept_) track.kept.push_back(interval);
    else if (seen_ == max_kept_ + 1)
      for (timeline_track& each : tracks_) std::vector<timeline_interval>().swap(each.kept);
  } else if (interval.duration_ns() >= shortest_kept_ns_) track.kept.push_back(interval);
  else sum_up(track, interval);
}

std::uint64_t timeline_tracks::width_ns(unsigned level) const noexcept {
  const std::uint64_t buckets = coarsest_buckets << 2 * level;
  return std::max<std::uint64_t>(1, (range_ns() + buckets - 1) / buckets);
}

void timeline_tracks::sum_up(timeline_track& track, const timeline_interval& interval) {
  const std::uint64_t width = width_ns(level_of_sums_);
  const std::uint64_t begin = interval.begin_ns - first_ns_, end = interval.end_ns - first_ns_;
  ++track.summed;
  ++track.sums[static_cast<std::uint32_t>(begin / width)].count;
  std::uint64_t at = begin;
  do {
    const std::uint64_t next = std::min((at / width + 1) * width, end);
    track.sums[static_cast<std::uint32_t>(at / width)].add(interval.site, next - at);
    at = next;
  } while (at < end);
}

void timeline_tracks::finish() {
  if (pass_ == 1) choose_level_of_sums();
  std::vector<timeline_track> ordered;
  std::vector<std::uint32_t> places(tracks_.size());
  // of devices: whether there are several
  std::map<std::pair<std::uint32_t, std::string>, std::pair<std::int64_t, bool>> users;
  const auto device_of = [&](const track_key& key) {
    const auto found = devices_.find({key.trace, key.process, key.device});
    const std::string name = found != devices_.end() ? found->second.name : fmt::format("device {}", key.device);
    return labels_[key.trace].empty() ? name : labels_[key.trace] + ": " + name;
  };
  for (const auto& [key, number] : numbers_)
    if (key.is_queue) {
      const auto [user, is_new] = users.try_emplace({key.trace, device_of(key)}, key.process, false);
      if (user->second.first != key.process) user->second.second = true;
    }
  for (const auto& [key, number] : numbers_) {
    timeline_track& track = tracks_[number];
    places[number] = static_cast<std::uint32_t>(ordered.size());
    if (key.is_queue) {
      track.group = device_of(key);
      track.name = fmt::format("queue {}", key.number);
      if (users.at({key.trace, track.group}).second) track.name += fmt::format(" of process {}", key.process);
    } else {
      const auto process = processes_.find({key.trace, key.process});
      const std::string number_only = fmt::format("process {}", key.process);
      track.group = process == processes_.end() || process->second.empty() || process->second == number_only
                        ? number_only
                        : fmt::format("{} ({})", process->second, key.process);
      if (!labels_[key.trace].empty()) track.group.insert(0, labels_[key.trace] + ": ");
      const auto thread = threads_.find({key.trace, key.process, static_cast<std::uint32_t>(key.number)});
      const bool is_named = thread != threads_.end() && !thread->second.empty();
      track.name = is_named ? thread->second : fmt::format("thread {}", key.number);
    }
    ordered.push_back(std::move(track));
  }
  tracks_ = std::move(ordered);
  for (timeline_track& track : tracks_) {
    for (timeline_interval& interval : track.kept)
      if (interval.submitted_by != timeline_interval::no_track) interval.submitted_by = places[interval.submitted_by];
    std::sort(track.kept.begin(), track.kept.end(), [](const timeline_interval& a, const timeline_interval& b) {
      return std::tie(a.begin_ns, b.end_ns, a.site, a.correlation) <
             std::tie(b.begin_ns, a.end_ns, b.site, b.correlation);
    });
  }
  numbers_.clear();
}

std::size_t timeline_tracks::kept() const noexcept {
  std::size_t sum = 0;
  for (const timeline_track& track : tracks_) sum += track.kept.size();
  return sum;
}

void timeline_tracks::keep_at_most(std::size_t count) {
  std::vector<std::uint64_t> durations;
  durations.reserve(kept());
  for (const timeline_track& track : tracks_)
    for (const timeline_interval& interval : track.kept) durations.push_back(interval.duration_ns());
  if (durations.size() <= count) return;
  const auto longest_left_out = durations.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(durations.begin(), longest_left_out, durations.end(), std::greater<>());
  shortest_kept_ns_ = *longest_left_out + 1;
  for (timeline_track& track : tracks_) {
    const auto is_short = [&](const timeline_interval& interval) { return interval.duration_ns() < shortest_kept_ns_; };
    for (const timeline_interval& interval : track.kept)
      if (is_short(interval)) sum_up(track, interval);
    track.kept.erase(std::remove_if(track.kept.begin(), track.kept.end(), is_short), track.kept.end());
  }
}

void timeline_tracks::make_rows_of(std::uint32_t number, std::vector<timeline_row>& to) {
  timeline_track& track = tracks_[number];
  const std::vector<std::size_t> rows = find_rows(track.kept);
  const std::size_t first = to.size();
  std::uint32_t left = 0;
  for (std::size_t at = 0; at != rows.size(); ++at) {
    if (rows[at] == max_rows) {
      sum_up(track, track.kept[at]);
      continue;
    }
    while (to.size() <= first + rows[at]) to.push_back({number, {}});
    to[first + rows[at]].intervals.push_back(left);
    track.kept[left++] = track.kept[at];
  }
  track.kept.resize(left);
}

std::vector<timeline_row> timeline_tracks::make_rows() {
  std::vector<timeline_row> made;
  for (std::uint32_t number = 0; number != tracks_.size(); ++number) make_rows_of(number, made);
  return made;
}

}  // namespace adaptyst::lib
