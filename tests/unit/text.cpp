// Texts of tables: numbers with their units, names that fit.
#include "support/text.hpp"

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace adaptyst::lib;

TEST_CASE("a time is written in UTC") { CHECK(adaptyst::lib::utc(951782399) == "2000-02-28T23:59:59Z"); }

TEST_CASE("a duration has three digits, and the largest unit of which it has one") {
  CHECK(duration(0.0) == "0 ns");
  CHECK(duration(99.4) == "99 ns");
  CHECK(duration(999.4) == "999 ns");
  CHECK(duration(999.6) == "1.00 us");
  CHECK(duration(1'200.0) == "1.20 us");
  CHECK(duration(9'994.0) == "9.99 us");
  CHECK(duration(9'996.0) == "10.0 us");
  CHECK(duration(99'940.0) == "99.9 us");
  CHECK(duration(99'960.0) == "100 us");
  CHECK(duration(1e6) == "1.00 ms");
  CHECK(duration(1e9) == "1.00 s");
  CHECK(duration(99'999e9) == "99999 s");
  CHECK(duration(100'000e9) == "28 h");
  CHECK(duration(99'999 * 3600e9) == "99999 h");
  CHECK(duration(240'000 * 3600e9) == "10000 d");
  CHECK(duration(std::optional<std::uint64_t>(1500)) == "1.50 us");
  CHECK(duration(std::optional<std::uint64_t>()) == "—");
}

TEST_CASE("a quantity has a prefix, a fraction a per cent sign") {
  CHECK(quantity(999, "B") == "999 B");
  CHECK(quantity(999.6, "B") == "1 kB");
  CHECK(quantity(1234, "B/s") == "1.23 kB/s");
  CHECK(quantity(-5e9, "FLOP") == "-5 GFLOP");
  CHECK(percent(0.0123) == "1.2%");
  CHECK(percent(99.9994) == "9999.9%");
  CHECK(percent(99.9996) == ">9999%");
}

TEST_CASE("what would disturb a terminal is a question mark; a character is one column") {
  CHECK(printable("a\tb\x1f\x7f~") == "a?b??~");
  CHECK(printable("caf\xc3\xa9 \xc2\x9b \xff") == "caf\xc3\xa9 ? ?");
  // What comes behind would be shown before it, or on a line of its own.
  CHECK(printable("a\u202eb\u2066c\u200fd\u061ce\u2028f") == "a?b?c?d?e?f");
  CHECK(printable("\u2019\u203a\u2065\u206a\u00e9") == "\u2019\u203a\u2065\u206a\u00e9");
  CHECK(printable("\xe2\x80") == "??");
  CHECK(printable("\xe0\x82\x9b \xed\xa0\x80 \xf0\x82\x82\x9b \xf4\x90\x80\x80") == "??? ??? ???? ????");
  CHECK(width("caf\xc3\xa9") == 4);
  CHECK(fitted("caf\xc3\xa9", 6) == "caf\xc3\xa9  ");
  CHECK(fitted("caf\xc3\xa9s", 4) == "caf…");
  CHECK(right("caf\xc3\xa9", 6) == "  caf\xc3\xa9");
}

TEST_CASE("JSON for a terminal says the same, and has no character that disturbs one") {
  using adaptyst::lib::printable_json;
  const std::string plain = "{\n \"a\": \"caf\xc3\xa9 \\u001b\"\n}\n";
  CHECK(printable_json(plain) == plain);
  const std::string nasty = "{\"a\u202e\u2066\": \"\x7f \xc2\x9b \u200f\"}";
  const std::string shown = printable_json(nasty);
  CHECK(shown == "{\"a\\u202e\\u2066\": \"\\u007f \\u009b \\u200f\"}");
  CHECK(nlohmann::json::parse(shown) == nlohmann::json::parse(nasty));
}

TEST_CASE("of a path its end is kept, and what is missing is seen") {
  const std::vector<std::string> path{"main", "solve", "flux"};
  CHECK(path_label(path, 19) == "main > solve > flux");
  CHECK(path_label(path, 18) == "… > solve > flux");
  CHECK(path_label(path, 16) == "… > solve > flux");
  CHECK(path_label(path, 15) == "… > flux");
  CHECK(path_label({}, 10).empty());
}

TEST_CASE("a sentence is broken between words, and its further lines are indented") {
  CHECK(wrapped("one two three", 9) == "one two\n    three\n");
  CHECK(wrapped("one two", 7) == "one two\n");
  CHECK(wrapped("one two", 11, 4) == "    one two\n");
}

TEST_CASE("a number and its unit stay on one line") {
  for (const char* const value : {"4.92 us", "95 %", "1.2 GB/s", "17.6 k", "3 FLOP", "± 3 ms"}) {
    CAPTURE(value);
    const std::string sentence = std::string("it took all of ") + value + ", or more";
    for (std::size_t max_columns = 18; max_columns != 40; ++max_columns)
      CHECK(wrapped(sentence, max_columns).find(value) != std::string::npos);
  }
  CHECK(wrapped("12 switches", 5) == "12\n    …\n");  // no unit
}

TEST_CASE("what is cut in the middle keeps its ends, and its width") {
  using adaptyst::lib::cut_in_middle;
  CHECK(cut_in_middle("abcdefghij", 10) == "abcdefghij");
  CHECK(cut_in_middle("abcdefghij", 12) == "abcdefghij  ");
  CHECK(cut_in_middle("abcdefghij", 7) == "abc…hij");
  CHECK(cut_in_middle("abcdefghij", 6) == "abc…ij");
  CHECK(cut_in_middle("äöüäöüäöü", 5) == "äö…öü");
  for (std::size_t max_columns = 0; max_columns != 12; ++max_columns)
    CHECK(adaptyst::lib::width(cut_in_middle("abcdefghij", max_columns)) == max_columns);
}

TEST_CASE("counts have all their digits, in groups, and shares are never zero by rounding") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1351) == "1,351");
  CHECK(format_count(9'999'999) == "9,999,999");
  CHECK(format_count(23'800'000) == "23.8 M");
  CHECK(format_rounded(12.34) == "12.3");
  CHECK(format_rounded(571'429) == "571,000");
  CHECK(format_rounded(999.7) == "1,000");
  CHECK(format_rounded(5.71e8) == "571 M");
  CHECK(adaptyst::lib::percent(0) == "0%");
  CHECK(adaptyst::lib::percent(0.0004) == "<0.1%");
  CHECK(adaptyst::lib::percent(0.0006) == "0.1%");
}

TEST_CASE("a bar has the length of its share, and never more than its columns") {
  CHECK(bar(0, 8).empty());
  CHECK(bar(0.5, 4) == "██");
  CHECK(bar(0.25 + 1.0 / 32, 4) == "█▏");
  CHECK(adaptyst::lib::width(bar(7, 8)) == 8);
}

TEST_CASE("what is no terminal has no lines and no colour") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(adaptyst::lib::terminal_lines(ends[1]) == 0);
  CHECK_FALSE(adaptyst::lib::has_colour(ends[1]));
  close(ends[0]);
  close(ends[1]);
}
