// Rows from pages are those that SQLite gives, of tables of many shapes; damaged ones are left to SQLite, and hurt nobody.
#include "trace/table_rows.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "support/error.hpp"

namespace {

using namespace adaptyst::lib;

constexpr std::int64_t lowest = INT64_MIN, highest = INT64_MAX;

// A file that SQLite itself has written; gone with this object. Not one without a name: SQLite opens what a link in /proc
// leads to.
class made_file {
 public:
  made_file() : file_(mkostemp(name_.data(), O_CLOEXEC)) {
    REQUIRE(file_ >= 0);
    REQUIRE(sqlite3_open(name_.c_str(), &in_) == SQLITE_OK);
    run("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
  }
  ~made_file() {
    close();
    ::close(file_);
    unlink(name_.c_str());
  }
  made_file(const made_file&) = delete;
  made_file& operator=(const made_file&) = delete;

  void run(const std::string& sql) {
    char* why = nullptr;
    const int code = sqlite3_exec(in_, sql.c_str(), nullptr, nullptr, &why);
    INFO(sql.substr(0, 200) << ": " << (why != nullptr ? why : ""));
    REQUIRE(code == SQLITE_OK);
  }
  void close() { sqlite3_close(std::exchange(in_, nullptr)); }
  const std::string& name() const { return name_; }
  // Whether anybody reads it, this process too.
  bool is_locked() const {
    struct flock asked {};
    asked.l_type = F_WRLCK;
    asked.l_whence = SEEK_SET;
    asked.l_start = 0x40000002;  // SQLite's readers share a lock of these bytes
    asked.l_len = 510;
    REQUIRE(fcntl(file_, F_OFD_GETLK, &asked) == 0);
    return asked.l_type != F_UNLCK;
  }
  std::uint64_t size() const { return static_cast<std::uint64_t>(lseek(file_, 0, SEEK_END)); }
  void poke(std::uint64_t at, std::uint8_t byte) const {
    REQUIRE(pwrite(file_, &byte, 1, static_cast<off_t>(at)) == 1);
  }
  std::uint8_t peek(std::uint64_t at) const {
    std::uint8_t byte = 0;
    REQUIRE(pread(file_, &byte, 1, static_cast<off_t>(at)) == 1);
    return byte;
  }

 private:
  std::string name_ = "/tmp/adaptyst-table-rows-XXXXXX";
  int file_;
  sqlite3* in_ = nullptr;
};

struct taken {
  std::vector<std::string> rows;
  bool from_pages = false;
  std::string failed;
};

taken take(const std::string& file, const std::vector<table_rows::column>& wanted, table_rows::source from,
           std::int64_t first = lowest, std::int64_t last = highest, const char* table = "t") {
  taken made;
  const sqlite_database in(file, sqlite_database::opened::to_read);
  table_rows rows(in, table, wanted, from);
  try {
    rows.start(first, last);
    while (rows.step()) {
      std::string one = std::to_string(rows.row());
      for (std::size_t at = 0; at != wanted.size(); ++at) {
        one += rows.is_null(at)     ? " null"
               : wanted[at].is_text ? " " + std::to_string(rows.text(at).size()) + ":" + std::string(rows.text(at))
                                    : " " + std::to_string(rows.integer(at));
      }
      made.rows.push_back(one);
    }
  } catch (const adaptyst::error& failed) {
    made.failed = failed.what();
  }
  made.from_pages = rows.reads_pages();
  return made;
}

// Empty: none. Not both lists, which Catch would write out for minutes.
std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t at = 0; at != a.size() || at != b.size(); ++at) {
    const std::string one = at < a.size() ? a[at] : "no row", other = at < b.size() ? b[at] : "no row";
    if (one != other) return one.substr(0, 200) + " | " + other.substr(0, 200);
  }
  return {};
}

// Both ways, of all rows and of ranges of them.
void compare(const std::string& file, const std::vector<table_rows::column>& wanted, bool has_pages) {
  const taken ours = take(file, wanted, table_rows::source::pages_or_sql);
  const taken theirs = take(file, wanted, table_rows::source::sql);
  CHECK(ours.failed == theirs.failed);
  CHECK(ours.from_pages == has_pages);
  CHECK_FALSE(theirs.from_pages);
  CHECK(first_difference(ours.rows, theirs.rows) == "");
  std::mt19937_64 draw(3);
  for (int round = 0; round != 20 && !theirs.rows.empty(); ++round) {
    const std::int64_t a = std::stoll(theirs.rows[draw() % theirs.rows.size()]),
                       b = std::stoll(theirs.rows[draw() % theirs.rows.size()]);
    const std::int64_t first = round % 2 == 0 || a == lowest ? a : a - 1;
    CHECK(first_difference(take(file, wanted, table_rows::source::pages_or_sql, first, b).rows,
                           take(file, wanted, table_rows::source::sql, first, b).rows) == "");
  }
}

std::string random_integer(std::mt19937_64& draw) {
  // Of each width that a record has, both signs, 0 and 1.
  const std::uint64_t bits = draw() % 65;
  const std::uint64_t number = bits == 0 ? draw() % 2 : draw() >> (64 - bits);
  return std::to_string(static_cast<std::int64_t>(draw() % 2 == 0 ? number : ~number));
}

const std::vector<table_rows::column> wanted{{"start"}, {"end"}, {"late|name"}, {"nothing"}};

std::string filled(int rows, std::uint64_t chance, std::size_t max_text) {
  std::mt19937_64 draw(chance);
  std::string sql = "CREATE TABLE t(start INTEGER, wide TEXT, \"end\" INTEGER, other REAL, name INTEGER); BEGIN;";
  for (int row = 0; row != rows; ++row)
    sql += "INSERT INTO t VALUES(" + random_integer(draw) + ",'" + std::string(draw() % (max_text + 1), 'x') + "'," +
           (draw() % 8 == 0 ? "NULL" : random_integer(draw)) + ",0.5," + random_integer(draw) + ");";
  return sql + "COMMIT;";
}

}  // namespace

TEST_CASE("rows of pages are those of SQLite, with pages of all sizes, and rows that go over several") {
  for (const int page_bytes : {512, 4096, 65536}) {
    for (const std::size_t max_text : {std::size_t{20}, std::size_t{3000}}) {
      CAPTURE(page_bytes, max_text);
      made_file file;
      file.run("PRAGMA page_size=" + std::to_string(page_bytes));
      file.run(filled(800, static_cast<std::uint64_t>(page_bytes) + max_text, max_text));
      file.run("DELETE FROM t WHERE rowid % 7 = 3 OR rowid BETWEEN 200 AND 300");
      file.run("UPDATE t SET wide = wide || wide || wide WHERE rowid % 11 = 1");
      file.run("INSERT INTO t(rowid, start) VALUES(-5, 7), (-9223372036854775807, 8), (9223372036854775807, 9)");
      file.close();
      compare(file.name(), wanted, true);
      compare(file.name(), {{"wide", true}, {"start"}}, true);
    }
  }
}

TEST_CASE("a table without rows, and one with a single row") {
  made_file file;
  file.run("CREATE TABLE t(start INTEGER, \"end\" INTEGER)");
  compare(file.name(), wanted, true);
  file.run("INSERT INTO t VALUES(1, 2)");
  compare(file.name(), wanted, true);
  CHECK(take(file.name(), wanted, table_rows::source::pages_or_sql, 5, 4).rows.empty());
}

TEST_CASE("columns that were added later are NULL, or have their default, in rows that are older") {
  made_file file;
  file.run(filled(300, 1, 10));
  file.run("ALTER TABLE t ADD COLUMN late INTEGER");
  compare(file.name(), wanted, true);
  file.run("INSERT INTO t(start, late) VALUES(5, 6)");
  compare(file.name(), wanted, true);
  file.run("ALTER TABLE t ADD COLUMN \"nothing\" INTEGER DEFAULT 42");
  compare(file.name(), wanted, false);
  CHECK(take(file.name(), wanted, table_rows::source::pages_or_sql).rows.front().find(" 42") != std::string::npos);
}

TEST_CASE("0 and empty texts are no NULL, and give way to another column of the same value") {
  made_file file;
  file.run("CREATE TABLE t(start INTEGER, \"end\" INTEGER, short TEXT, long TEXT)");
  for (const char* const start : {"NULL", "0", "7"})
    for (const char* const end : {"NULL", "0", "8"})
      for (const char* const brief : {"NULL", "''", "'0'", "'a'"})
        for (const char* const full : {"NULL", "''", "'0'", "'b'"})
          file.run(std::string("INSERT INTO t VALUES(") + start + "," + end + "," + brief + "," + full + ")");
  compare(file.name(), {{"start"}, {"end"}, {"short", true}, {"long", true}}, true);
  compare(file.name(), {{"start|end"}, {"short|long", true}}, true);
  compare(file.name(), {{"end|start"}, {"long|late|short", true}}, true);
  for (const auto from : {table_rows::source::pages_or_sql, table_rows::source::sql}) {
    const taken all = take(file.name(), {{"start"}, {"short", true}}, from);
    REQUIRE(all.rows.size() == 144);
    CHECK(all.rows[0] == "1 null null");
    CHECK(all.rows[52] == "53 0 0:");
  }
}

TEST_CASE("what is not plain is left to SQLite") {
  struct shape {
    const char* what;
    const char* sql;
  };
  const shape shapes[] = {
      {"a name of the row's number",
       "CREATE TABLE t(start INTEGER PRIMARY KEY, \"end\" INTEGER); INSERT INTO t VALUES(7, 8), (-2, 3)"},
      {"a computed column",
       "CREATE TABLE t(\"end\" INTEGER, start INTEGER AS (\"end\" - 5)); INSERT INTO t VALUES(7), (8)"},
      {"a column that is called rowid",
       "CREATE TABLE t(start INTEGER, rowid INTEGER); INSERT INTO t VALUES(7, 8), (1, 2)"},
      {"real numbers", "CREATE TABLE t(start INTEGER, \"end\" INTEGER); INSERT INTO t VALUES(7, 8), (1.5, 2), (2, 3)"},
      {"texts", "CREATE TABLE t(start INTEGER, \"end\"); INSERT INTO t VALUES(7, '12 years'), (1, 2)"},
      {"an encoding of two bytes",
       "PRAGMA encoding='UTF-16'; CREATE TABLE t(start INTEGER, \"end\" INTEGER); INSERT INTO t VALUES(7, 8)"},
  };
  for (const shape& one : shapes) {
    CAPTURE(one.what);
    made_file file;
    file.run(one.sql);
    compare(file.name(), wanted, false);
    CHECK_FALSE(take(file.name(), wanted, table_rows::source::pages_or_sql).rows.empty());
  }
  // A name of the row's number that is not asked for is in nobody's way.
  made_file file;
  file.run("CREATE TABLE t(id INTEGER PRIMARY KEY, start INTEGER); INSERT INTO t VALUES(70, 8), (-2, 3)");
  compare(file.name(), wanted, true);
  // And a table without such numbers has no ranges of them.
  made_file without;
  without.run("CREATE TABLE t(start INTEGER PRIMARY KEY, \"end\" INTEGER) WITHOUT ROWID; INSERT INTO t VALUES(7, 8)");
  CHECK_FALSE(take(without.name(), wanted, table_rows::source::pages_or_sql).failed.empty());
}

TEST_CASE("damaged pages do no harm, and are told as SQLite tells them") {
  made_file file;
  file.run("PRAGMA page_size=512");
  file.run(filled(300, 5, 400));
  file.close();
  const taken whole = take(file.name(), wanted, table_rows::source::sql);
  REQUIRE(whole.rows.size() == 300);
  std::mt19937_64 draw(11);
  int failed = 0, same = 0;
  for (int round = 0; round != 1500; ++round) {
    // Behind the schema, and mostly in the headers of pages.
    const std::uint64_t page = 1 + draw() % (file.size() / 512 - 1);
    std::array<std::pair<std::uint64_t, std::uint8_t>, 3> before;
    for (auto& [at, byte] : before) {
      at = page * 512 + draw() % (draw() % 2 == 0 ? 16 : 512);
      byte = file.peek(at);
      file.poke(at, static_cast<std::uint8_t>(draw()));
    }
    const taken ours = take(file.name(), wanted, table_rows::source::pages_or_sql);
    if (!ours.failed.empty()) {
      ++failed;
      CHECK(ours.failed.find("table t") != std::string::npos);
      CHECK(ours.failed.find("row ") != std::string::npos);
    } else if (ours.rows == whole.rows) {
      ++same;
    }
    for (auto one = before.rbegin(); one != before.rend(); ++one) file.poke(one->first, one->second);
  }
  CHECK(failed > 100);
  CHECK(same > 100);
  CHECK(take(file.name(), wanted, table_rows::source::pages_or_sql).rows == whole.rows);
}

TEST_CASE("rows that a damaged tree has twice are told, and none is read below the first one wanted") {
  made_file file;
  file.run("PRAGMA page_size=512");
  file.run(filled(300, 5, 10));
  file.close();
  // The root's first two cells lead to the same leaf.
  std::uint64_t root = 0;
  for (std::uint64_t at = 512; at != file.size(); at += 512)
    if (file.peek(at) == 5) root = at;
  REQUIRE(root != 0);
  const auto cell = [&](std::uint64_t number) {
    return root + (std::uint64_t{file.peek(root + 12 + 2 * number)} << 8U | file.peek(root + 13 + 2 * number));
  };
  for (std::uint64_t byte = 0; byte != 4; ++byte) file.poke(cell(1) + byte, file.peek(cell(0) + byte));
  for (const auto from : {table_rows::source::pages_or_sql, table_rows::source::sql}) {
    const taken all = take(file.name(), wanted, from);
    REQUIRE_FALSE(all.rows.empty());
    const std::string last = std::to_string(all.rows.size());
    const std::string why = ", table t, behind row " + last + ": rows are out of their order";
    CHECK(all.failed.find(why) != std::string::npos);
    // From the last row of the first leaf on: the rows before it come again behind it.
    const taken behind = take(file.name(), wanted, from, std::stoll(last), highest);
    CHECK(behind.rows == std::vector<std::string>{all.rows.back()});
    CHECK(behind.failed.find(why) != std::string::npos);
  }
}

TEST_CASE("opening a file again leaves the lock of who reads it already") {
  made_file file;
  file.run(filled(10, 1, 10));
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  table_rows rows(in, "t", wanted);
  CHECK_FALSE(file.is_locked());
  rows.start(lowest, highest);
  CHECK(file.is_locked());
  const sqlite_database again(file.name(), sqlite_database::opened::to_read);
  CHECK(file.is_locked());
}

TEST_CASE("what stands in a log beside the file is read, too") {
  char folder[] = "/tmp/adaptyst-table-rows-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string name = std::string(folder) + "/live.sqlite";
  sqlite3* writer = nullptr;
  REQUIRE(sqlite3_open(name.c_str(), &writer) == SQLITE_OK);
  const auto run = [&](const char* sql) { REQUIRE(sqlite3_exec(writer, sql, nullptr, nullptr, nullptr) == SQLITE_OK); };
  run("PRAGMA journal_mode=WAL; CREATE TABLE t(start INTEGER, \"end\" INTEGER); INSERT INTO t VALUES(1, 2)");
  const taken with_log = take(name, wanted, table_rows::source::pages_or_sql);
  CHECK(with_log.rows.size() == 1);
  CHECK_FALSE(with_log.from_pages);
  run("PRAGMA wal_checkpoint(TRUNCATE)");
  const taken without = take(name, wanted, table_rows::source::pages_or_sql);
  CHECK(without.rows == with_log.rows);
  CHECK(without.from_pages);
  // A reader on its way keeps what it began with.
  const sqlite_database in(name, sqlite_database::opened::to_read);
  table_rows rows(in, "t", wanted);
  rows.start(lowest, highest);
  run("INSERT INTO t VALUES(3, 4)");
  sqlite3_wal_checkpoint_v2(writer, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  CHECK(rows.step());
  CHECK_FALSE(rows.step());
  rows.start(lowest, highest);
  CHECK(rows.step());
  CHECK(rows.step());
  CHECK_FALSE(rows.step());
  sqlite3_close(writer);
  for (const char* const ending : {"", "-wal", "-shm"}) unlink((name + ending).c_str());
  rmdir(folder);
}
