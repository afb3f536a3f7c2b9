// The HTML report of variability: a strip of windows for each device, kernel, region or rank, and boxes of durations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "../analyse/variability/fields.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "page_shell.hpp"

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t max_page_strips = 64;
constexpr std::size_t max_boxes = 200;
constexpr std::size_t max_worst = 50;
// Lines of parallel coordinates: this number with a flag, and this number without.
constexpr std::size_t max_lines = 2000;
// The maximum of all strips together. If there are more windows, a cell shows the worst of several windows.
constexpr std::uint64_t max_cells = 60'000;

struct cell {
  const variability_window* worst = nullptr;
  std::uint64_t windows = 0, flagged = 0, events = 0;
};

using strip = std::map<std::uint64_t, cell>;

std::string label(const variability_result& result, std::uint32_t group, std::string_view name) {
  return result.settings.by_name() ? printable(std::string(name)) : group_name(result, group);
}

bool is_worse(const variability_result& result, double a, double b) {
  return result.settings.metric == variability_metric::busy ? a < b : a > b;
}

json find_why(const variability_result& result, const variability_window& window) {
  if (window.reason == variability_window::no_reason) return nullptr;
  return printable(result.reasons[window.reason].text);
}

json make_strip(const variability_result& result, const std::pair<std::uint32_t, std::string_view>& key,
                const strip& cells) {
  json made = {{"label", label(result, key.first, key.second)}, {"group", key.first}, {"cells", json::array()}};
  for (const variability_fences& fences : result.fence_list)
    if (fences.group == key.first && fences.name == key.second)
      made["fences"] = {
          {"q1", fences.at.q1}, {"q3", fences.at.q3}, {"lower", fences.at.lower}, {"upper", fences.at.upper}};
  // The cell; start, value, stalls and largest name of its worst window; then the sums over its windows.
  for (const auto& [at, cell] : cells)
    made["cells"].push_back({at, cell.worst->start_ns, *cell.worst->value,
                             result.settings.has_stalls() ? json(cell.worst->stall_ns) : json(nullptr),
                             std::string(cell.worst->longest), cell.windows, cell.flagged, cell.events,
                             find_why(result, *cell.worst)});
  return made;
}

struct strip_layout {
  std::uint64_t first_ns = 0, windows_in_cell = 1;
  std::size_t left_out = 0;
  std::map<std::pair<std::uint32_t, std::string_view>, std::size_t> places;  // of series
};

json make_strips(const variability_result& result, strip_layout& layout) {
  std::map<std::pair<std::uint32_t, std::string_view>, strip> all;
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint64_t> flagged;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
  for (const variability_window& window : result.windows) {
    if (!window.value) continue;
    flagged[{window.group, window.name}] += window.is_flagged ? 1 : 0;
    const std::uint64_t number = (window.start_ns - result.grid.origin_ns) / result.grid.width_ns;
    first = std::min(first, number);
    last = std::max(last, number + 1);
  }
  // The strips with most flags first; otherwise in their order.
  std::vector<std::pair<std::uint64_t, std::pair<std::uint32_t, std::string_view>>> order;
  order.reserve(flagged.size());
  for (const auto& [key, count] : flagged) order.emplace_back(count, key);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  layout.left_out = order.size() - std::min(order.size(), max_page_strips);
  order.resize(std::min(order.size(), max_page_strips));
  const std::uint64_t room = max_cells / std::max<std::size_t>(1, order.size());
  const std::uint64_t windows_in_cell = last == 0 ? 1 : std::max<std::uint64_t>(1, (last - first + room - 1) / room);
  layout.windows_in_cell = windows_in_cell;
  if (last != 0) layout.first_ns = result.grid.origin_ns + first * result.grid.width_ns;
  for (const auto& [count, key] : order) all[key];
  for (const variability_window& window : result.windows) {
    const auto found = all.find({window.group, window.name});
    if (!window.value || found == all.end()) continue;
    cell& to =
        found->second[((window.start_ns - result.grid.origin_ns) / result.grid.width_ns - first) / windows_in_cell];
    if (to.worst == nullptr || is_worse(result, *window.value, *to.worst->value)) to.worst = &window;
    ++to.windows;
    to.flagged += window.is_flagged ? 1 : 0;
    to.events += window.count;
  }
  json made = json::array();
  for (const auto& [key, cells] : all) {
    layout.places[key] = made.size();
    made.push_back(make_strip(result, key, cells));
  }
  return made;
}

json find_place(const strip_layout& layout, const variability_window& window) {
  const auto found = layout.places.find({window.group, window.name});
  return found != layout.places.end() ? json(found->second) : json(nullptr);
}

json make_worst(const variability_result& result, const strip_layout& layout) {
  json made = json::array();
  for (const std::size_t at : result.top) {
    if (made.size() == max_worst) break;
    const variability_window& window = result.windows[at];
    const bool has_stalls = result.settings.has_stalls(), has_any = window.count != 0;
    made.push_back({window.start_ns, label(result, window.group, window.name), *window.value, window.count,
                    has_any ? json(window.p50) : json(nullptr), has_any ? json(window.p95) : json(nullptr),
                    has_stalls ? json(window.stall_ns) : json(nullptr),
                    has_stalls ? json(window.copy_ns) : json(nullptr), printable(std::string(window.longest)),
                    window.longest_share, window.is_flagged, find_why(result, window), find_place(layout, window)});
  }
  return made;
}

// The flagged windows, and others at equal distances.
json make_windows(const variability_result& result, const strip_layout& layout) {
  std::uint64_t others = 0;
  for (const variability_window& window : result.windows)
    others += window.value && !window.is_flagged && !find_place(layout, window).is_null() ? 1 : 0;
  const std::uint64_t step = (others + max_lines - 1) / max_lines;
  json made = json::array();
  std::uint64_t number = 0, flagged = 0;
  const bool is_duration = result.settings.metric == variability_metric::duration;
  for (const variability_window& window : result.windows) {
    const json place = find_place(layout, window);
    if (!window.value || place.is_null()) continue;
    if (window.is_flagged ? flagged++ >= max_lines : number++ % step != 0) continue;
    const bool has_stalls = result.settings.has_stalls();
    const std::optional<double> gap = has_stalls ? find_launch_gap(result, window) : std::nullopt;
    const std::optional<std::uint64_t> bytes = find_copied_bytes(result, window);
    const json median = window.count != 0 ? json(window.p50) : json(nullptr);
    made.push_back({window.start_ns, place, window.is_flagged ? 1 : 0, is_duration ? json(*window.value) : median,
                    has_stalls ? json(window.stall_ns) : json(nullptr), window.busy_ns,
                    gap ? json(*gap) : json(nullptr), bytes ? json(*bytes) : json(nullptr)});
  }
  return made;
}

json make_boxes(const variability_result& result) {
  json made = json::array();
  for (const variability_name& name : result.names) {
    if (made.size() == max_boxes) break;
    made.push_back({{"name", printable(name.name)},
                    {"on", group_name(result, name.group)},
                    {"n", name.count},
                    {"total", name.total},
                    {"mean", name.mean},
                    {"cv", name.mean > 0 ? json(name.std / name.mean) : json(nullptr)},
                    {"min", name.min},
                    {"p25", name.p25},
                    {"p50", name.p50},
                    {"p75", name.p75},
                    {"p95", name.p95},
                    {"p99", name.p99},
                    {"max", name.max}});
  }
  return made;
}

json make_copies(const variability_result& result) {
  json made = json::array();
  for (const variability_copies& copies : result.copies) {
    if (made.size() == max_boxes) break;
    made.push_back({group_name(result, copies.group),
                    copies.direction ? json(word_at(*copies.direction)) : json(nullptr), copies.count, copies.total_ns,
                    copies.bytes ? json(*copies.bytes) : json(nullptr)});
  }
  return made;
}

json make_waits(const variability_result& result) {
  json made = json::array();
  for (const variability_wait& wait : result.waits) {
    if (made.size() == max_boxes) break;
    made.push_back({group_name(result, wait.group), printable(wait.name), wait.count, wait.windows, wait.r,
                    wait.copy_ns, wait.delay_ns});
  }
  return made;
}

// `shown`: number of windows in "Windows by quantity".
std::vector<std::string> make_notes(const variability_result& result, const strip_layout& layout, std::size_t shown) {
  std::vector<std::string> notes;
  std::uint64_t flagged = 0;
  for (const variability_window& window : result.windows) flagged += window.is_flagged ? 1 : 0;
  notes.push_back(fmt::format(
      "{} of {} windows of {} are flagged: they are beyond a quartile by {} times the interquartile range of their "
      "{}{}, and by more than chance.",
      flagged, result.windows.size(), duration(static_cast<double>(result.grid.width_ns)), result.settings.iqr,
      word_at(result.settings.by), result.settings.metric == variability_metric::duration ? ", of logarithms" : ""));
  if (layout.windows_in_cell > 1)
    notes.push_back(fmt::format("A cell of a strip shows the worst of up to {} windows.", layout.windows_in_cell));
  if (layout.left_out != 0)
    notes.push_back(fmt::format("{} strips with the fewest flags are omitted; the JSON has them.", layout.left_out));
  if (result.names.size() > max_boxes)
    notes.push_back(
        fmt::format("{} names with the least time are omitted; the JSON has them.", result.names.size() - max_boxes));
  if (shown < result.windows.size())
    notes.push_back(
        fmt::format("\"Windows by quantity\" shows {} of {} windows: the earliest {} flagged windows, and others at "
                    "equal distances.",
                    shown, result.windows.size(), std::min<std::uint64_t>(flagged, max_lines)));
  return notes;
}

json make_findings(const variability_result& result) {
  json findings = json::array();
  for (const variability_finding& finding : result.findings)
    findings.push_back({{"text", printable(finding.text)},
                        {"kind", word_at(finding.kind)},
                        {"group", finding.group ? json(*finding.group) : json(nullptr)}});
  return findings;
}

json make_axes(const variability_result& result) {
  const bool is_duration = result.settings.metric == variability_metric::duration;
  json axes = json::array();
  axes.push_back(json::array({is_duration ? "duration" : "median", is_duration ? "value" : "time"}));
  for (const char* const name : {"stall", "busy", "launch gap"}) axes.push_back(json::array({name, "time"}));
  axes.push_back(json::array({"bytes", "bytes"}));
  return axes;
}

}  // namespace

std::string to_html(const variability_result& result, const std::optional<timeline_link>& timeline) {
  strip_layout layout;
  json strips = make_strips(result, layout);
  static constexpr std::array headings = {"SLOWER", "STALL", "BUSY", "GAP"};
  std::vector<std::string> warnings;
  if (result.is_simulated) warnings.emplace_back("simulated: made by a generator, not measured");
  for (const std::string& remark : result.remarks) warnings.push_back(printable(remark));
  json windows = make_windows(result, layout);
  const std::size_t shown = windows.size();
  std::string title = result.traces.empty() ? "variability" : result.traces.front();
  title = title.substr(title.rfind('/') + 1);
  if (result.traces.size() > 1) title += fmt::format(" and {} more", result.traces.size() - 1);
  const json all = {
      {"page", "variability"},
      {"variability",
       {{"metric", word_at(result.settings.metric)},
        {"has_regions", result.settings.has_regions},
        {"by", word_at(result.settings.by)},
        {"window_ns", result.grid.width_ns},
        {"origin_ns", result.grid.origin_ns},
        {"windows_in_cell", layout.windows_in_cell},
        {"timeline", timeline ? json{{"file", timeline->file}, {"first_ns", timeline->first_ns}} : json(nullptr)},
        {"first_ns", layout.first_ns},
        {"strips", std::move(strips)},
        {"worst_heading", headings[static_cast<std::size_t>(result.settings.metric)]},
        {"worst", make_worst(result, layout)},
        {"axes", make_axes(result)},
        {"windows", std::move(windows)},
        {"copies", make_copies(result)},
        {"waits", make_waits(result)},
        {"boxes", make_boxes(result)}}},
      {"words",
       {{"title", printable(title)},
        {"subject", fmt::format("{} by {}", word_at(result.settings.metric), word_at(result.settings.by))},
        {"warnings", std::move(warnings)},
        {"findings", make_findings(result)},
        {"totals", list_totals(result)},
        {"notes", make_notes(result, layout, shown)}}}};
  return make_page(shell_of_variability, all.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string to_html(const run_comparison& of) {
  std::vector<std::string> warnings;
  if (of.is_simulated) warnings.emplace_back("simulated: made by a generator, not measured");
  for (const std::string& remark : of.remarks) warnings.push_back(printable(remark));
  const json words = {{"title", fmt::format("{} runs", of.runs.size())},
                      {"subject", fmt::format("comparison of runs by {}", word_at(of.by))},
                      {"warnings", std::move(warnings)},
                      {"omitted", of.names.size() - std::min(of.names.size(), max_boxes)}};
  run_comparison shown = of;
  shown.names.resize(std::min(of.names.size(), max_boxes));
  return make_page(shell_of_variability,
                   fmt::format(R"({{"page":"variability","comparison":{},"words":{}}})", to_json(shown),
                               words.dump(-1, ' ', false, json::error_handler_t::replace)));
}

}  // namespace adaptyst::lib
