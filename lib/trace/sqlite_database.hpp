// A wrapper of SQLite that reports file, table and row of each failure. No other file uses SQLite's interface.
//
// Names in a file are bytes with a length, and may contain any value.
#ifndef ADAPTYST_LIB_TRACE_SQLITE_DATABASE_HPP
#define ADAPTYST_LIB_TRACE_SQLITE_DATABASE_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;

namespace adaptyst::lib {

class sqlite_database;
class row_taker;

// A prepared statement. Values of a row are valid up to the next step.
class sqlite_statement {
 public:
  sqlite_statement() = default;
  sqlite_statement(const sqlite_database& in, const std::string& sql, std::string table);
  sqlite_statement(sqlite_statement&& other) noexcept;
  sqlite_statement& operator=(sqlite_statement&& other) noexcept;
  ~sqlite_statement();
  explicit operator bool() const noexcept { return of_ != nullptr; }

  void bind(int place, std::int64_t value);
  void bind(int place, double value);
  void bind_text(int place, std::string_view text);
  void bind_null(int place);

  // False: no further row. Throws error with file and table.
  bool step();
  // `where`: returns the place of a failure, as far as known.
  bool step(const std::function<std::string()>& where);
  // Runs a statement without rows; values can then be bound again.
  void run();
  void reset() noexcept;

  // A value is absent in a trace if it is NULL, as in a missing column, or an empty text. The number 0 is absent only
  // for ids, correlations and ends. A text, or a real number with a fraction, is no number: readers count such a row as
  // bad.
  bool is_null(int column) const noexcept;
  std::optional<std::int64_t> number(int column) const noexcept;
  std::optional<std::int64_t> nonzero(int column) const noexcept {
    const std::optional<std::int64_t> found = number(column);
    return found == 0 ? std::nullopt : found;
  }
  // 0 if absent.
  std::int64_t integer(int column) const noexcept { return number(column).value_or(0); }
  bool is_wrong_number(int column) const noexcept;
  // Both at once: each call of SQLite searches the column. False: it is a wrong number.
  bool read_number(int column, std::optional<std::int64_t>& to) const noexcept;
  double real(int column) const noexcept;
  // As UTF-8 for any encoding of the file. Empty: absent.
  std::string_view text(int column) const noexcept;
  int columns() const noexcept;
  // The name of a column of the result.
  std::string_view name(int column) const noexcept;

 private:
  friend class sqlite_database;

  sqlite3_stmt* of_ = nullptr;
  const sqlite_database* in_ = nullptr;
  std::string table_;
  std::uint64_t steps_ = 0;  // of SQLite's virtual machine since the last reset, approximately
};

class sqlite_database {
 public:
  enum class opened { to_read, to_write_new };
  // opened::to_read: throws error if the file is no database, unreadable or empty. A statement throws error if it takes
  // more steps, or sorts rows in more temporary bytes, than a file of this size may need. New: replaces an existing file.
  sqlite_database(std::string file, opened how);
  ~sqlite_database();
  sqlite_database(const sqlite_database&) = delete;
  sqlite_database& operator=(const sqlite_database&) = delete;

  const std::string& file() const noexcept { return file_; }

  void run(const std::string& sql) const;
  sqlite_statement prepare(const std::string& sql, std::string table = {}) const;
  // Names of tables and columns ignore case, as in SQLite. Views and virtual tables are no tables: their rows are
  // computed, and may not end. The names of the first call count.
  bool has_table(const std::string& name) const;
  std::vector<std::string> tables() const;
  // Throws error if the table lacks one of these.
  void require_columns(const std::string& table, const std::vector<const char*>& names) const;
  // Names of columns in their order; empty: no such table.
  std::vector<std::string> columns(const std::string& table) const;

  // A query for columns of a table, followed by the rowid. A missing column is NULL; "a|b" is the first of these
  // numbers that is neither NULL nor 0. Throws error if rows have no numbers, as in a table WITHOUT ROWID.
  std::string select(const std::string& table, const std::vector<const char*>& wanted) const;

  // The row number: `rowid`, `_rowid_` or `oid`, the first that no column has. Throws error if rows have no numbers.
  std::string row_number_name(const std::string& table) const;
  // Whether the column contains the row number. A search for another column may read the whole table, even with an
  // index: SQLite plans it by statistics in the file.
  bool is_row_number(const std::string& table, const char* column) const;
  // A query for columns of the row with the number `?`, followed by the rowid.
  sqlite_statement prepare_row(const std::string& table, const std::vector<const char*>& wanted) const;
  // A query for that column of the first row with a number of at least `?`.
  sqlite_statement prepare_nearest(const std::string& table, const char* column) const;

  // The lowest and highest rowid; empty for an empty table.
  struct row_range {
    std::int64_t first = 0, last = -1;
    // The maximum number of rows; for all 2^64 numbers, one less.
    std::uint64_t size() const noexcept {
      if (last < first) return 0;
      const std::uint64_t more = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
      return more == ~std::uint64_t{0} ? more : more + 1;
    }
  };
  row_range rows(const std::string& table) const;
  std::uint64_t count_rows(const std::string& table) const;
  // The number of rows in a range that rows() has returned. SQLite counts them on all pages of the tree without a
  // search, because a search in a damaged tree may miss rows without an error. Rows that were added later are not
  // counted.
  std::uint64_t count_rows(const std::string& table, const row_range& in) const;

  // Whether a temporary file for sorting may have so many bytes. Otherwise the running statement throws error.
  bool allows_temporary(std::uint64_t bytes) const noexcept;

  // `where`: the known place within the table.
  [[noreturn]] void fail(const std::string& table, int code, const std::string& where = {}) const;

 private:
  friend class sqlite_statement;
  friend class row_taker;
  static int count_steps(void* of) noexcept;
  void require_database() const;
  std::uint64_t count_own_bytes() const noexcept;  // of the file, and of a log next to it
  enum class alternatives { first, all };          // for "a|b"
  std::string list_columns(const std::string& table, const std::vector<const char*>& wanted, alternatives which) const;
  void close() noexcept;

  std::string file_;
  sqlite3* of_ = nullptr;
  mutable sqlite_statement* running_ = nullptr;
  mutable std::uint64_t other_steps_ = 0, max_steps_ = 0;  // without a running statement; the limit for each
  mutable std::uint64_t max_temporary_bytes_ = 0;
  mutable bool is_temporary_full_ = false;  // in the running statement
  mutable row_taker* taker_ = nullptr;      // takes the rows of the running statement
  mutable bool has_taker_function_ = false;
  mutable std::optional<std::unordered_set<std::string>> tables_;  // in lower case
};

// A value of a row_taker.
struct row_value {
  std::int64_t integer = 0;  // 0 if absent
  std::string_view text;     // UTF-8, for a column that is requested as text
  bool is_null = true;
};

struct taken_row {
  std::int64_t row = 0;  // the rowid
  const row_value* values = nullptr;
  // The first requested column with a text or a fractional number instead of an integer; otherwise nullptr.
  const char* wrong_column = nullptr;

  bool is_null(std::size_t at) const noexcept { return values[at].is_null; }
  std::int64_t integer(std::size_t at) const noexcept { return values[at].integer; }
  std::optional<std::int64_t> number(std::size_t at) const noexcept {
    return values[at].is_null ? std::nullopt : std::optional(values[at].integer);
  }
  std::optional<std::int64_t> nonzero(std::size_t at) const noexcept {
    return values[at].integer == 0 ? std::nullopt : std::optional(values[at].integer);
  }
  std::string_view text(std::size_t at) const noexcept { return values[at].text; }
};

// Texts of a table by column `id`: each read at its first use, or all at once if `id` is not the row number.
class text_list {
 public:
  // The first of these columns with a text counts. If the table does not exist, all texts are absent.
  text_list(const sqlite_database& in, const std::string& table, const std::vector<const char*>& columns);
  // "name 7" if there is no text.
  const std::string& find(std::int64_t id);

 private:
  void take(const sqlite_statement& row, std::string& text) const;

  sqlite_statement find_text_;
  int columns_;
  std::unordered_map<std::int64_t, std::string> texts_;
};

// Calls a function for each row of a table inside SQLite's loop: an aggregate function takes the values of the columns.
// This is faster than a step for each row. Texts and the row are valid until the function returns. An exception of the
// function ends the statement and is thrown again after it.
class row_taker {
 public:
  struct column {
    const char* names;  // as in sqlite_database::select()
    bool is_text = false;
  };
  using taker = std::function<void(const taken_row& row)>;
  // Throws error.
  row_taker(const sqlite_database& in, std::string table, const std::vector<column>& wanted);
  row_taker(const row_taker&) = delete;
  row_taker& operator=(const row_taker&) = delete;

  // `range` searches the first row in the tree; in a damaged tree, a search may miss rows without an error. `whole`
  // reads from the first page to the last and misses none. It also reads rows outside the range.
  enum class walk { range, whole };
  // Rows with numbers from `first` to `last` in order; returns their count. Throws error with file, table and the row
  // before the failure; also if rows are out of order, as in a damaged tree.
  std::uint64_t take(walk how, std::int64_t first, std::int64_t last, const taker& to);

 private:
  static void take_values(sqlite3_context* of, int count, sqlite3_value** values) noexcept;
  static void finish(sqlite3_context* of) noexcept;
  void prepare(walk how);
  bool take_row(sqlite3_value** values);
  std::string where() const;

  const sqlite_database& in_;
  std::string table_, row_number_;
  std::vector<column> wanted_;
  std::vector<const char*> names_;        // of the columns
  std::vector<std::size_t> with_others_;  // columns with alternatives
  std::vector<row_value> values_;
  bool reads_others_ = false;  // after a row that needs them
  sqlite_statement rows_;
  walk walk_ = walk::range;  // of the current statement
  bool has_others_ = false;
  // State of the running statement.
  const taker* to_ = nullptr;
  std::int64_t first_ = 0, last_ = -1, row_ = 0;
  std::uint64_t count_ = 0;
  bool has_row_ = false, lacks_other_ = false;
  std::exception_ptr failed_;
};

// The first 16 KiB of a text, without a part of a character: names in files may have any length.
std::string_view cut_text(std::string_view text) noexcept;

bool is_same_name(std::string_view a, std::string_view b) noexcept;

// A quoted SQL name.
std::string quoted_name(std::string_view name);

}  // namespace adaptyst::lib

#endif
