// Pieces of report lines: numbers that fit a column, names without control characters, aligned edges.
#ifndef ADAPTYST_LIB_SUPPORT_TEXT_HPP
#define ADAPTYST_LIB_SUPPORT_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst::lib {

constexpr std::size_t columns = 100;
// In a narrower table, names have too little room.
constexpr std::size_t min_table_columns = 80;

// Three digits and a unit, "1.23 ms": at most 8 columns.
std::string duration(double ns);
std::string duration(const std::optional<std::uint64_t>& ns);
std::string quantity(double value, const char* unit);
// A number in a table of numbers of many sizes: "12.3 k", "12".
std::string format_number(double number);
// A number of things: "12,345"; from ten million on "12.3 M".
std::string format_count(std::uint64_t number);
// The same for a number that is known to three digits: "12,300".
std::string format_rounded(double number);
// "12.3%"; "<0.1%" for what would be "0.0%", and "0%" for nothing at all.
std::string percent(double fraction);
// With its sign: "+12.3%", "-<0.1%", "0%", ">+9999%".
std::string signed_percent(double fraction);
// ISO 8601: "2026-01-31T12:00:00Z".
std::string utc(std::time_t at);

// Names may contain any bytes. Invalid UTF-8, terminal control characters (C0, DEL, C1) and marks of direction, which
// reorder adjacent text, become '?'. All text from a program or a file passes through this function before it is shown.
std::string printable(const std::string& text);

// JSON for a terminal: a parser reads the same text; such characters are escaped.
std::string printable_json(const std::string& text);

// Whether a byte of UTF-8 is the first of its character.
bool begins_character(char byte);
// The width in columns: one for each character.
std::size_t width(const std::string& text);
// `count` characters after the first `from`.
std::string characters(const std::string& text, std::size_t from, std::size_t count);
// Filled with spaces, or cut, to this width.
std::string fitted(std::string text, std::size_t max_columns);
std::string right(const std::string& text, std::size_t max_columns);
// Filled with spaces, or cut in the middle: names that begin alike often end differently.
std::string cut_in_middle(const std::string& text, std::size_t max_columns);

std::string format_line(const std::string& text, std::size_t max_columns = columns);
// A sentence on several lines, broken at spaces, but not between a number and its unit; all lines but the first are
// indented by 4 more columns.
std::string wrapped(const std::string& sentence, std::size_t max_columns = columns, std::size_t indent = 0);

// "outer > inner"
std::string join_path(const std::vector<std::string>& path);
// "… > outer > inner": outer names are omitted first, since inner names are more specific.
std::string path_label(const std::vector<std::string>& path, std::size_t max_columns);

// The size and the abilities of an output.

// $COLUMNS, else the width of the terminal behind the descriptor; 100 if neither exists.
std::size_t terminal_width(int descriptor);
// 0: the descriptor is no terminal.
std::size_t terminal_lines(int descriptor);
// A terminal, unless $NO_COLOR is set or $TERM is dumb.
bool has_colour(int descriptor);

// The place of a table. `columns` alone: a file or a pipe.
struct screen {
  std::size_t columns;
  bool has_colour;
  screen(std::size_t width = lib::columns, bool is_coloured = false)  // NOLINT(google-explicit-constructor)
      : columns(width), has_colour(is_coloured) {}
};
screen find_screen(int descriptor);

enum class text_style { bold = 1, red = 31, green = 32, yellow = 33, cyan = 36 };
// With the sequences of ECMA-48, which width() counts as text: for texts that have their final width.
std::string painted(const std::string& text, text_style style);
// The headings of a table, or another line, on a screen: bold if it has colours. `line` may end in a line feed.
std::string painted_heading(const std::string& line, bool has_colour);
// A bar that fills `max_columns` where `share` is 1 or more; empty for less than an eighth of a column.
std::string bar(double share, std::size_t max_columns);

}  // namespace adaptyst::lib

#endif
