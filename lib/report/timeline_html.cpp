// The HTML report of a trace. The page's data contains the coarse levels, so that the first picture needs nothing else.
// The intervals follow the script, column by column, as differences in LEB128: lib/report/page/intervals.js reads them.
#include "timeline_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "../model/words.hpp"
#include "../support/text.hpp"
#include "../support/varint.hpp"
#include "../trace/time_levels.hpp"
#include "page_shell.hpp"

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

// The columns of a row in addition to begins, durations and sites.
enum row_column : unsigned { has_correlation = 1, has_bytes = 2, has_call = 4, has_latency = 8 };

// Numbers of intervals over all rows, so that an operation can refer to the call that submitted it.
class packing {
 public:
  packing(const timeline_tracks& tracks, const std::vector<timeline_row>& rows) : tracks_(tracks), rows_(rows) {
    numbers_.resize(tracks.tracks().size());
    std::uint64_t first = 0;
    for (const timeline_row& row : rows) {
      std::vector<std::uint64_t>& numbers = numbers_[row.track];
      numbers.resize(tracks.tracks()[row.track].kept.size());
      for (const std::uint32_t at : row.intervals) numbers[at] = first++;
    }
  }

  std::string pack(std::vector<unsigned>& columns_of_rows) const {
    std::string made;
    for (const timeline_row& row : rows_) {
      const std::vector<timeline_interval>& all = tracks_.tracks()[row.track].kept;
      std::string begins, durations, sites, correlations, bytes, calls, wait_times;
      std::uint64_t end = tracks_.first_ns(), correlation = 0, call = 0;
      unsigned columns = 0;
      for (const std::uint32_t at : row.intervals) {
        const timeline_interval& interval = all[at];
        append_varint(begins, interval.begin_ns - end);
        append_varint(durations, interval.duration_ns());
        append_varint(sites, interval.site);
        append_varint(correlations, zigzag(std::exchange(correlation, interval.correlation), interval.correlation));
        append_varint(bytes, interval.bytes);
        end = interval.end_ns;
        if (interval.correlation != 0) columns |= has_correlation;
        if (interval.bytes != 0) columns |= has_bytes;
        const std::optional<std::uint64_t> found = find_call(interval);
        if (found) {
          columns |= has_call;
          append_varint(calls, zigzag(std::exchange(call, *found), *found) + 1);
        } else append_varint(calls, 0);
        if (interval.submitted_ns != 0 && !found) {
          columns |= has_latency;
          append_varint(wait_times, interval.begin_ns - interval.submitted_ns + 1);
          append_varint(wait_times, interval.submitted_by);
        } else append_varint(wait_times, 0);
      }
      made += begins;
      made += durations;
      made += sites;
      if ((columns & has_correlation) != 0) made += correlations;
      if ((columns & has_bytes) != 0) made += bytes;
      if ((columns & has_call) != 0) made += calls;
      if ((columns & has_latency) != 0) made += wait_times;
      columns_of_rows.push_back(columns);
    }
    return made;
  }

 private:
  // The interval of the submitting thread that began at the submission; the innermost of several.
  std::optional<std::uint64_t> find_call(const timeline_interval& operation) const {
    if (operation.submitted_ns == 0) return std::nullopt;
    const std::vector<timeline_interval>& all = tracks_.tracks()[operation.submitted_by].kept;
    const auto behind = std::upper_bound(
        all.begin(), all.end(), operation.submitted_ns,
        [](std::uint64_t time, const timeline_interval& interval) { return time < interval.begin_ns; });
    if (behind == all.begin() || std::prev(behind)->begin_ns != operation.submitted_ns) return std::nullopt;
    return numbers_[operation.submitted_by][static_cast<std::size_t>(std::prev(behind) - all.begin())];
  }

  const timeline_tracks& tracks_;
  const std::vector<timeline_row>& rows_;
  std::vector<std::vector<std::uint64_t>> numbers_;  // by track and place
};

json make_level(const time_level& level) {
  json at = json::array(), sites = json::array(), busy = json::array(), counts = json::array();
  std::uint64_t before = 0;
  for (const time_bucket& bucket : level.buckets) {
    at.push_back(bucket.number - std::exchange(before, bucket.number));
    sites.push_back(bucket.site);
    busy.push_back(bucket.busy);
    counts.push_back(bucket.count);
  }
  return {{"level", level.level},
          {"at", std::move(at)},
          {"sites", std::move(sites)},
          {"busy", std::move(busy)},
          {"counts", std::move(counts)}};
}

json make_row(std::uint32_t track, const std::vector<time_level>& levels) {
  json made = {{"track", track}, {"levels", json::array()}};
  for (const time_level& level : levels) made["levels"].push_back(make_level(level));
  return made;
}

std::string describe_resolution(const timeline_tracks& tracks) {
  std::uint64_t summed = 0;
  for (const timeline_track& track : tracks.tracks()) summed += track.summed;
  if (summed == 0) return fmt::format("all {} intervals, to the nanosecond", tracks.seen());
  const bool by_length = tracks.shortest_kept_ns() != 0;
  const std::string what =
      by_length ? fmt::format("are shorter than {} or lie more than {} deep",
                              duration(static_cast<double>(tracks.shortest_kept_ns())), timeline_tracks::max_rows)
                : fmt::format("lie more than {} deep", timeline_tracks::max_rows);
  return fmt::format(
      "{} of {} intervals, to the nanosecond; the other {}, which {}, are summed up over each {}, in separate rows",
      tracks.kept(), tracks.seen(), summed, what,
      duration(static_cast<double>(tracks.width_ns(tracks.level_of_sums()))));
}

json make_timeline(const timeline_tracks& tracks, const std::vector<timeline_row>& rows,
                   const std::vector<unsigned>& columns) {
  json sites = json::array(), list = json::array(), all = json::array();
  for (const timeline_site& site : tracks.sites()) {
    sites.push_back({site.name, to_string(site.kind)});
    if (site.color != 0) sites.back().push_back(to_color_text(site.color));
  }
  for (const timeline_track& track : tracks.tracks())
    list.push_back({{"group", track.group},
                    {"name", track.name},
                    {"is_queue", track.is_queue},
                    {"count", track.count},
                    {"longest_ns", track.longest_ns},
                    {"summed", track.summed}});
  for (std::size_t at = 0; at != rows.size(); ++at) {
    json row = make_row(rows[at].track, make_levels(tracks, rows[at]));
    row["count"] = rows[at].intervals.size();
    row["columns"] = columns[at];
    all.push_back(std::move(row));
  }
  json sums = json::array();
  for (std::uint32_t at = 0; at != tracks.tracks().size(); ++at)
    if (tracks.tracks()[at].summed != 0) sums.push_back(make_row(at, make_levels_of_sums(tracks, tracks.tracks()[at])));
  json widths = json::array();
  for (unsigned level = 0; level <= timeline_tracks::max_level; ++level) widths.push_back(tracks.width_ns(level));
  return {{"range_ns", tracks.range_ns()}, {"begin_ns", tracks.first_ns()}, {"widths", std::move(widths)},
          {"sites", std::move(sites)},     {"tracks", std::move(list)},     {"rows", std::move(all)},
          {"sums", std::move(sums)}};
}

std::string make_once(timeline_tracks& tracks, const timeline_about& about) {
  const std::vector<timeline_row> rows = tracks.make_rows();
  std::vector<unsigned> columns;
  const std::string intervals = packing(tracks, rows).pack(columns);
  std::vector<std::string> warnings;
  for (const std::string& warning : about.warnings) warnings.push_back(printable(warning));
  if (about.is_simulated) warnings.insert(warnings.begin(), "simulated: made by a generator, not measured");
  std::uint64_t lost = 0;
  for (const auto& [reason, events] : tracks.losses()) lost += events;
  if (lost != 0) warnings.push_back(fmt::format("{} events were lost, and are not in the trace", lost));
  if (tracks.metrics() != 0)
    warnings.push_back(fmt::format("{} values of metrics are in the trace, and are not shown here", tracks.metrics()));
  const json all = {{"page", "timeline"},
                    {"timeline", make_timeline(tracks, rows, columns)},
                    {"words",
                     {{"title", printable(about.title)},
                      {"subject", printable(about.subject)},
                      {"resolution", describe_resolution(tracks)},
                      {"warnings", std::move(warnings)}}}};
  return make_page(shell_of_timeline, all.dump(-1, ' ', false, json::error_handler_t::replace),
                   {{"intervals", intervals}});
}

}  // namespace

std::string to_html(timeline_tracks& tracks, const timeline_about& about, std::size_t max_bytes) {
  std::string page = make_once(tracks, about);
  // The size of an interval is known only after packing.
  while (page.size() > max_bytes && tracks.kept() != 0) {
    const double fraction = 0.95 * static_cast<double>(max_bytes) / static_cast<double>(page.size());
    tracks.keep_at_most(static_cast<std::size_t>(static_cast<double>(tracks.kept()) * fraction));
    page = make_once(tracks, about);
  }
  return page;
}

}  // namespace adaptyst::lib
