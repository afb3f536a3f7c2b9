// Rows of a table from the pages of SQLite's file format, with no statement in between: an analysis reads a few columns of
// many wide rows, of which SQLite's machine decodes each with some hundred instructions.
//
// https://www.sqlite.org/fileformat.html says what is read here: interior and leaf pages of the trees of tables, records,
// overflow pages. It reads what it understands wholly: a page that contradicts another one, a value that is no integer where
// one is wanted, a column that rows do not have, end the walk, and the caller asks SQLite for the rest (table_rows.hpp).
// The file may be anything: each number is held against the page, or the file, before it is used.
#ifndef ADAPTYST_LIB_TRACE_SQLITE_PAGES_HPP
#define ADAPTYST_LIB_TRACE_SQLITE_PAGES_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sqlite_database.hpp"

namespace adaptyst::lib {

struct row_value {
  std::int64_t integer = 0;
  std::string_view text;
  bool is_null = true;
};

class sqlite_pages {
 public:
  struct column {
    std::size_t place = 0;  // in the record
    std::size_t value = 0;  // in what is returned
    bool is_text = false;
    bool has_default = false;  // other than NULL, for rows that are older than the column
  };
  // `columns`: by their places.
  sqlite_pages(const sqlite_database& in, std::vector<column> columns);

  // Rows of the tree with that root, whose numbers are from `first` to `last`. A read transaction has to hold the file until
  // the last of them. False: the file is not plain.
  bool start(std::uint32_t root, std::int64_t first, std::int64_t last);

  enum class found { row, end, gave_up, out_of_order };
  // Values are valid up to the next call.
  found next(std::vector<row_value>& to);
  // Of the row that was found last.
  std::int64_t row() const noexcept { return row_; }
  bool has_row() const noexcept { return has_row_; }
  // Why and where it gave up.
  std::string why() const;

 private:
  static constexpr std::size_t max_depth = 20;  // as in SQLite
  // Behind each buffer, so that a number may be read with the bytes behind it.
  static constexpr std::size_t padding = 16;

  struct interior {
    std::vector<std::uint8_t> bytes;
    std::uint32_t page = 0, cells = 0, at = 0;  // `at`: which child is walked
  };
  enum class decoded { good, more, bad };

  bool read_header();
  bool descend(std::uint32_t page, bool seeks);
  bool next_leaf();
  bool child(const interior& of, std::uint32_t& to);
  bool key(const interior& of, std::uint32_t cell, std::int64_t& to);
  const std::uint8_t* read_page(std::uint32_t page);
  decoded decode(const std::uint8_t* payload, std::uint64_t available, std::uint64_t size, std::vector<row_value>& to);
  bool gather(const std::uint8_t* local, std::size_t count, std::uint64_t wanted);
  bool give_up(const char* why) noexcept;

  const sqlite_database& in_;
  std::vector<column> columns_;
  std::uint32_t page_bytes_ = 0, usable_ = 0, pages_ = 0;
  std::int64_t first_ = 0, last_ = -1, row_ = 0;
  bool has_row_ = false, is_at_end_ = false;
  bool is_first_leaf_ = false;  // which alone may have rows below the first one

  std::vector<interior> path_;  // from the root; kept for its room, of which `depth_` are in use
  std::size_t depth_ = 0;
  const std::uint8_t* leaf_ = nullptr;
  std::uint32_t leaf_page_ = 0, cells_ = 0, cell_ = 0;

  // Leaves that follow each other in the file are read in one go.
  std::vector<std::uint8_t> run_;
  std::uint32_t run_begin_ = 0, run_pages_ = 0;
  std::vector<std::uint8_t> payload_, overflow_;  // of a row that does not fit on its page
  std::uint64_t needed_ = 0;                      // of its bytes

  const char* why_ = "";
  std::uint32_t bad_page_ = 0;
};

}  // namespace adaptyst::lib

#endif
