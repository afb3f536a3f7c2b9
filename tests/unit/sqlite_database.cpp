// Rows that an aggregate function takes: their types, their order, and what becomes of damaged, cut and unusual files.
#include "trace/sqlite_database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "sanitized.hpp"
#include "support/error.hpp"

namespace {

using namespace adaptyst::lib;
using walk = row_taker::walk;

constexpr std::int64_t lowest = INT64_MIN, highest = INT64_MAX;

// A file that SQLite itself has written; gone with this object. It has a name, since SQLite opens the file that a link
// in /proc leads to.
class made_file {
 public:
  explicit made_file(const std::string& sql = {}) : file_(mkostemp(name_.data(), O_CLOEXEC)) {
    REQUIRE(file_ >= 0);
    REQUIRE(sqlite3_open(name_.c_str(), &in_) == SQLITE_OK);
    run("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
    run(sql);
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
  // Whether a connection, of this process too, holds a read lock.
  bool is_locked() const {
    struct flock requested {};
    requested.l_type = F_WRLCK;
    requested.l_whence = SEEK_SET;
    requested.l_start = 0x40000002;  // SQLite's readers share a lock of these bytes
    requested.l_len = 510;
    REQUIRE(fcntl(file_, F_OFD_GETLK, &requested) == 0);
    return requested.l_type != F_UNLCK;
  }
  std::uint64_t size() const { return static_cast<std::uint64_t>(lseek(file_, 0, SEEK_END)); }
  void cut(std::uint64_t size) const { REQUIRE(ftruncate(file_, static_cast<off_t>(size)) == 0); }
  void add_page(const std::vector<std::uint8_t>& bytes) const {
    REQUIRE(pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(size())) ==
            static_cast<ssize_t>(bytes.size()));
  }
  void poke(std::uint64_t at, std::uint8_t byte) const {
    REQUIRE(pwrite(file_, &byte, 1, static_cast<off_t>(at)) == 1);
  }
  std::uint8_t peek(std::uint64_t at) const {
    std::uint8_t byte = 0;
    REQUIRE(pread(file_, &byte, 1, static_cast<off_t>(at)) == 1);
    return byte;
  }

 private:
  std::string name_ = "/tmp/adaptyst-sqlite-XXXXXX";
  int file_;
  sqlite3* in_ = nullptr;
};

std::string words(const taken_row& row, const std::vector<row_taker::column>& wanted) {
  std::string made = std::to_string(row.row);
  for (std::size_t at = 0; at != wanted.size(); ++at)
    made += row.is_null(at)      ? " null"
            : wanted[at].is_text ? " '" + std::string(row.text(at)) + "'"
                                 : " " + std::to_string(row.integer(at));
  return row.wrong_column != nullptr ? made + " wrong " + row.wrong_column : made;
}

struct taken {
  std::vector<std::string> rows;
  std::uint64_t count = 0;
  std::string failed;
};

taken take(const std::string& file, const std::vector<row_taker::column>& wanted, walk how = walk::range,
           std::int64_t first = lowest, std::int64_t last = highest) {
  taken made;
  try {
    const sqlite_database in(file, sqlite_database::opened::to_read);
    row_taker rows(in, "t", wanted);
    made.count = rows.take(how, first, last, [&](const taken_row& row) { made.rows.push_back(words(row, wanted)); });
  } catch (const adaptyst::error& failed) {
    made.failed = failed.what();
  }
  return made;
}

using row_list = std::vector<std::string>;

// In ranges, as several threads read it.
taken take_in_parts(const std::string& file, const std::vector<row_taker::column>& wanted, std::int64_t step,
                    sqlite_database::row_range& all, std::uint64_t& counted) {
  taken made;
  try {
    const sqlite_database in(file, sqlite_database::opened::to_read);
    all = in.rows("t");
    counted = in.count_rows("t", all);
    row_taker rows(in, "t", wanted);
    for (std::int64_t first = all.first; first <= all.last; first += step)
      made.count += rows.take(walk::range, first, std::min(first + step - 1, all.last),
                              [&](const taken_row& row) { made.rows.push_back(words(row, wanted)); });
  } catch (const adaptyst::error& failed) {
    made.failed = failed.what();
  }
  return made;
}

const std::vector<row_taker::column> wanted{{"start"}, {"end"}, {"late|name"}, {"nothing"}};

std::string filled(int rows, std::uint64_t chance, std::size_t max_text) {
  std::mt19937_64 draw(chance);
  std::string sql = "CREATE TABLE t(start INTEGER, wide TEXT, \"end\" INTEGER, other REAL, name INTEGER); BEGIN;";
  for (int row = 0; row != rows; ++row)
    sql += "INSERT INTO t VALUES(" + std::to_string(row * 100) + ",'" + std::string(draw() % (max_text + 1), 'x') +
           "'," + std::to_string(row * 100 + 50) + ",0.5," + std::to_string(1 + draw() % 20) + ");";
  return sql + "COMMIT;";
}

std::uint64_t find_root(const made_file& file, std::uint64_t page_bytes) {
  std::uint64_t root = 0;
  for (std::uint64_t at = page_bytes; at != file.size(); at += page_bytes)
    if (file.peek(at) == 5) root = at;
  REQUIRE(root != 0);
  return root;
}

// Where the cell of that number begins, on a page above leaves.
std::uint64_t find_cell(const made_file& file, std::uint64_t page, std::uint64_t number) {
  return page + (std::uint64_t{file.peek(page + 12 + 2 * number)} << 8U | file.peek(page + 13 + 2 * number));
}

// Puts pages above the first page of a tree, whose 40 cells all lead to the same page below them: 40^6 times its rows.
void repeat_rows(const made_file& file, std::uint64_t root, std::uint64_t page_bytes) {
  constexpr std::uint64_t cells = 40, levels = 6;
  std::vector<std::uint8_t> page(page_bytes);
  for (std::uint64_t at = 0; at != page_bytes; ++at) page[at] = file.peek(root + at);
  file.add_page(page);
  for (std::uint64_t level = 0; level != levels; ++level) {
    const std::uint64_t below = file.size() / page_bytes, first = page_bytes - 5 * cells;
    REQUIRE(below < 256);
    page.assign(page_bytes, 0);
    page[0] = 5;
    page[4] = cells;
    page[5] = static_cast<std::uint8_t>(first >> 8U);
    page[6] = static_cast<std::uint8_t>(first);
    page[11] = static_cast<std::uint8_t>(below);
    for (std::uint64_t cell = 0; cell != cells; ++cell) {
      const std::uint64_t at = first + 5 * cell;
      page[12 + 2 * cell] = static_cast<std::uint8_t>(at >> 8U);
      page[13 + 2 * cell] = static_cast<std::uint8_t>(at);
      page[at + 3] = static_cast<std::uint8_t>(below);
      page[at + 4] = 1;
    }
    if (level + 1 != levels) file.add_page(page);
  }
  for (std::uint64_t at = 0; at != page_bytes; ++at) file.poke(root + at, page[at]);
  file.poke(31, static_cast<std::uint8_t>(file.size() / page_bytes));
}

}  // namespace

TEST_CASE("integers are taken, real numbers only where they are integral and in range, and texts are wrong") {
  made_file file(
      "CREATE TABLE t(start, name TEXT);"
      "INSERT INTO t VALUES(7, 'a'), (-9223372036854775808, ''), (3.0, NULL), (3.5, 'b'), (1e300, 'b'),"
      "(-9223372036854775808.0, 'b'), (9223372036854775808.0, 'b'), ('12', 'b'), ('12 years', 'b'), (x'01', 'b'),"
      "(NULL, 5), (0, 'd')");
  const row_list expected{"1 7 'a'",
                          "2 -9223372036854775808 ''",
                          "3 3 null",
                          "4 null 'b' wrong start",
                          "5 null 'b' wrong start",
                          "6 -9223372036854775808 'b'",
                          "7 null 'b' wrong start",
                          "8 null 'b' wrong start",
                          "9 null 'b' wrong start",
                          "10 null 'b' wrong start",
                          "11 null '5'",
                          "12 0 'd'"};
  const std::vector<row_taker::column> columns{{"start"}, {"name", true}};
  for (const walk how : {walk::range, walk::whole}) CHECK(take(file.name(), columns, how).rows == expected);
  // A statement has the same rule.
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  sqlite_statement rows = in.prepare(in.select("t", {"start"}), "t");
  std::size_t wrong = 0;
  for (std::size_t at = 0; rows.step(); ++at) {
    CHECK(rows.is_wrong_number(0) == (expected[at].find("wrong") != std::string::npos));
    wrong += rows.is_wrong_number(0) ? 1U : 0U;
  }
  CHECK(wrong == 6);
}

TEST_CASE("another column counts where the first one is NULL or 0, and a missing column is NULL") {
  made_file file(filled(300, 1, 10));
  CHECK(take(file.name(), wanted).rows[1] == take(file.name(), {{"start"}, {"end"}, {"name"}, {"nothing"}}).rows[1]);
  file.run("ALTER TABLE t ADD COLUMN late INTEGER; UPDATE t SET late = 7000 + rowid WHERE rowid % 3 != 1");
  file.run("UPDATE t SET late = 0, name = 5 WHERE rowid = 100");
  for (const walk how : {walk::range, walk::whole}) {
    const taken all = take(file.name(), wanted, how);
    REQUIRE(all.rows.size() == 300);
    CHECK(all.count == 300);
    CHECK(all.rows[1] == "2 100 150 7002 null");
    CHECK(all.rows[99] == "100 9900 9950 5 null");
    CHECK(all.rows[100] == "101 10000 10050 7101 null");
    CHECK(all.rows[298] == "299 29800 29850 7299 null");
  }
  file.run("ALTER TABLE t ADD COLUMN \"nothing\" INTEGER DEFAULT 42");
  CHECK(take(file.name(), wanted).rows[1] == "2 100 150 7002 42");
}

TEST_CASE("ranges of rows, whatever their numbers are") {
  made_file file(filled(300, 1, 10));
  file.run("INSERT INTO t(rowid, start) VALUES(-5, 7), (-9223372036854775808, 8), (9223372036854775807, 9)");
  for (const walk how : {walk::range, walk::whole}) {
    const std::vector<row_taker::column> columns{{"start"}};
    CHECK(take(file.name(), columns, how).count == 303);
    CHECK(take(file.name(), columns, how, lowest, 1).rows == row_list{"-9223372036854775808 8", "-5 7", "1 0"});
    CHECK(take(file.name(), columns, how, 300, highest).rows == row_list{"300 29900", "9223372036854775807 9"});
    CHECK(take(file.name(), columns, how, 5, 4).rows.empty());
  }
  made_file empty("CREATE TABLE t(start INTEGER)");
  for (const walk how : {walk::range, walk::whole}) CHECK(take(empty.name(), wanted, how).count == 0);
}

TEST_CASE("texts in UTF-16, columns in another case, columns with the names of the row's number") {
  made_file wide(
      "PRAGMA encoding='UTF-16le'; CREATE TABLE t(START INTEGER, Name TEXT); INSERT INTO t VALUES(7, 'k\xc3\xa4se')");
  CHECK(take(wide.name(), {{"start"}, {"name", true}}).rows == row_list{"1 7 'k\xc3\xa4se'"});
  made_file named(
      "CREATE TABLE t(start INTEGER, RowId INTEGER, _rowid_ TEXT); INSERT INTO t VALUES(7, 8, 'a'), (1, 2, 'b')");
  for (const walk how : {walk::range, walk::whole})
    CHECK(take(named.name(), {{"start"}, {"rowid"}}, how).rows == row_list{"1 7 8", "2 1 2"});
  const sqlite_database in(named.name(), sqlite_database::opened::to_read);
  CHECK(in.rows("t").last == 2);
  CHECK(in.count_rows("t", in.rows("t")) == 2);
  made_file key("CREATE TABLE t(start INTEGER PRIMARY KEY, \"end\" INTEGER); INSERT INTO t VALUES(7, 8), (-2, 3)");
  CHECK(take(key.name(), {{"start"}, {"end"}}).rows == row_list{"-2 -2 3", "7 7 8"});
}

TEST_CASE("a table without numbers of rows is refused") {
  made_file file(
      "CREATE TABLE t(start INTEGER PRIMARY KEY, \"end\" INTEGER) WITHOUT ROWID; INSERT INTO t VALUES(7, 8)");
  CHECK(take(file.name(), wanted).failed.find(file.name() + ", table t: its rows have no numbers") == 0);
  made_file all(
      "CREATE TABLE t(start INTEGER, rowid INTEGER, _rowid_ INTEGER, oid INTEGER); INSERT INTO t VALUES(7, 8, 9, 1)");
  CHECK(take(all.name(), wanted).failed.find("table t: its rows have no numbers") != std::string::npos);
}

TEST_CASE("an exception of the function ends the statement, and is thrown again") {
  made_file file(filled(300, 1, 10));
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  row_taker rows(in, "t", wanted);
  for (const walk how : {walk::range, walk::whole}) {
    int taken = 0;
    CHECK_THROWS_AS(rows.take(how, lowest, highest,
                              [&](const taken_row&) {
                                if (++taken == 10) throw std::out_of_range("tenth");
                              }),
                    std::out_of_range);
    CHECK(taken == 10);
    CHECK_FALSE(file.is_locked());
    // It can be used again, and another one of the same connection within it.
    row_taker others(in, "t", {{"start"}});
    std::uint64_t inner = 0;
    CHECK(rows.take(how, 1, 3, [&](const taken_row& row) {
      inner += others.take(walk::range, row.row, row.row + 1, [](const taken_row&) {});
    }) == 3);
    CHECK(inner == 6);
  }
}

TEST_CASE("the schema of a file cannot call the function") {
  made_file file("CREATE TABLE t(start INTEGER); INSERT INTO t VALUES(1)");
  file.run("CREATE VIEW v AS SELECT count(*) AS start FROM t");
  file.run(
      "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = 'CREATE VIEW v AS SELECT adaptyst_take(start) AS "
      "start FROM t' WHERE name = 'v'");
  file.close();
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  const row_taker rows(in, "t", {{"start"}});
  // The function forbids it by itself, without the setting of the connection.
  in.run("PRAGMA trusted_schema = ON");
  try {
    in.prepare("SELECT start FROM v", "v").step();
    FAIL("the view has called it");
  } catch (const adaptyst::error& failed) {
    CHECK(std::string(failed.what()).find("unsafe use of adaptyst_take") != std::string::npos);
  }
}

TEST_CASE("damaged pages do no harm, and the failure names file, table and row") {
  made_file file;
  file.run("PRAGMA page_size=512");
  file.run(filled(300, 5, 400));
  file.close();
  const taken whole = take(file.name(), wanted);
  REQUIRE(whole.rows.size() == 300);
  std::mt19937_64 draw(11);
  int failed = 0, same = 0, missed = 0;
  for (int round = 0; round != random_rounds(1500); ++round) {
    // Behind the schema, and mostly in the headers of pages.
    const std::uint64_t page = 1 + draw() % (file.size() / 512 - 1);
    std::array<std::pair<std::uint64_t, std::uint8_t>, 3> before;
    for (auto& [at, byte] : before) {
      at = page * 512 + draw() % (draw() % 2 == 0 ? 16 : 512);
      byte = file.peek(at);
      file.poke(at, static_cast<std::uint8_t>(draw()));
    }
    const taken ours = take(file.name(), wanted, round % 2 == 0 ? walk::range : walk::whole);
    if (!ours.failed.empty()) {
      ++failed;
      CHECK(ours.failed.find(file.name() + ", table t") == 0);
      CHECK(ours.failed.find("row ") != std::string::npos);
    } else if (ours.rows == whole.rows) {
      ++same;
    }
    // Rows that ranges miss are noticed by their count.
    sqlite_database::row_range all;
    std::uint64_t counted = 0;
    const taken parts = take_in_parts(file.name(), wanted, 60, all, counted);
    if (parts.failed.empty() && parts.count < 300 && counted == 300) ++missed;
    if (parts.failed.empty() && counted == parts.count && counted == 300) CHECK(parts.rows.size() == 300);
    for (auto damaged = before.rbegin(); damaged != before.rend(); ++damaged)
      file.poke(damaged->first, damaged->second);
  }
  CHECK(failed > 100);
  CHECK(same > 100);
  CHECK(missed > 0);
  CHECK(take(file.name(), wanted).rows == whole.rows);
}

TEST_CASE("rows that a damaged tree has twice are an error") {
  made_file file;
  file.run("PRAGMA page_size=512");
  file.run(filled(300, 5, 10));
  file.close();
  // The root's first two cells lead to the same leaf.
  const std::uint64_t root = find_root(file, 512);
  for (std::uint64_t byte = 0; byte != 4; ++byte)
    file.poke(find_cell(file, root, 1) + byte, file.peek(find_cell(file, root, 0) + byte));
  for (const walk how : {walk::range, walk::whole}) {
    const taken all = take(file.name(), wanted, how);
    REQUIRE_FALSE(all.rows.empty());
    const std::string last = std::to_string(all.rows.size());
    const std::string why = ", table t, behind row " + last + ": rows are out of order";
    CHECK(all.failed.find(why) != std::string::npos);
    // From the last row of the first leaf on: the rows before it come again behind it.
    const taken behind = take(file.name(), wanted, how, std::stoll(last), highest);
    CHECK(behind.rows == row_list{all.rows.back()});
    CHECK(behind.failed.find(why) != std::string::npos);
  }
}

TEST_CASE("a damaged tree that repeats its rows is an error of each query") {
  made_file file;
  file.run("PRAGMA page_size=512");
  file.run("CREATE TABLE t(id INT PRIMARY KEY, value TEXT); INSERT INTO t VALUES(1, 'one'), (2, 'two')");
  file.close();
  repeat_rows(file, 512, 512);
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  const auto fail = [&](const auto& run) {
    try {
      run();
    } catch (const adaptyst::error& failed) {
      const std::string words = failed.what();  // and a hint
      return words.substr(0, words.find('\n'));
    }
    return std::string("it ended");
  };
  const std::string why = file.name() + ", table t: damaged: there are more rows than the file can contain";
  CHECK(fail([&] { in.count_rows("t"); }) == why);
  CHECK(fail([&] { text_list(in, "t", {"value"}); }) == why);
  for (const char* const order : {"", " ORDER BY value || 'x' DESC"})
    CHECK(fail([&] {
            sqlite_statement rows = in.prepare("SELECT id, value FROM t" + std::string(order), "t");
            while (rows.step()) continue;
          }) == why);
  // Lookups stay possible, any number of times.
  sqlite_statement row = in.prepare("SELECT value FROM t WHERE id = ?", "t");
  for (int round = 0; round != 500'000; ++round) {
    row.bind(1, std::int64_t{7});
    if (row.step()) FAIL("there is no such row");
    row.reset();
  }
}

TEST_CASE("virtual tables and views are no tables, whatever the schema says") {
  made_file file(
      "CREATE TABLE t(start INTEGER); CREATE TABLE \"Create Table\"(start INTEGER); CREATE VIEW v AS SELECT 1;"
      "CREATE VIRTUAL TABLE f USING fts5(start); CREATE TABLE w(start INTEGER PRIMARY KEY) WITHOUT ROWID;"
      "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = 2 WHERE name = 'f'");
  file.close();
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  for (const char* const name : {"t", "T", "create table", "w"}) CHECK(in.has_table(name));
  for (const char* const name : {"v", "f", "F", "tt", ""}) CHECK_FALSE(in.has_table(name));
  CHECK(in.columns("v").empty());
  CHECK(in.columns("f").empty());
  CHECK(in.columns("T") == row_list{"start"});
}

TEST_CASE("the column with the row number") {
  made_file file(
      "CREATE TABLE alone(id INTEGER PRIMARY KEY, x); CREATE TABLE later(x, ID integer, PRIMARY KEY(id ASC));"
      "CREATE TABLE counted(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT); CREATE TABLE short(id INT PRIMARY KEY);"
      "CREATE TABLE two(id INTEGER, x, PRIMARY KEY(id, x)); CREATE TABLE down(id INTEGER PRIMARY KEY DESC);"
      "CREATE TABLE without(id INTEGER PRIMARY KEY) WITHOUT ROWID; CREATE TABLE made AS SELECT 1 AS id;"
      "CREATE TABLE other(id INTEGER, x INTEGER PRIMARY KEY); CREATE VIEW shown AS SELECT 1 AS id");
  file.close();
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  for (const char* const table : {"alone", "later", "counted"}) CHECK(in.is_row_number(table, "id"));
  for (const char* const table : {"short", "two", "down", "without", "made", "other", "shown", "none"})
    CHECK_FALSE(in.is_row_number(table, "id"));
}

TEST_CASE("rows that a search in a damaged tree misses are counted, and a walk of the whole tree has them") {
  made_file file;
  file.run("PRAGMA page_size=512");
  file.run(filled(300, 5, 10));
  file.close();
  // Below the middle cell of the root are rows up to its key, of two bytes, which becomes 1: a search for one of these
  // rows ends behind them.
  const std::uint64_t root = find_root(file, 512);
  const std::uint64_t middle = (file.peek(root + 4) - 1U) / 2, key = find_cell(file, root, middle) + 4;
  REQUIRE(file.peek(key) == 0x81);
  file.poke(key, 0x80);
  file.poke(key + 1, 1);
  sqlite_database::row_range all;
  std::uint64_t counted = 0;
  const taken parts = take_in_parts(file.name(), wanted, 60, all, counted);
  INFO(parts.failed);
  CHECK(parts.failed.empty());
  CHECK(all.last == 300);
  CHECK(parts.count < 300);
  CHECK(counted == 300);
  CHECK(take(file.name(), wanted, walk::whole, all.first, all.last).count == 300);
}

TEST_CASE("a file that is cut while it is read is an error, and no signal") {
  for (const walk how : {walk::range, walk::whole}) {
    made_file file(filled(40'000, 5, 200));
    file.close();
    REQUIRE(file.size() > 4U << 20U);
    const sqlite_database in(file.name(), sqlite_database::opened::to_read);
    row_taker rows(in, "t", wanted);
    int taken = 0;
    try {
      rows.take(how, lowest, highest, [&](const taken_row&) {
        if (++taken == 10) file.cut(file.size() / 2);
      });
      FAIL("it was read to its end");
    } catch (const adaptyst::error& failed) {
      CHECK(std::string(failed.what()).find(file.name() + ", table t, behind row ") == 0);
      CHECK(taken > 10);
      CHECK(taken < 40'000);
    }
  }
}

TEST_CASE("opening a file again leaves the lock of whoever reads it already") {
  made_file file(filled(10, 1, 10));
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  row_taker rows(in, "t", wanted);
  CHECK_FALSE(file.is_locked());
  rows.take(walk::range, 1, 1, [&](const taken_row&) {
    CHECK(file.is_locked());
    const sqlite_database again(file.name(), sqlite_database::opened::to_read);
    CHECK(file.is_locked());
  });
  CHECK_FALSE(file.is_locked());
}

TEST_CASE("rows in a log beside the file are read, and rows that are added later are not counted") {
  char folder[] = "/tmp/adaptyst-sqlite-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string name = std::string(folder) + "/live.sqlite";
  sqlite3* writer = nullptr;
  REQUIRE(sqlite3_open(name.c_str(), &writer) == SQLITE_OK);
  const auto run = [&](const char* sql) { REQUIRE(sqlite3_exec(writer, sql, nullptr, nullptr, nullptr) == SQLITE_OK); };
  run("PRAGMA journal_mode=WAL; CREATE TABLE t(start INTEGER, \"end\" INTEGER); INSERT INTO t VALUES(1, 2)");
  CHECK(take(name, wanted).rows.size() == 1);
  {
    const sqlite_database in(name, sqlite_database::opened::to_read);
    const sqlite_database::row_range before = in.rows("t");
    row_taker rows(in, "t", wanted);
    // A reader on its way keeps the rows that it began with.
    CHECK(rows.take(walk::whole, lowest, highest, [&](const taken_row&) { run("INSERT INTO t VALUES(3, 4)"); }) == 1);
    CHECK(rows.take(walk::whole, lowest, highest, [](const taken_row&) {}) == 2);
    CHECK(in.rows("t").last == 2);
    CHECK(in.count_rows("t", before) == 1);
    CHECK(rows.take(walk::whole, before.first, before.last, [](const taken_row&) {}) == 1);
  }
  sqlite3_close(writer);
  for (const char* const ending : {"", "-wal", "-shm"}) unlink((name + ending).c_str());
  rmdir(folder);
}

TEST_CASE("sorting may use a temporary file in proportion to the file") {
  made_file file(filled(2000, 1, 10));
  file.close();
  const sqlite_database in(file.name(), sqlite_database::opened::to_read);
  const auto sort = [&](std::int64_t bytes) {
    sqlite_statement rows = in.prepare("SELECT hex(zeroblob(?)) || start AS text FROM t ORDER BY text", "t");
    rows.bind(1, bytes / 2);
    std::size_t count = 0;
    while (rows.step()) ++count;
    return count;
  };
  CHECK(sort(20'000) == 2000);  // 40 MB
  try {
    sort(100'000);
    FAIL("it was sorted");
  } catch (const adaptyst::error& failed) {
    CHECK(
        std::string(failed.what()).find(file.name() + ", table t: its rows need more than 64 MiB of temporary files") ==
        0);
  }
  CHECK(sort(100) == 2000);
}
