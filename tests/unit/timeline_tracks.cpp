// Tracks and rows of a timeline: every interval is in one place, whatever is kept and whatever is summed up.
#include <catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "report/timeline_html.hpp"
#include "trace/time_levels.hpp"
#include "trace/timeline_tracks.hpp"

using namespace adaptyst;
using namespace adaptyst::lib;

namespace {

constexpr std::int64_t process = 7;

struct source {
  std::vector<traced_site> sites{{"step", region_kind::region, 0, nullptr},
                                 {"launch", region_kind::function, 0, nullptr},
                                 {"kernel", region_kind::kernel, 1, nullptr}};
  std::vector<traced_event> events;

  void add(traced_as as, std::size_t site, std::uint64_t begin, std::uint64_t end, std::uint32_t thread = 1) {
    traced_event made;
    made.as = as;
    made.site = &sites[site];
    made.thread = thread;
    made.begin_ns = begin;
    made.end_ns = end;
    events.push_back(made);
  }
  void read(timeline_tracks& to) const {
    to.begin_trace({});
    to.name_device(process, 1, {"gpu0", 0, {}});
    for (const traced_event& event : events) to.add(process, event);
  }
};

void read_as_needed(const source& from, timeline_tracks& to) {
  from.read(to);
  if (to.needs_second_pass()) {
    to.begin_second_pass();
    from.read(to);
  }
  to.finish();
}

// Each kept interval stands in one row of its track, and rows do not overlap.
std::size_t check_rows(const timeline_tracks& tracks, const std::vector<timeline_row>& rows) {
  std::size_t placed = 0;
  for (const timeline_row& row : rows) {
    std::uint64_t free_from = 0;
    for (const std::uint32_t at : row.intervals) {
      const timeline_interval& interval = tracks.tracks()[row.track].kept[at];
      CHECK(interval.begin_ns >= free_from);
      free_from = interval.end_ns;
      ++placed;
    }
  }
  return placed;
}

std::uint64_t count_all(const std::vector<time_level>& levels, std::size_t at) {
  std::uint64_t sum = 0;
  for (const time_bucket& bucket : levels[at].buckets) sum += bucket.count;
  return sum;
}

// How many intervals there are in all, one by one and summed up; and how much of their time.
std::pair<std::uint64_t, std::uint64_t> count(const timeline_tracks& tracks) {
  std::uint64_t number = 0, time = 0;
  for (const timeline_track& track : tracks.tracks()) {
    for (const timeline_interval& interval : track.kept) time += interval.duration_ns();
    number += track.kept.size();
    std::uint64_t summed = 0;
    for (const auto& [bucket, sum] : track.sums) {
      summed += sum.count;
      time += sum.sum_ns;
    }
    CHECK(summed == track.summed);
    number += summed;
    CHECK(track.kept.size() + summed == track.count);
  }
  return {number, time};
}

source make_random(std::size_t events) {
  source made;
  std::mt19937 chance(5);
  std::uint64_t now = 1000;
  for (std::size_t at = 0; at != events; ++at) {
    const std::uint64_t took = 1 + chance() % 5000;
    made.add(traced_as::scope, at % 2, now, now + took, static_cast<std::uint32_t>(1 + at % 3));
    if (at % 4 == 0) {
      made.add(traced_as::operation, 2, now + took, now + 2 * took);
      made.events.back().submitted_ns = now;
      made.events.back().queue = at % 8;
    }
    now += 1 + chance() % 3000;
  }
  return made;
}

}  // namespace

TEST_CASE("what nests stands below what it is nested in") {
  source from;
  from.add(traced_as::scope, 1, 20, 30);
  from.add(traced_as::scope, 0, 10, 100);
  from.add(traced_as::scope, 1, 30, 100);
  from.add(traced_as::scope, 0, 100, 110);
  from.add(traced_as::handle, 0, 15, 105);
  timeline_tracks tracks;
  read_as_needed(from, tracks);
  const std::vector<timeline_row> rows = tracks.make_rows();
  REQUIRE(rows.size() == 3);
  CHECK(check_rows(tracks, rows) == 5);
  const auto begins = [&](std::size_t row) {
    std::vector<std::uint64_t> made;
    for (const std::uint32_t at : rows[row].intervals) made.push_back(tracks.tracks()[0].kept[at].begin_ns);
    return made;
  };
  CHECK(begins(0) == std::vector<std::uint64_t>{10, 100});
  CHECK(begins(1) == std::vector<std::uint64_t>{20, 30});
  CHECK(begins(2) == std::vector<std::uint64_t>{15});
}

TEST_CASE("operations of a queue that overlap get rows, and what lies too deep is summed up") {
  source from;
  for (std::uint64_t at = 0; at != timeline_tracks::max_rows + 4; ++at)
    from.add(traced_as::operation, 2, 100 + at, 1000 + at);
  timeline_tracks tracks;
  read_as_needed(from, tracks);
  const std::vector<timeline_row> rows = tracks.make_rows();
  CHECK(rows.size() == timeline_tracks::max_rows);
  CHECK(check_rows(tracks, rows) == timeline_tracks::max_rows);
  CHECK(tracks.tracks()[0].summed == 4);
  CHECK(tracks.tracks()[0].is_queue);
  CHECK(count(tracks) ==
        std::pair<std::uint64_t, std::uint64_t>(timeline_tracks::max_rows + 4, 900 * (timeline_tracks::max_rows + 4)));
}

TEST_CASE("a trace with more than can be kept is read twice, and nothing is lost") {
  const source from = make_random(4000);
  timeline_tracks all, bounded(1000);
  read_as_needed(from, all);
  from.read(bounded);
  REQUIRE(bounded.needs_second_pass());
  bounded.begin_second_pass();
  from.read(bounded);
  bounded.finish();
  CHECK(all.kept() == 5000);
  CHECK(bounded.kept() <= 1000);
  CHECK(bounded.kept() >= 900);
  CHECK(bounded.shortest_kept_ns() > 0);
  CHECK(count(bounded) == count(all));
  const std::vector<timeline_row> rows = bounded.make_rows();
  CHECK(check_rows(bounded, rows) == bounded.kept());
  CHECK(count(bounded) == count(all));

  // The same of the same, whether it was known at the first reading or later.
  all.keep_at_most(1000);
  CHECK(all.kept() <= 1000);
  CHECK(all.make_rows().size() <= rows.size() + 3);
  CHECK(count(all).first == 5000);
}

TEST_CASE("each level has all intervals and all of their time") {
  const source from = make_random(4000);
  timeline_tracks tracks;
  read_as_needed(from, tracks);
  for (const timeline_row& row : tracks.make_rows()) {
    const std::vector<time_level> levels = make_levels(tracks, row);
    REQUIRE(!levels.empty());
    CHECK(count_all(levels, 0) == row.intervals.size());
    std::uint64_t time = 0;
    for (const std::uint32_t at : row.intervals) time += tracks.tracks()[row.track].kept[at].duration_ns();
    double busy = 0;
    for (const time_bucket& bucket : levels[0].buckets) busy += bucket.busy;
    const double width = static_cast<double>(tracks.width_ns(0));
    CHECK(busy * width / 255 >= static_cast<double>(time) * 0.999);
    CHECK(busy * width / 255 <=
          static_cast<double>(time) + static_cast<double>(levels[0].buckets.size()) * width / 255);
  }
  tracks.keep_at_most(10);
  tracks.make_rows();
  for (const timeline_track& track : tracks.tracks())
    for (std::size_t at = 0; at != tracks.level_of_sums() + 1; ++at)
      CHECK(count_all(make_levels_of_sums(tracks, track), at) == track.summed);
}

TEST_CASE("what has most of a bucket is found, where it has more than half") {
  summed_intervals sum;
  for (int at = 0; at != 100; ++at) sum.add(at % 3 == 0 ? 1U + static_cast<std::uint32_t>(at) : 1000U, 10);
  CHECK(sum.site == 1000);
  CHECK(sum.sum_ns == 1000);
}

TEST_CASE("a page is made smaller until it fits, and says what it has") {
  timeline_tracks tracks;
  read_as_needed(make_random(40000), tracks);
  timeline_tracks same(60'000);
  read_as_needed(make_random(40000), same);
  const std::string whole = to_html(tracks, {"run", "made here", {}, true});
  CHECK(whole.find("all 50000 intervals, to the nanosecond") != std::string::npos);
  const std::size_t limit = whole.size() * 3 / 4;
  const std::string less = to_html(same, {"run", "made here", {}, true}, limit);
  CHECK(less.size() <= limit);
  CHECK(less.find(" of 50000 intervals, to the nanosecond; the other ") != std::string::npos);
  CHECK(count(same).first == 50000);
}

TEST_CASE("an empty trace has a page") {
  timeline_tracks tracks;
  read_as_needed({}, tracks);
  CHECK(to_html(tracks, {"run", "nothing", {}, false}).find("all 0 intervals") != std::string::npos);
}
