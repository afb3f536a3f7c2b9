// Rows of a table by ranges of their numbers: from the file's pages where these are plain, else by a statement of SQLite.
#ifndef ADAPTYST_LIB_TRACE_TABLE_ROWS_HPP
#define ADAPTYST_LIB_TRACE_TABLE_ROWS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sqlite_database.hpp"
#include "sqlite_pages.hpp"

namespace adaptyst::lib {

// Of each connection, one at a time may be on its way: it holds a read transaction.
class table_rows {
 public:
  struct column {
    const char* names;  // "a|b" is the first that is not absent; where the table has none, values are NULL
    bool is_text = false;
  };
  enum class source { pages_or_sql, sql };
  // Throws error.
  table_rows(const sqlite_database& in, std::string table, const std::vector<column>& wanted,
             source from = source::pages_or_sql);
  ~table_rows();
  table_rows(const table_rows&) = delete;
  table_rows& operator=(const table_rows&) = delete;

  // Those with numbers from `first` to `last`. Throws error.
  void start(std::int64_t first, std::int64_t last);
  // False: no further one. Values are valid up to the next step. Throws error with file, table, and the row before it.
  bool step() {
    if (reads_pages_) {
      const sqlite_pages::found found = pages_->next(values_);
      if (found == sqlite_pages::found::row) {
        if (!others_.empty()) choose_present();
        return true;
      }
      return leave_pages(found);
    }
    return step_statement();
  }
  std::int64_t row() const noexcept { return reads_pages_ ? pages_->row() : row_; }
  // NULL, or a text where a number is wanted. An empty text is none: who reads names takes it for absent.
  bool is_null(std::size_t at) const noexcept { return values_[at].is_null; }
  std::optional<std::int64_t> number(std::size_t at) const noexcept {
    return values_[at].is_null ? std::nullopt : std::optional(values_[at].integer);
  }
  std::optional<std::int64_t> nonzero(std::size_t at) const noexcept {
    return values_[at].integer == 0 ? std::nullopt : std::optional(values_[at].integer);
  }
  std::int64_t integer(std::size_t at) const noexcept { return values_[at].integer; }
  // Of a column that was wanted as text.
  std::string_view text(std::size_t at) const noexcept { return values_[at].text; }

  // Whether all rows so far came from pages, for tests.
  bool reads_pages() const noexcept { return reads_pages_; }

 private:
  void find_columns();
  void choose_present();
  std::uint32_t find_root() const;
  bool leave_pages(sqlite_pages::found how);
  void ask(std::int64_t first);
  bool step_statement();
  std::string where() const;
  [[noreturn]] void fail_order() const;
  void end() noexcept;

  const sqlite_database& in_;
  std::string table_;
  std::vector<column> wanted_;
  std::optional<sqlite_pages> pages_;
  sqlite_statement rows_;
  std::string question_;
  std::vector<row_value> values_;                            // those that are wanted, then others
  std::vector<std::pair<std::size_t, std::size_t>> others_;  // a wanted value, and one that counts if that is absent
  std::int64_t first_ = 0, last_ = -1, row_ = 0;
  bool reads_pages_ = false, has_row_ = false, is_open_ = false;
};

}  // namespace adaptyst::lib

#endif
