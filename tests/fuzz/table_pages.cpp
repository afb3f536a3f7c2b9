// Pages of a table that somebody else has written: what is read from them is what SQLite reads, wherever it reads anything.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/error.hpp"
#include "target.hpp"
#include "trace/table_rows.hpp"

namespace {

using namespace adaptyst::lib;

struct one_row {
  std::int64_t row, first, second;
  std::string text;
};

// Nothing: it could not be read to its end. At most so many rows, of which a damaged file may seem to have any number.
std::optional<std::vector<one_row>> read(const sqlite_database& in, const char* table,
                                         const std::vector<table_rows::column>& columns, table_rows::source from,
                                         bool& has_left_pages) {
  constexpr std::size_t max_rows = 2000;
  std::vector<one_row> made;
  try {
    table_rows rows(in, table, columns, from);
    rows.start(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    while (made.size() != max_rows && rows.step())
      made.push_back({rows.row(), rows.integer(0), rows.integer(1), std::string(rows.text(2))});
    has_left_pages = !rows.reads_pages();
    return made;
  } catch (const adaptyst::error&) {
    return std::nullopt;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string name = "/tmp/adaptyst-table-pages-XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    try {
      const sqlite_database in(name, sqlite_database::opened::to_read);
      for (const char* const table : {"span", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL", "StringIds"}) {
        if (!in.has_table(table)) continue;
        const std::vector<table_rows::column> columns{{"start"}, {"end"}, {"text|value", true}};
        bool has_left = false, ignored = false;
        const auto ours = read(in, table, columns, table_rows::source::pages_or_sql, has_left);
        const auto theirs = read(in, table, columns, table_rows::source::sql, ignored);
        // Damage that SQLite passes by, such as keys that do not fit to the rows below them, may hide rows from either.
        if (!ours || !theirs || has_left || ours->size() != theirs->size()) continue;
        for (std::size_t at = 0; at != ours->size(); ++at) {
          const one_row &a = (*ours)[at], &b = (*theirs)[at];
          EXPECT(a.row == b.row && a.first == b.first && a.second == b.second && a.text == b.text);
        }
      }
    } catch (const adaptyst::error&) {}
  }
  close(file);
  for (const char* const ending : {"", "-wal", "-shm", "-journal"}) unlink((name + ending).c_str());
  return 0;
}
