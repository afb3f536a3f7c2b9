// A table of a report: columns have headings, units and a rule for their width. It is written for the terminal, as
// Markdown or as CSV.
#ifndef ADAPTYST_LIB_REPORT_TEXT_TABLE_HPP
#define ADAPTYST_LIB_REPORT_TEXT_TABLE_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/text.hpp"

namespace adaptyst::lib {

enum class column_kind {
  number,  // as wide as its cells, at the right
  text,    // as wide as its cells, at the left; a longer one than `max_width` is cut; different texts stay different
  name,    // the same; its limit is the rest of the screen, but at least `min_width`
};

struct table_column {
  std::string heading;
  column_kind kind = column_kind::number;
  std::size_t min_width = 0;
  std::size_t max_width = 60;
  std::string unit = {};  // of the numbers in CSV, behind the heading: "ns", "bytes"
  bool is_range = false;  // two columns in CSV: "…_low", "…_high"
};

// The words for people, and the number for CSV; without a number, CSV contains the words. A path that is too long loses
// its outer names first.
struct table_cell {
  std::string words;
  std::optional<double> number, high;  // of a range, its ends
  std::vector<std::string> path;
  std::optional<text_style> style = {};  // on a terminal with colours

  table_cell(std::string text) : words(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  table_cell(const char* text) : words(text) {}             // NOLINT(google-explicit-constructor)
  table_cell(std::vector<std::string> names);               // NOLINT(google-explicit-constructor)
  table_cell(std::string text, double value) : words(std::move(text)), number(value) {}
  table_cell(std::string text, double low, double greatest) : words(std::move(text)), number(low), high(greatest) {}
};

// An empty value is "—", and nothing in CSV.
table_cell time_cell(std::optional<double> ns);
table_cell signed_time_cell(std::optional<double> ns);
table_cell count_cell(std::optional<double> count);
table_cell percent_cell(std::optional<double> fraction);
table_cell signed_percent_cell(std::optional<double> fraction);
// Three digits: "1.23".
table_cell digits_cell(std::optional<double> value);

class text_table {
 public:
  explicit text_table(std::vector<table_column> described) : columns_(std::move(described)) {}

  // Adds a row: a cell for each column, from the left; missing cells are empty.
  void add(std::vector<table_cell> cells) { rows_.push_back({std::move(cells), {}}); }
  // Adds whole lines below the last row; only for the terminal.
  void add_below(const std::string& lines) { rows_.back().below += lines; }

  // A table with names is cut at the width of the screen. No line has spaces at its end.
  std::string text(const screen& on, std::size_t indent = 0) const;
  // Escapes names that look like Markdown.
  std::string markdown() const;
  // RFC 4180; values that a spreadsheet would take for a formula become text.
  std::string csv() const;

 private:
  struct row {
    std::vector<table_cell> cells;
    std::string below;
  };
  std::vector<std::size_t> find_widths(std::size_t screen_columns, std::size_t indent) const;
  std::vector<std::string> cut_cells(std::size_t at, std::size_t width_of_column) const;
  std::string paint(const std::string& line, const row& row, const std::vector<std::size_t>& widths,
                    std::size_t indent) const;
  std::vector<table_column> columns_;
  std::vector<row> rows_;
};

// Names of at most `max_columns` each, in UTF-8. A long name is cut in its middle; where two different names would become
// equal, the part in which they differ is kept. Names that differ in too many places get a number, if there is room.
std::vector<std::string> cut_distinctly(const std::vector<std::string>& names, std::size_t max_columns);

// Escape a text for CSV and for Markdown.
std::string quoted_for_csv(const std::string& text);
std::string escaped_for_markdown(const std::string& text);

}  // namespace adaptyst::lib

#endif
