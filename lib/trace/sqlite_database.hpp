// SQLite, so that whatever goes wrong says in which file, table and row; the only place that knows its interface.
//
// Names in a file are bytes: they are taken with their lengths, and may hold anything.
#ifndef ADAPTYST_LIB_TRACE_SQLITE_DATABASE_HPP
#define ADAPTYST_LIB_TRACE_SQLITE_DATABASE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace adaptyst::lib {

class sqlite_database;

// A prepared statement. Values of a row are valid up to the next step.
class sqlite_statement {
 public:
  sqlite_statement() = default;
  sqlite_statement(const sqlite_database& in, const std::string& sql, std::string table);
  sqlite_statement(sqlite_statement&& other) noexcept;
  sqlite_statement& operator=(sqlite_statement&& other) noexcept;
  ~sqlite_statement();

  void bind(int place, std::int64_t value);
  void bind(int place, double value);
  void bind_text(int place, std::string_view text);
  void bind_null(int place);

  // False: no further row. Throws error with file and table.
  bool step();
  // `where` is asked for the place of a failure, as far as it is known.
  bool step(const std::function<std::string()>& where);
  // A step of what gives no rows, ready to be bound again.
  void run();
  void reset() noexcept;

  // What means absent in a trace: NULL, which a missing column is as well, a text that is no number where one is wanted, and
  // an empty text. A number is absent at 0 only where no such thing has the number 0: of ids, correlations and ends.
  bool is_null(int column) const noexcept;
  std::optional<std::int64_t> number(int column) const noexcept;
  std::optional<std::int64_t> nonzero(int column) const noexcept {
    const std::optional<std::int64_t> found = number(column);
    return found == 0 ? std::nullopt : found;
  }
  // 0 for what is absent.
  std::int64_t integer(int column) const noexcept { return number(column).value_or(0); }
  double real(int column) const noexcept;
  // As UTF-8, whatever the file has. Empty: absent.
  std::string_view text(int column) const noexcept;

 private:
  sqlite3_stmt* of_ = nullptr;
  const sqlite_database* in_ = nullptr;
  std::string table_;
};

class sqlite_database {
 public:
  enum class opened { to_read, to_write_new };
  // To read: throws error where it is no database, cannot be read, or is empty. New: what stands there is replaced.
  sqlite_database(std::string file, opened how);
  ~sqlite_database();
  sqlite_database(const sqlite_database&) = delete;
  sqlite_database& operator=(const sqlite_database&) = delete;

  const std::string& file() const noexcept { return file_; }

  void run(const std::string& sql) const;
  sqlite_statement prepare(const std::string& sql, std::string table = {}) const;
  // Names of tables and columns are equal whatever their case, as in SQLite.
  bool has_table(std::string_view name) const;
  std::vector<std::string> tables() const;
  // Throws error where a table lacks one of these.
  void require_columns(const std::string& table, const std::vector<const char*>& names) const;
  // Names of columns, in their order; none: there is no such table.
  std::vector<std::string> columns(const std::string& table) const;

  // A question for columns of a table, with the rowid behind them: one that the table lacks is NULL, and "a|b" is the first of
  // those that is not absent.
  std::string select(const std::string& table, const std::vector<const char*>& wanted) const;

  // The lowest and the highest rowid, or nothing where a table is empty.
  struct row_range {
    std::int64_t first = 0, last = -1;
    // How many rows there may be; of all 2^64 numbers one less.
    std::uint64_t size() const noexcept {
      if (last < first) return 0;
      const std::uint64_t more = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
      return more == ~std::uint64_t{0} ? more : more + 1;
    }
  };
  row_range rows(const std::string& table) const;

  // `where`: what is known of the place beyond the table.
  [[noreturn]] void fail(const std::string& table, int code, const std::string& where = {}) const;

  // The file as it is, for who reads pages himself while a read transaction keeps it so. SQLite's own descriptor is used: if
  // another one of this file were closed, the process would lose its locks, and a writer would drop its log under a reader.
  std::uint64_t file_bytes() const noexcept;
  bool read_file(std::uint64_t at, void* to, std::size_t count) const noexcept;
  // Whether a log beside it has what was written last. To be asked in a transaction.
  bool has_log() const noexcept;

 private:
  friend class sqlite_statement;
  void require_database() const;
  void close() noexcept;

  std::string file_;
  sqlite3* of_ = nullptr;
};

bool is_same_name(std::string_view a, std::string_view b) noexcept;

// A name in SQL.
std::string quoted_name(std::string_view name);

}  // namespace adaptyst::lib

#endif
