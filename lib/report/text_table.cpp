// Fits tables into a width: figures as wide as their cells, names in the remaining columns.
#include "text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

// Fills or cuts a cell to the width of its column, by the rule of the column's kind.
std::string fill(const table_cell& cell, const table_column& column, std::size_t columns) {
  if (is_at_right(column)) return right(cell.words, columns);
  return cut_in_middle(cell.path.empty() ? cell.words : path_label(cell.path, columns), columns);
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

std::string text_table::text(const screen& on, std::size_t indent) const {
  const std::vector<std::size_t> widths = find_widths(on.columns, indent);
  const bool is_cut = std::any_of(columns_.begin(), columns_.end(),
                                  [](const table_column& column) { return column.kind == column_kind::name; });
  const auto line_of = [&](auto&& at_column) {
    std::string line(indent, ' ');
    for (std::size_t at = 0; at != columns_.size(); ++at)
      line += std::string(gap_before(columns_, at), ' ') + fill(at_column(at), columns_[at], widths[at]);
    line.erase(line.find_last_not_of(' ') + 1);
    return is_cut ? format_line(line, on.columns) : line + "\n";
  };
  std::string made =
      painted_heading(line_of([&](std::size_t at) { return table_cell(columns_[at].heading); }), on.has_colour);
  for (const row& row : rows_) {
    const std::string line = line_of([&](std::size_t at) { return cell_at(row.cells, at); });
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
