// Fits tables into a width: figures as wide as their cells, names in the remaining columns.
#include "text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "../support/never_destroyed.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* unknown = "—";

bool is_at_right(const table_column& column) { return column.kind == column_kind::number; }

const table_cell& cell_at(const std::vector<table_cell>& cells, std::size_t at) {
  static const auto& nothing = never_destroyed<table_cell>("");
  return at < cells.size() ? cells[at] : nothing;
}

// The parts of names of a group: a common beginning and a common end, in bytes of whole characters.
struct common_parts {
  std::size_t begin = std::string::npos, end = std::string::npos;

  void include(const std::string& first, const std::string& other) {
    const std::size_t shorter = std::min(first.size(), other.size());
    std::size_t same = 0;
    while (same < std::min(begin, shorter) && first[same] == other[same]) ++same;
    const auto is_inside = [](const std::string& text, std::size_t at) {
      return at < text.size() && !begins_character(text[at]);
    };
    while (same > 0 && (is_inside(first, same) || is_inside(other, same))) --same;
    begin = same;
    same = 0;
    while (same < std::min(end, shorter - begin) && first[first.size() - same - 1] == other[other.size() - same - 1])
      ++same;
    while (same > 0 && is_inside(first, first.size() - same)) --same;
    end = same;
  }
};

// The name with the part between the common ones, and as much of these as fits.
std::string cut_around(const std::string& name, const common_parts& common, std::size_t max_columns) {
  if (width(name) <= max_columns) return name;
  const std::string before = name.substr(0, common.begin), after = name.substr(name.size() - common.end);
  std::string kept = name.substr(common.begin, name.size() - common.begin - common.end);
  const std::size_t all_before = width(before), all_after = width(after);
  const std::size_t least = max_columns / 6;  // of the parts before and after
  const std::size_t room = max_columns - std::min(all_before, least) - std::min(all_after, least);
  if (width(kept) > room) kept = cut_in_middle(kept, room);
  const std::size_t rest = max_columns - width(kept);
  const std::size_t at_end = std::min(all_after, std::max(rest / 2, rest - std::min(rest, all_before)));
  const std::size_t at_begin = std::min(all_before, rest - at_end);
  std::string made = before;
  if (at_begin < all_before) made = at_begin == 0 ? "" : characters(before, 0, at_begin - 1) + "…";
  made += kept;
  if (at_end == all_after) return made + after;
  if (at_end == 0) return made;
  const bool is_cut_already = kept.empty() && at_begin < all_before;
  return made + (is_cut_already ? "" : "…") + characters(after, all_after - at_end + 1, at_end - 1);
}

std::string without_padding(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

template <class Format>
table_cell cell(const std::optional<double>& value, Format&& format) {
  return value && std::isfinite(*value) ? table_cell(format(*value), *value) : table_cell(unknown);
}

// Two spaces between a number and words, which would otherwise look like a unit.
std::size_t gap_before(const std::vector<table_column>& columns, std::size_t at) {
  if (at == 0) return 0;
  return is_at_right(columns[at - 1]) && !is_at_right(columns[at]) ? 2 : 1;
}

}  // namespace

table_cell::table_cell(std::vector<std::string> names) : words(printable(join_path(names))), path(std::move(names)) {}

table_cell time_cell(std::optional<double> ns) {
  return cell(ns, [](double value) { return duration(value); });
}

table_cell signed_time_cell(std::optional<double> ns) {
  return cell(ns, [](double value) { return (value < 0 ? "-" : "") + duration(std::abs(value)); });
}

table_cell count_cell(std::optional<double> count) {
  return cell(count, [](double value) { return format_number(value); });
}

table_cell percent_cell(std::optional<double> fraction) {
  return cell(fraction, [](double value) { return percent(value); });
}

table_cell signed_percent_cell(std::optional<double> fraction) {
  return cell(fraction, [](double value) { return signed_percent(value); });
}

table_cell digits_cell(std::optional<double> value) {
  return cell(value, [](double number) { return fmt::format("{:.3g}", number); });
}

// As wide as the widest cell; names get the remaining columns at most.
std::vector<std::size_t> text_table::find_widths(std::size_t screen_columns, std::size_t indent) const {
  std::vector<std::size_t> widths(columns_.size());
  std::size_t taken = indent;
  for (std::size_t at = 0; at != columns_.size(); ++at) {
    const table_column& column = columns_[at];
    const std::size_t least = std::max(column.min_width, width(column.heading));
    widths[at] = least;
    for (const row& row : rows_) widths[at] = std::max(widths[at], width(cell_at(row.cells, at).words));
    if (column.kind == column_kind::text) widths[at] = std::min(widths[at], std::max(column.max_width, least));
    taken += gap_before(columns_, at) + (column.kind == column_kind::name ? 0 : widths[at]);
  }
  for (std::size_t at = 0; at != columns_.size(); ++at)
    if (columns_[at].kind == column_kind::name)
      widths[at] =
          std::min(widths[at], std::max(columns_[at].min_width, screen_columns - std::min(screen_columns, taken)));
  return widths;
}

// The texts of a column, cut to the width. If a cut path equals another one, all its names are shown as a text.
std::vector<std::string> text_table::cut_cells(std::size_t at, std::size_t width_of_column) const {
  std::vector<std::string> made;
  made.reserve(rows_.size());
  if (is_at_right(columns_[at])) {
    for (const row& row : rows_) made.push_back(right(cell_at(row.cells, at).words, width_of_column));
    return made;
  }
  std::map<std::string, std::string> words_of;  // by the words that are shown
  bool are_equal = false;
  for (const row& row : rows_) {
    const table_cell& cell = cell_at(row.cells, at);
    made.push_back(
        cut_in_middle(cell.path.empty() ? cell.words : path_label(cell.path, width_of_column), width_of_column));
    const auto [found, is_new] = words_of.try_emplace(made.back(), cell.words);
    are_equal = are_equal || (!is_new && found->second != cell.words);
  }
  if (!are_equal) return made;
  std::vector<std::string> names;
  names.reserve(rows_.size());
  for (const row& row : rows_) names.push_back(cell_at(row.cells, at).words);
  made = cut_distinctly(names, width_of_column);
  for (std::string& text : made) text = fitted(std::move(text), width_of_column);
  return made;
}

std::string text_table::text(const screen& on, std::size_t indent) const {
  const std::vector<std::size_t> widths = find_widths(on.columns, indent);
  const bool is_cut = std::any_of(columns_.begin(), columns_.end(),
                                  [](const table_column& column) { return column.kind == column_kind::name; });
  std::vector<std::vector<std::string>> shown;
  for (std::size_t at = 0; at != columns_.size(); ++at) shown.push_back(cut_cells(at, widths[at]));
  const auto line_of = [&](auto&& at_column) {
    std::string line(indent, ' ');
    for (std::size_t at = 0; at != columns_.size(); ++at)
      line += std::string(gap_before(columns_, at), ' ') + at_column(at);
    line.erase(line.find_last_not_of(' ') + 1);
    return is_cut ? format_line(line, on.columns) : line + "\n";
  };
  std::string made =
      painted_heading(line_of([&](std::size_t at) {
                        const std::string& heading = columns_[at].heading;
                        return is_at_right(columns_[at]) ? right(heading, widths[at]) : fitted(heading, widths[at]);
                      }),
                      on.has_colour);
  for (std::size_t number = 0; number != rows_.size(); ++number) {
    const row& row = rows_[number];
    const std::string line = line_of([&](std::size_t at) { return shown[at][number]; });
    made += (on.has_colour ? paint(line, row, widths, indent) : line) + row.below;
  }
  return made;
}

// A finished line with the styles of its cells.
std::string text_table::paint(const std::string& line, const row& row, const std::vector<std::size_t>& widths,
                              std::size_t indent) const {
  std::string made = characters(line, 0, indent);
  std::size_t begin = indent;
  for (std::size_t at = 0; at != columns_.size(); ++at) {
    const std::size_t gap = gap_before(columns_, at);
    made += characters(line, begin, gap);
    const std::string cell = characters(line, begin + gap, widths[at]);
    const std::optional<text_style>& style = cell_at(row.cells, at).style;
    const std::size_t end = cell.find_last_not_of(" \n") + 1;
    made += style && end != 0 ? painted(cell.substr(0, end), *style) + cell.substr(end) : cell;
    begin += gap + widths[at];
  }
  return made + characters(line, begin, std::string::npos);
}

std::string text_table::markdown() const {
  std::string made, below;
  for (const table_column& column : columns_) {
    made += "| " + escaped_for_markdown(column.heading) + " ";
    below += is_at_right(column) ? "|---:" : "|---";
  }
  made += "|\n" + below + "|\n";
  for (const row& row : rows_) {
    for (std::size_t at = 0; at != columns_.size(); ++at)
      made += "| " + escaped_for_markdown(cell_at(row.cells, at).words) + " ";
    made += "|\n";
  }
  return made;
}

std::string text_table::csv() const {
  std::string made;
  for (std::size_t at = 0; at != columns_.size(); ++at) {
    const table_column& column = columns_[at];
    std::string name = column.heading.empty() ? "mark" : column.heading;
    std::replace(name.begin(), name.end(), ' ', '_');
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
      return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c);
    });
    if (!column.unit.empty()) name += "_" + column.unit;
    made += (at == 0 ? "" : ",") + quoted_for_csv(column.is_range ? name + "_low" : name);
    if (column.is_range) made += "," + quoted_for_csv(name + "_high");
  }
  made += "\r\n";
  for (const row& row : rows_) {
    for (std::size_t at = 0; at != columns_.size(); ++at) {
      if (at != 0) made += ',';
      const table_cell& given = cell_at(row.cells, at);
      if (given.number) made += fmt::format("{}", *given.number);
      else if (given.words != unknown && at < row.cells.size()) made += quoted_for_csv(given.words);
      if (columns_[at].is_range) made += given.high ? fmt::format(",{}", *given.high) : ",";
    }
    made += "\r\n";
  }
  return made;
}

std::vector<std::string> cut_distinctly(const std::vector<std::string>& names, std::size_t max_columns) {
  constexpr int max_rounds = 8;
  std::map<std::string_view, std::string> made;  // by name
  for (const std::string& name : names) made.try_emplace(name, without_padding(cut_in_middle(name, max_columns)));
  std::map<std::string, std::vector<const std::string*>> groups;  // of names that look alike
  const auto group = [&] {
    groups.clear();
    std::map<std::string_view, bool> visited;
    bool has_equal = false;
    for (const std::string& name : names) {
      if (!visited.try_emplace(name, true).second) continue;
      std::vector<const std::string*>& alike = groups[made.at(name)];
      alike.push_back(&name);
      has_equal = has_equal || alike.size() > 1;
    }
    return has_equal;
  };
  bool has_equal = group();
  for (int round = 0; has_equal && round != max_rounds; ++round) {
    for (const auto& [text, alike] : groups) {
      if (alike.size() < 2) continue;
      common_parts common;
      for (std::size_t at = 1; at != alike.size(); ++at) common.include(*alike.front(), *alike[at]);
      for (const std::string* const name : alike)
        if (max_columns > 2) made.at(*name) = cut_around(*name, common, max_columns);
    }
    has_equal = group();
  }
  // Numbers distinguish the names that are left.
  if (has_equal) {
    std::size_t number = 1;  // of all groups: trying the same numbers in each would take time with their square
    std::set<std::string> taken;
    for (const auto& [text, alike] : groups) taken.insert(text);
    for (const auto& [text, alike] : groups) {
      const auto is_whole = [max_columns](const std::string* name) { return width(*name) <= max_columns; };
      bool has_first = std::any_of(alike.begin(), alike.end(), is_whole);
      for (const std::string* const name : alike) {
        if (alike.size() < 2 || is_whole(name) || !std::exchange(has_first, true)) continue;
        std::string& of = made.at(*name);
        std::string numbered;
        do {
          const std::string end = fmt::format("#{}", ++number);
          numbered.clear();
          if (end.size() > max_columns) break;  // no room to distinguish it
          numbered = without_padding(cut_in_middle(*name, max_columns - end.size())) + end;
        } while (!taken.insert(numbered).second);
        if (!numbered.empty()) of = numbered;
      }
    }
  }
  std::vector<std::string> in_order;
  in_order.reserve(names.size());
  for (const std::string& name : names) in_order.push_back(made.at(name));
  return in_order;
}

std::string quoted_for_csv(const std::string& text) {
  const std::string clean = printable(text);
  std::string made = "\"";
  if (!clean.empty() && std::string_view("=+-@").find(clean.front()) != std::string_view::npos) made += '\'';
  for (const char c : clean) made += c == '"' ? std::string("\"\"") : std::string(1, c);
  return made + "\"";
}

std::string escaped_for_markdown(const std::string& text) {
  std::string made;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|~&@$:").find(c) != std::string_view::npos) made += '\\';
    made += c;
  }
  return made;
}

}  // namespace adaptyst::lib
