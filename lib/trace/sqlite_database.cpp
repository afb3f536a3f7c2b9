// Wraps the calls of SQLite that are used here, and turns each failure into an error with file, table and row.
#include "sqlite_database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <utility>

#include "../support/error.hpp"
#include "../support/output_file.hpp"

namespace adaptyst::lib {

namespace {

// Of waiting for one who writes.
constexpr int busy_ms = 2000;

constexpr char first_bytes[] = "SQLite format 3";

const char* hint(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another program has it open to write: wait until that has ended, or take a copy";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return "the file is damaged or not whole: export it again, or copy it again";
    case SQLITE_FULL: return "the disk is full: name another place";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
      return "look whether it is there, and may be read; a trace that is still written needs its folder, too";
    default: return "";
  }
}

// What a file that is no database may be, by how it begins.
const char* name_format(std::string_view head) {
  const auto begins = [head](std::string_view with) { return head.substr(0, with.size()) == with; };
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (begins("\x1f\x8b")) return "compressed by gzip";
  if (begins("\x28\xb5\x2f\xfd")) return "compressed by zstd";
  if (begins("PK\x03\x04")) return "a ZIP archive";
  if (begins("\x89HDF")) return "HDF5";
  if (begins("PAR1") || begins("ARROW1")) return "a Parquet or Arrow file";
  if (begins("PERFILE2")) return "a file of perf";
  if (begins("#Paraver")) return "a Paraver trace";
  if (begins("\x7f"
             "ELF"))
    return "a program";
  if (first != std::string_view::npos && (head[first] == '[' || head[first] == '{'))
    return "JSON, as a Chrome trace or a profile is";
  return "of an unknown format";
}

// SQLite would wait for one who writes to a pipe.
void require_file(const std::string& file) {
  struct stat about {};
  if (stat(file.c_str(), &about) != 0 || access(file.c_str(), R_OK) != 0)
    throw error(fmt::format("cannot read {}", file), file, errno, "");
  if (!S_ISREG(about.st_mode))
    throw error(fmt::format("{} is no file", file), file, 0, "name a file in SQLite's format");
}

}  // namespace

bool is_same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string quoted_name(std::string_view name) {
  std::string made = "\"";
  for (const char one : name) {
    if (one == '"') made += '"';
    made += one;
  }
  return made + '"';
}

sqlite_statement::sqlite_statement(const sqlite_database& in, const std::string& sql, std::string table)
    : in_(&in), table_(std::move(table)) {
  const int code = sqlite3_prepare_v2(in.of_, sql.c_str(), static_cast<int>(sql.size()), &of_, nullptr);
  if (code != SQLITE_OK) in.fail(table_, code);
}

sqlite_statement::sqlite_statement(sqlite_statement&& other) noexcept
    : of_(std::exchange(other.of_, nullptr)), in_(other.in_), table_(std::move(other.table_)) {}

sqlite_statement& sqlite_statement::operator=(sqlite_statement&& other) noexcept {
  std::swap(of_, other.of_);
  std::swap(in_, other.in_);
  std::swap(table_, other.table_);
  return *this;
}

sqlite_statement::~sqlite_statement() { sqlite3_finalize(of_); }

void sqlite_statement::bind(int place, std::int64_t value) { sqlite3_bind_int64(of_, place, value); }
void sqlite_statement::bind(int place, double value) { sqlite3_bind_double(of_, place, value); }
void sqlite_statement::bind_null(int place) { sqlite3_bind_null(of_, place); }
void sqlite_statement::bind_text(int place, std::string_view text) {
  const std::string valid = valid_utf8(text);
  sqlite3_bind_text64(of_, place, valid.data(), valid.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

bool sqlite_statement::step() { return step({}); }

bool sqlite_statement::step(const std::function<std::string()>& where) {
  const int code = sqlite3_step(of_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) in_->fail(table_, code, where != nullptr ? where() : std::string());
  return false;
}

void sqlite_statement::run() {
  step();
  reset();
}

void sqlite_statement::reset() noexcept { sqlite3_reset(of_); }

bool sqlite_statement::is_null(int column) const noexcept { return sqlite3_column_type(of_, column) == SQLITE_NULL; }
std::optional<std::int64_t> sqlite_statement::number(int column) const noexcept {
  const int type = sqlite3_column_type(of_, column);
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) return sqlite3_column_int64(of_, column);
  if (type == SQLITE_NULL) return std::nullopt;
  const std::string_view written = text(column);
  std::int64_t made = 0;
  const auto [end, failed] = std::from_chars(written.data(), written.data() + written.size(), made);
  return failed == std::errc{} && end == written.data() + written.size() ? std::optional(made) : std::nullopt;
}
double sqlite_statement::real(int column) const noexcept { return sqlite3_column_double(of_, column); }
std::string_view sqlite_statement::text(int column) const noexcept {
  // Not as a blob: that would have the bytes of the file, which may be in UTF-16.
  const void* const bytes = sqlite3_column_text(of_, column);
  const int count = sqlite3_column_bytes(of_, column);
  return bytes == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

sqlite_database::sqlite_database(std::string file, opened how) : file_(std::move(file)) {
  int flags = SQLITE_OPEN_NOMUTEX;
  if (how == opened::to_read) {
    require_file(file_);
    flags |= SQLITE_OPEN_READONLY;
  } else {
    // What a writer that was killed has left beside it belongs to the file that is replaced.
    for (const char* const beside : {"", "-wal", "-shm", "-journal"})
      if (unlink((file_ + beside).c_str()) != 0 && errno != ENOENT)
        throw error(fmt::format("cannot replace {}{}", file_, beside), file_, errno, "name another file");
    const int made = open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (made < 0) throw error(fmt::format("cannot write {}", file_), file_, errno, "name another file");
    ::close(made);
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW;
  }
  // A plain name: one with "file:" in front would be an address to SQLite.
  const std::string name = file_.rfind("file:", 0) == 0 ? "./" + file_ : file_;
  const int code = sqlite3_open_v2(name.c_str(), &of_, flags, nullptr);
  try {
    if (code != SQLITE_OK) fail({}, code);
    if (how == opened::to_read) require_database();
    sqlite3_extended_result_codes(of_, 1);
    sqlite3_busy_timeout(of_, busy_ms);
    // A file from elsewhere: its views and triggers run nothing.
    sqlite3_db_config(of_, SQLITE_DBCONFIG_DEFENSIVE, how == opened::to_read ? 1 : 0, nullptr);
    sqlite3_db_config(of_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    if (how == opened::to_read) prepare("SELECT count(*) FROM sqlite_master", "sqlite_master").step();
  } catch (...) {
    close();
    throw;
  }
}

sqlite_database::~sqlite_database() { close(); }

void sqlite_database::close() noexcept { sqlite3_close_v2(std::exchange(of_, nullptr)); }

// SQLite itself takes an empty file for an empty database, and says of others only that they are none.
void sqlite_database::require_database() const {
  const std::uint64_t bytes = file_bytes();
  if (bytes == 0)
    throw error(fmt::format("{} is empty", file_), file_, 0,
                "nsys export --type sqlite, or adaptyst run --timeline, make one");
  unsigned char head[sizeof first_bytes + 2] = {};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, sizeof head));
  if (!read_file(0, head, count)) fail({}, SQLITE_IOERR_READ);
  if (std::memcmp(head, first_bytes, sizeof first_bytes) != 0)
    throw error(fmt::format("{} is no SQLite file, but {}", file_, name_format({reinterpret_cast<char*>(head), count})),
                file_, 0, "of a report of Nsight Systems, nsys export --type sqlite FILE.nsys-rep makes one");
  // SQLite would read zeros behind the end, and rows of zeros are rows.
  const unsigned page_bytes = static_cast<unsigned>(head[16]) << 8U | head[17];
  if (const unsigned page = page_bytes == 1 ? 65536 : page_bytes; page != 0 && bytes % page != 0)
    throw error(fmt::format("{} is malformed: it ends within a page, at byte {}", file_, bytes), file_, 0,
                hint(SQLITE_CORRUPT));
}

void sqlite_database::fail(const std::string& table, int code, const std::string& where) const {
  const char* const why = of_ != nullptr ? sqlite3_errmsg(of_) : sqlite3_errstr(code);
  const int number = of_ != nullptr && (code & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(of_) : 0;
  throw error(fmt::format("{}{}{}{}: {}", file_, table.empty() ? "" : ", table ", table, where, why), file_, number,
              hint(code));
}

namespace {

sqlite3_file* find_file(sqlite3* in, int which) {
  sqlite3_file* made = nullptr;
  const bool is_known = sqlite3_file_control(in, "main", which, &made) == SQLITE_OK;
  return is_known && made != nullptr && made->pMethods != nullptr ? made : nullptr;
}

std::uint64_t count_bytes(sqlite3_file* of) {
  sqlite3_int64 bytes = 0;
  return of != nullptr && of->pMethods->xFileSize(of, &bytes) == SQLITE_OK && bytes > 0
             ? static_cast<std::uint64_t>(bytes)
             : 0;
}

}  // namespace

std::uint64_t sqlite_database::file_bytes() const noexcept {
  return count_bytes(find_file(of_, SQLITE_FCNTL_FILE_POINTER));
}

bool sqlite_database::read_file(std::uint64_t at, void* to, std::size_t count) const noexcept {
  sqlite3_file* const in = find_file(of_, SQLITE_FCNTL_FILE_POINTER);
  return in != nullptr && count <= INT_MAX &&
         in->pMethods->xRead(in, to, static_cast<int>(count), static_cast<sqlite3_int64>(at)) == SQLITE_OK;
}

bool sqlite_database::has_log() const noexcept {
  return count_bytes(find_file(of_, SQLITE_FCNTL_JOURNAL_POINTER)) != 0;
}

void sqlite_database::run(const std::string& sql) const {
  const int code = sqlite3_exec(of_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail({}, code);
}

sqlite_statement sqlite_database::prepare(const std::string& sql, std::string table) const {
  return {*this, sql, std::move(table)};
}

bool sqlite_database::has_table(std::string_view name) const {
  sqlite_statement found = prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE");
  found.bind_text(1, name);
  return found.step();
}

std::vector<std::string> sqlite_database::tables() const {
  std::vector<std::string> made;
  sqlite_statement rows = prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  while (rows.step()) made.emplace_back(rows.text(0));
  return made;
}

void sqlite_database::require_columns(const std::string& table, const std::vector<const char*>& names) const {
  const std::vector<std::string> known = columns(table);
  for (const char* const name : names) {
    if (std::any_of(known.begin(), known.end(), [&](const std::string& one) { return is_same_name(one, name); }))
      continue;
    throw error(fmt::format("{}, table {}: there is no column {}", file_, table, name), file_, 0,
                fmt::format("its columns are {}", fmt::join(known, ", ")));
  }
}

std::vector<std::string> sqlite_database::columns(const std::string& table) const {
  std::vector<std::string> made;
  sqlite_statement rows = prepare(fmt::format("PRAGMA table_info({})", quoted_name(table)), table);
  while (rows.step()) made.emplace_back(rows.text(1));
  return made;
}

std::string sqlite_database::select(const std::string& table, const std::vector<const char*>& wanted) const {
  const std::vector<std::string> known = columns(table);
  std::string made = "SELECT ";
  bool is_first = true;
  for (std::string_view names : wanted) {
    std::vector<std::string> found;
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find('|'));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      for (const std::string& one : known)
        if (is_same_name(one, name)) found.push_back(quoted_name(one));
    }
    std::string column = found.empty() ? "NULL" : found.back();
    for (std::size_t at = found.size(); at-- > 1;)
      column = fmt::format("coalesce(nullif(nullif({}, 0), ''), {})", found[at - 1], column);
    if (!is_first) made += ", ";
    is_first = false;
    made += column;
  }
  return made + ", rowid FROM " + quoted_name(table);
}

sqlite_database::row_range sqlite_database::rows(const std::string& table) const {
  // Two questions: each is a single walk down the tree, which one for both would not be.
  row_range made;
  const std::string name = quoted_name(table);
  sqlite_statement first = prepare(fmt::format("SELECT min(rowid) FROM {}", name), table);
  sqlite_statement last = prepare(fmt::format("SELECT max(rowid) FROM {}", name), table);
  if (first.step() && !first.is_null(0) && last.step()) made = {first.integer(0), last.integer(0)};
  return made;
}

}  // namespace adaptyst::lib
