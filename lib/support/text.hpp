// The pieces that lines of a report are made of: numbers that fit a column, names that do no harm, edges that stand
// under each other.
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
// Below that a table has too little room for names.
constexpr std::size_t min_table_columns = 80;

// Three digits and a unit, "1.23 ms": at most 8 columns.
std::string duration(double ns);
std::string duration(const std::optional<std::uint64_t>& ns);
std::string quantity(double value, const char* unit);
// A number of things: "12.3 k", "12".
std::string format_number(double number);
std::string percent(double fraction);
// ISO 8601: "2026-01-31T12:00:00Z".
std::string utc(std::time_t at);

// Names may hold any bytes: what is no character, would disturb a terminal (C0, DEL, C1) or turns the order of what
// stands next to it (marks of direction), becomes '?'. Whatever comes from a program or a file goes through this before
// it is shown.
std::string printable(const std::string& text);

// JSON for a terminal: the same text to a parser, with such characters escaped.
std::string printable_json(const std::string& text);

// Whether a byte of UTF-8 is the first of its character.
bool begins_character(char byte);
// The width in columns: one for each character.
std::size_t width(const std::string& text);
// Filled with spaces, or cut, to this width.
std::string fitted(std::string text, std::size_t max_columns);
std::string right(const std::string& text, std::size_t max_columns);
// Filled with spaces, or cut in the middle: names that begin alike often end differently.
std::string cut_in_middle(const std::string& text, std::size_t max_columns);

std::string format_line(const std::string& text, std::size_t max_columns = columns);
// A sentence on as many lines as it takes, broken at spaces, but not between a number and its unit; all lines but the
// first stand 4 columns further in.
std::string wrapped(const std::string& sentence, std::size_t max_columns = columns, std::size_t indent = 0);

// "outer > inner"
std::string join_path(const std::vector<std::string>& path);
// "… > outer > inner": the inner names tell more than the outer ones, so these are left out first.
std::string path_label(const std::vector<std::string>& path, std::size_t max_columns);

// How many columns there are to write to.

// What $COLUMNS says, else the terminal behind the descriptor; 100 where neither does.
std::size_t terminal_width(int descriptor);

}  // namespace adaptyst::lib

#endif
