// Fits the table of regions into a width: columns as wide as their figures, names cut in their middle.
#include "parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "../model/unmarked.hpp"
#include "../model/words.hpp"
#include "../support/text.hpp"
#include "region_figures.hpp"
#include "region_tree.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* separator = " |";
constexpr std::size_t min_name_columns = 8;
constexpr std::size_t wanted_name_columns = 24;  // columns and bars make room for names up to this
constexpr std::size_t max_device_columns = 7;
constexpr std::size_t min_bar_columns = 4, max_bar_columns = 8;
constexpr std::size_t max_largest = 10;  // rows of the list before a long tree

// The number of characters at the beginning that all texts have in common.
std::size_t common_beginning(const std::set<std::string>& all) {
  const std::string &first = *all.begin(), &last = *all.rbegin();  // the two with the shortest common beginning
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  const auto count = static_cast<std::size_t>(std::count_if(first.begin(), differ, begins_character));
  return differ != first.end() && !begins_character(*differ) ? count - 1 : count;
}

// Marks in the rows, in the order of the legend.
enum mark { of_estimate, of_operation, of_error, of_unknown, of_cut, of_level, of_open, marks_count };
constexpr const char* mark_texts[marks_count] = {
    "~: an estimate, since an overhead budget has left out events",
    "~ before a device: asynchronous, so it may take longer than the region that it is nested in",
    "±: the total is within this range in 95 of 100 cases",
    "—: not known, or not applicable",
    "…: a name is cut here",
    "3>: nested 3 levels deep",
    "(open): has not ended",
};

bool has(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

// The beginning of a text, and the characters after `from`.
std::string cut_around(const std::string& text, std::size_t max_columns, std::size_t from) {
  const std::size_t head = max_columns / 3, rest = max_columns - head - 1, all = width(text);
  if (all <= from + rest) return characters(text, 0, head) + "…" + characters(text, all - rest, rest);
  return characters(text, 0, head) + "…" + characters(text, from, rest - 1) + "…";
}

class table {
 public:
  table(const profile& profile, const table_options& how)
      : of_(profile),
        columns_(std::max(how.columns, min_table_columns)),
        how_(how),
        behind_figures_(columns_ >= 94 ? figures.size() : mean_at),
        bar_columns_(how.lines == 0    ? 0
                     : columns_ >= 100 ? max_bar_columns
                                       : min_bar_columns),
        form_(find_figure_form(profile)),
        shown_(regions_to_show(profile, how)) {
    for (std::size_t at = 0; at != figures.size(); ++at) figure_columns_[at] = figures[at].min_columns;
    widen_for(make_unmarked_figures(of_));
    std::size_t longest = width(unmarked_name);
    for (const region_node& node : shown_.nodes) {
      longest = std::max(longest, 2 * node.depth + width(printable(node.name)));
      if (node.row == nullptr) continue;
      widen_for(make_figures(*node.row, form_));
      device_columns_ = std::max(device_columns_, width(place_of(*node.row)));
    }
    device_columns_ = std::min(device_columns_, max_device_columns);
    make_room(std::min(longest, wanted_name_columns));
    name_columns_ = std::max(free_columns(), min_name_columns);
  }

  region_table_text text() {
    write_headings();
    const std::vector<std::string> names = list_names(shown_.nodes);
    for (std::size_t at = 0; at != names.size(); ++at) write(shown_.nodes[at], names[at]);
    if (shown_.nodes.size() > max_largest && (how_.verbose || is_longer_than_screen())) out_.insert(0, largest_text());
    if (of_.regions.empty()) out_ += "(no marker ran to its end)\n";
    const std::string left_out = left_out_text(of_, shown_);
    if (!left_out.empty()) out_ += wrapped(left_out, columns_);
    write_unmarked();
    return {std::move(out_), how_.verbose ? full_legend() : short_legend()};
  }

 private:
  // The columns that all but the names leave.
  std::size_t free_columns() const {
    std::size_t taken = device_columns_ + 1 + width(separator);
    for (std::size_t at = first_figure_; at != behind_figures_; ++at) taken += figure_columns_[at];
    for (const column& column : parts) taken += column.min_columns;
    if (bar_columns_ != 0) taken += 1 + bar_columns_;
    return columns_ - std::min(columns_, taken);
  }

  // Narrows the table in steps, until names have `wanted` columns. The steps: shorter bars, less space between figures,
  // no P99, no MEAN, no THR, no bars. A table of 100 columns or more keeps THR; if it is for a file, all columns.
  void make_room(std::size_t wanted) {
    if (bar_columns_ != 0 && free_columns() < wanted) bar_columns_ = min_bar_columns;
    const bool is_narrow = columns_ < 100;
    if (free_columns() >= wanted || (how_.lines == 0 && !is_narrow)) return;
    for (std::size_t at = 0; at != figures.size(); ++at) figure_columns_[at] = width(figures[at].heading) + 1;
    widen_for(make_unmarked_figures(of_));
    for (const region_node& node : shown_.nodes)
      if (node.row != nullptr) widen_for(make_figures(*node.row, form_));
    while (free_columns() < wanted && behind_figures_ > mean_at) --behind_figures_;
    if (free_columns() < wanted && is_narrow) first_figure_ = 1;
    if (free_columns() < wanted) bar_columns_ = 0;
  }

  std::string place_of(const region& row) const { return place_label(row.kind, device_label(of_, row.device)); }

  // A figure that is wider than usual, such as the threads of a hundred thousand processes, makes the names narrower.
  void widen_for(const region_figures& values) {
    for (std::size_t at = 0; at != values.size(); ++at)
      figure_columns_[at] = std::max(figure_columns_[at], width(values[at]) + 1);
  }

  // Values for the columns, from the left.
  std::string figures_line(const region_figures& values) {
    std::string line;
    for (std::size_t at = first_figure_; at != behind_figures_; ++at) line += right(values[at], figure_columns_[at]);
    note_marks(line);
    return line;
  }
  std::string parts_line(const context_parts& values) {
    std::string line = separator;
    for (std::size_t at = 0; at != parts.size(); ++at) line += right(values[at], parts[at].min_columns);
    note_marks(line);
    return line;
  }
  void note_marks(const std::string& values) {
    if (has(values, "~")) marks_[of_estimate] = true;
    if (has(values, "—")) marks_[of_unknown] = true;
  }
  void add_line(const std::string& text) { out_ += format_line(text, columns_); }
  // A row, with a bar at its end on a terminal.
  void add_row(const std::string& name, const std::string& place, const std::string& values, double share) {
    const std::string line = name + " " + fitted(place, device_columns_) + values;
    const std::string drawn = bar_columns_ != 0 ? bar(share, bar_columns_) : "";
    if (drawn.empty()) return add_line(line);
    out_ += fitted(line, columns_ - bar_columns_) + (how_.has_colour ? painted(drawn, text_style::cyan) : drawn) + "\n";
  }

  void write_headings() {
    region_figures above;
    for (std::size_t at = 0; at != figures.size(); ++at) above[at] = figures[at].heading;
    const std::string line = fitted("REGION", name_columns_) + " " + fitted("ON", device_columns_) +
                             figures_line(above) + parts_line({parts[0].heading, parts[1].heading, parts[2].heading});
    out_ += painted_heading(format_line(line, columns_), how_.has_colour);
  }

  // A row may have lines of details, and they count.
  bool is_longer_than_screen() const {
    return how_.lines != 0 && static_cast<std::size_t>(std::count(out_.begin(), out_.end(), '\n')) > how_.lines;
  }

  // A flat list before a tree that is too long for one screen.
  std::string largest_text() const {
    std::vector<const region*> all;
    for (const region& row : of_.regions)
      if (row.durations.count() != 0) all.push_back(&row);
    std::stable_sort(all.begin(), all.end(), [](const region* a, const region* b) { return a->self_ns > b->self_ns; });
    all.resize(std::min(all.size(), max_largest));
    text_table listed({{"LARGEST BY SELF", column_kind::name, min_name_columns},
                       {"ON", column_kind::text, 0, max_device_columns},
                       {"CALLS"},
                       {"SELF"},
                       {"%RUN"}});
    for (const region* const row : all) {
      const region_figures values = make_figures(*row, form_);
      const auto self = static_cast<double>(row->self_ns);
      listed.add({row->path, place_of(*row), values[1], time_cell(self),
                  percent_cell(form_.wall_ns > 0 ? std::optional(self / form_.wall_ns) : std::nullopt)});
    }
    return listed.text({columns_, how_.has_colour}) + "\n";
  }

  // Two columns a level, up to half of the width of names; then the level as a number.
  std::string format_indent(const region_node& node) const {
    const std::size_t max_columns = name_columns_ / 2;
    const std::string spaces(2 * node.depth, ' ');
    return spaces.size() > max_columns ? right(fmt::format("{}> ", node.depth), max_columns) : spaces;
  }

  // Names that look the same without their middle are shown from the place at which they differ.
  std::vector<std::string> list_names(const std::vector<region_node>& all) const {
    std::vector<std::string> made;
    std::map<std::string, std::set<std::string>> alike;
    for (const region_node& node : all) {
      const std::string indent = format_indent(node), name = printable(node.name);
      made.push_back(indent + cut_in_middle(name, name_columns_ - indent.size()));
      alike[made.back()].insert(name);
    }
    for (std::size_t at = 0; at != all.size(); ++at) {
      const std::set<std::string>& same = alike.at(made[at]);
      const std::string indent = format_indent(all[at]);
      if (same.size() == 1 || width(*same.begin()) <= name_columns_ - indent.size()) continue;
      made[at] = indent + cut_around(printable(all[at].name), name_columns_ - indent.size(), common_beginning(same));
    }
    return made;
  }

  void write(const region_node& node, const std::string& name) {
    if (has(name, "…") && !has(printable(node.name), "…")) marks_[of_cut] = true;
    if (2 * node.depth > name_columns_ / 2) marks_[of_level] = true;
    if (node.row == nullptr) write_open(name);
    else write(node, *node.row, name);
  }

  void write(const region_node& node, const region& row, const std::string& name) {
    const std::size_t indent = std::min(2 * node.depth, name_columns_ / 2) + 4;
    if (row.count == 0 && row.attributes.empty() && !row.heap) {
      write_open(name);
      return;
    }
    // An instant event has no time, and numbers outside all regions have none.
    const bool is_timed = row.durations.count() != 0;
    const std::string figures = figures_line(make_figures(row, form_)), place = place_of(row);
    if (place.front() == '~') marks_[of_operation] = true;
    add_row(name, place, is_timed ? figures + parts_line(make_parts(row.context)) : figures, share_of(row.total_ns));
    write_error(row, indent);
    if (how_.verbose)
      if (const std::string spread = distribution_text(row); !spread.empty()) out_ += wrapped(spread, columns_, indent);
    if (const std::string spread = spread_text(of_, row); !spread.empty()) out_ += wrapped(spread, columns_, indent);
    if (const std::string waits = collective_text(of_, row); !waits.empty()) out_ += wrapped(waits, columns_, indent);
    out_ += attribute_lines(row, columns_, indent);
    if (const std::string heap = heap_text(row); !heap.empty()) out_ += wrapped(heap, columns_, indent);
    if (row.roofline) out_ += wrapped(roofline_text(*row.roofline), columns_, indent);
    if (row.context && row.context->cycles.value_or(0) != 0)
      out_ += wrapped(counters_text(*row.context), columns_, indent);
  }

  void write_open(const std::string& name) {
    marks_[of_open] = true;
    add_line(name + " (open)");
  }

  // The error of the total of a region with sampled events, if it is large; 95 % of totals are within the error.
  void write_error(const region& row, std::size_t indent) {
    constexpr double worth_a_line = 0.02;
    const double error = 2 * row.total_error_ns().value_or(0);
    if (!row.timed_events || error <= worth_a_line * static_cast<double>(row.total_ns)) return;
    marks_[of_error] = true;
    add_line(std::string(indent, ' ') + fmt::format("total ± {} (95 %)", duration(error)));
  }

  void write_unmarked() {
    const unmarked_time rest = compute_unmarked(of_);
    add_row(fitted(unmarked_name, name_columns_), "host",
            figures_line(make_unmarked_figures(of_)) + parts_line({"—", "—", "—"}),
            rest.state == unmarked_state::known ? share_of(rest.ns) : 0);
  }

  double share_of(std::uint64_t ns) const { return form_.wall_ns > 0 ? static_cast<double>(ns) / form_.wall_ns : 0; }

  // One line with the marks in the table.
  std::string short_legend() const {
    std::string line = "SELF: without nested regions";
    const bool has_both = marks_[of_estimate] && marks_[of_operation];
    if (has_both) line += "; ~: asynchronous device, or estimate";
    else if (marks_[of_operation]) line += "; ~: asynchronous device";
    else if (marks_[of_estimate]) line += "; ~: estimate";
    if (marks_[of_unknown]) line += "; —: unknown";
    const std::string more = "; more: --verbose, or verbose=yes";
    if (width(line + more) <= columns_) line += more;
    return format_line(line, columns_);
  }

  std::string full_legend() const {
    std::string made =
        wrapped(fmt::format("TIME: of all calls on all threads, nested regions included; SELF: without them; %RUN: "
                            "TIME of the run's wall time{}",
                            behind_figures_ == figures.size() ? "; P99: 99 of 100 calls were shorter" : ""),
                columns_);
    made += wrapped(unmarked_legend(of_), columns_);
    const std::string names = fmt::format("{}, {}, {}", parts[0].heading, parts[1].heading, parts[2].heading);
    made += wrapped(fmt::format("{}: {}", names, parts_legend(of_)), columns_);
    if (of_.ceilings) made += wrapped(roofline_legend(*of_.ceilings), columns_);
    std::string marks;
    for (std::size_t at = 0; at != marks_count; ++at)
      if (marks_[at]) marks += (marks.empty() ? "" : "; ") + std::string(mark_texts[at]);
    return marks.empty() ? made : made + wrapped(marks, columns_);
  }

  const profile& of_;
  std::size_t columns_;
  const table_options& how_;
  std::size_t first_figure_ = 0, behind_figures_;  // the shown ones
  std::size_t bar_columns_;                        // 0: rows have no bars
  figure_form form_;
  shown_regions shown_;
  std::size_t device_columns_ = 4;
  std::array<std::size_t, figures.size()> figure_columns_{};
  std::size_t name_columns_ = 0;
  std::array<bool, marks_count> marks_{};
  std::string out_;
};

}  // namespace

region_table_text region_table(const profile& profile, const table_options& how) { return table(profile, how).text(); }

std::string counters_text(const os_context& context) {
  std::string text;
  const auto add = [&](const std::optional<std::uint64_t>& count, const char* what) {
    if (count) text += (text.empty() ? "" : ", ") + format_count(*count) + what;
  };
  add(context.cycles, " cycles");
  add(context.instructions, " instructions");
  if (context.cycles && context.instructions && *context.cycles != 0)
    text += fmt::format(" ({:.2f} a cycle)",
                        static_cast<double>(*context.instructions) / static_cast<double>(*context.cycles));
  add(context.cache_misses, " cache misses");
  return text;
}

std::string function_table(const std::map<std::string, std::uint64_t>& functions, const screen& on) {
  constexpr std::size_t max_functions = 10;
  std::uint64_t all = 0;
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [name, count] : functions) {
    all += count;
    if (name != "(others)") sorted.emplace_back(count, name);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  if (sorted.size() > max_functions) sorted.resize(max_functions);
  text_table listed(
      {{"SAMPLES", column_kind::number, 9}, {"SHARE", column_kind::number, 7}, {"FUNCTION", column_kind::name}});
  for (const auto& [count, name] : sorted)
    listed.add({format_count(count),
                percent_cell(static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(all, 1))),
                printable(name)});
  return listed.text(on);
}

}  // namespace adaptyst::lib
