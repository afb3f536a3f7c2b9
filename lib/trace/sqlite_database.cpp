// Wraps the SQLite calls in use, and converts each failure to an error with file, table and row.
#include "sqlite_database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "../support/error.hpp"
#include "../support/output_file.hpp"

namespace adaptyst::lib {

namespace {

// Wait for another writer.
constexpr int busy_ms = 2000;

constexpr char first_bytes[] = "SQLite format 3";

// The limit of a query in steps of SQLite's virtual machine. Measured in generated files: 0.25 for each byte of the file,
// and 0.8 if rows have only two small numbers.
constexpr int steps_between_checks = 100'000;
constexpr std::uint64_t steps_of_any_file = 2'000'000, steps_for_a_byte = 20;

// The limit of a temporary file, in which SQLite sorts rows. A sorted row is as large as a row of the file, unless many
// rows share pages or refer to one large text.
constexpr std::uint64_t temporary_bytes_of_any_file = std::uint64_t{64} << 20U, temporary_bytes_for_a_byte = 4;

const char* hint(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another program is writing the file: wait until it has ended, or use a copy";
    case SQLITE_CORRUPT:
    case SQLITE_INTERRUPT:
    case SQLITE_NOTADB: return "the file is damaged or incomplete: export it again, or copy it again";
    case SQLITE_FULL: return "the disk is full: name another folder";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
      return "check that the file exists and is readable; a trace that is being written also needs its folder";
    default: return "";
  }
}

// The probable format of a file that is no database, from its first bytes.
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

// For a pipe, SQLite would wait for a writer.
void require_file(const std::string& file) {
  struct stat about {};
  if (stat(file.c_str(), &about) != 0 || access(file.c_str(), R_OK) != 0)
    throw error(fmt::format("cannot read {}", file), file, errno, "");
  if (!S_ISREG(about.st_mode))
    throw error(fmt::format("{} is no file", file), file, 0, "name a file in SQLite's format");
}

// Empty: it has a fraction, or is out of range.
std::optional<std::int64_t> to_integer(double number) noexcept {
  constexpr double end = 9223372036854775808.0;  // 2^63
  return number >= -end && number < end && std::trunc(number) == number
             ? std::optional(static_cast<std::int64_t>(number))
             : std::nullopt;
}

// `which`: SQLITE_FCNTL_FILE_POINTER, or SQLITE_FCNTL_JOURNAL_POINTER for a log next to the file.
sqlite3_file* find_file(sqlite3* in, int which) noexcept {
  sqlite3_file* made = nullptr;
  const bool is_known = sqlite3_file_control(in, "main", which, &made) == SQLITE_OK;
  return is_known && made != nullptr && made->pMethods != nullptr ? made : nullptr;
}

std::uint64_t count_bytes(sqlite3_file* in) noexcept {
  sqlite3_int64 bytes = 0;
  const bool is_known = in != nullptr && in->pMethods->xFileSize(in, &bytes) == SQLITE_OK && bytes > 0;
  return is_known ? static_cast<std::uint64_t>(bytes) : 0;
}

// Limits the temporary files of the database that runs a statement on this thread.
thread_local const sqlite_database* stepped = nullptr;
std::atomic<const sqlite3_io_methods*> plain_methods{nullptr};  // of temporary files
sqlite3_io_methods limited_methods{};
sqlite3_vfs limited_files{};

int write_limited(sqlite3_file* to, const void* bytes, int count, sqlite3_int64 at) noexcept {
  if (stepped != nullptr && !stepped->allows_temporary(static_cast<std::uint64_t>(at + count))) return SQLITE_FULL;
  return plain_methods.load(std::memory_order_relaxed)->xWrite(to, bytes, count, at);
}

int open_limited(sqlite3_vfs* /*own*/, const char* name, sqlite3_file* file, int flags, int* got) noexcept {
  constexpr int temporary =
      SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_SUBJOURNAL;
  auto* const plain = static_cast<sqlite3_vfs*>(limited_files.pAppData);
  const int code = plain->xOpen(plain, name, file, flags, got);
  if (code != SQLITE_OK || (flags & temporary) == 0 || file->pMethods == nullptr) return code;
  static std::mutex lock;
  const std::lock_guard<std::mutex> held(lock);
  if (plain_methods.load(std::memory_order_relaxed) == nullptr) {
    limited_methods = *file->pMethods;
    limited_methods.xWrite = write_limited;
    plain_methods.store(file->pMethods, std::memory_order_relaxed);
  }
  if (file->pMethods == plain_methods.load(std::memory_order_relaxed)) file->pMethods = &limited_methods;
  return code;
}

// The name of SQLite's access to files, with limited temporary files; null: the usual one.
const char* find_file_access() noexcept {
  static const bool is_registered = [] {
    sqlite3_vfs* const plain = sqlite3_vfs_find(nullptr);
    if (plain == nullptr) return false;
    limited_files = *plain;
    limited_files.zName = "adaptyst";
    limited_files.pNext = nullptr;
    limited_files.pAppData = plain;
    limited_files.xOpen = open_limited;
    return sqlite3_vfs_register(&limited_files, 0) == SQLITE_OK;
  }();
  return is_registered ? limited_files.zName : nullptr;
}

}  // namespace

namespace {

// Only ASCII, as in SQLite.
std::string in_lower_case(std::string_view name) {
  std::string made(name);
  for (char& letter : made)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return made;
}

}  // namespace

std::string_view cut_text(std::string_view text) noexcept {
  constexpr std::size_t max_bytes = 16384, max_character = 4;
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > max_bytes - max_character && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;
  return text.substr(0, end);
}

bool is_same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string quoted_name(std::string_view name) {
  std::string made = "\"";
  for (const char c : name) {
    if (c == '"') made += '"';
    made += c;
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
  // Rows that an aggregate function takes may step other statements.
  sqlite_statement* const outer = std::exchange(in_->running_, this);
  const sqlite_database* const outer_stepped = std::exchange(stepped, in_);
  const int code = sqlite3_step(of_);
  stepped = outer_stepped;
  in_->running_ = outer;
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) in_->fail(table_, code, where != nullptr ? where() : std::string());
  return false;
}

void sqlite_statement::run() {
  step();
  reset();
}

void sqlite_statement::reset() noexcept {
  sqlite3_reset(of_);
  steps_ = 0;
}

bool sqlite_statement::is_null(int column) const noexcept { return sqlite3_column_type(of_, column) == SQLITE_NULL; }
std::optional<std::int64_t> sqlite_statement::number(int column) const noexcept {
  const int type = sqlite3_column_type(of_, column);
  if (type == SQLITE_INTEGER) return sqlite3_column_int64(of_, column);
  return type == SQLITE_FLOAT ? to_integer(sqlite3_column_double(of_, column)) : std::nullopt;
}
bool sqlite_statement::is_wrong_number(int column) const noexcept {
  const int type = sqlite3_column_type(of_, column);
  if (type == SQLITE_INTEGER || type == SQLITE_NULL) return false;
  return type != SQLITE_FLOAT || !to_integer(sqlite3_column_double(of_, column));
}
bool sqlite_statement::read_number(int column, std::optional<std::int64_t>& to) const noexcept {
  const int type = sqlite3_column_type(of_, column);
  to.reset();
  if (type == SQLITE_INTEGER) to = sqlite3_column_int64(of_, column);
  else if (type == SQLITE_FLOAT) to = to_integer(sqlite3_column_double(of_, column));
  return to || type == SQLITE_NULL;
}
double sqlite_statement::real(int column) const noexcept { return sqlite3_column_double(of_, column); }
std::string_view sqlite_statement::text(int column) const noexcept {
  // As text: a blob would have the bytes of the file, which may be UTF-16.
  const void* const bytes = sqlite3_column_text(of_, column);
  const int count = sqlite3_column_bytes(of_, column);
  return bytes == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

int sqlite_statement::columns() const noexcept { return sqlite3_column_count(of_); }

std::string_view sqlite_statement::name(int column) const noexcept {
  const char* const name = sqlite3_column_name(of_, column);
  return name != nullptr ? name : "";
}

sqlite_database::sqlite_database(std::string file, opened how) : file_(std::move(file)) {
  int flags = SQLITE_OPEN_NOMUTEX;
  if (how == opened::to_read) {
    require_file(file_);
    flags |= SQLITE_OPEN_READONLY;
  } else {
    // Files that a killed writer has left next to the file belong to the replaced file.
    for (const char* const beside : {"", "-wal", "-shm", "-journal"})
      if (unlink((file_ + beside).c_str()) != 0 && errno != ENOENT)
        throw error(fmt::format("cannot replace {}{}", file_, beside), file_, errno, "name another file");
    const int made = open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (made < 0) throw error(fmt::format("cannot write {}", file_), file_, errno, "name another file");
    ::close(made);
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW;
  }
  // A plain name: SQLite interprets a name that begins with "file:" as a URI.
  const std::string name = file_.rfind("file:", 0) == 0 ? "./" + file_ : file_;
  const int code = sqlite3_open_v2(name.c_str(), &of_, flags, how == opened::to_read ? find_file_access() : nullptr);
  try {
    if (code != SQLITE_OK) fail({}, code);
    if (how == opened::to_read) {
      require_database();
      sqlite3_progress_handler(of_, steps_between_checks, count_steps, this);
    }
    sqlite3_extended_result_codes(of_, 1);
    sqlite3_busy_timeout(of_, busy_ms);
    // If a mapped file is shortened during a read, a signal ends the process.
    run("PRAGMA mmap_size = 0");
    // The file is untrusted: its views and triggers must not run.
    sqlite3_db_config(of_, SQLITE_DBCONFIG_DEFENSIVE, how == opened::to_read ? 1 : 0, nullptr);
    sqlite3_db_config(of_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    if (how == opened::to_read) prepare("SELECT name FROM sqlite_master LIMIT 1", "sqlite_master").step();
  } catch (...) {
    close();
    throw;
  }
}

sqlite_database::~sqlite_database() { close(); }

void sqlite_database::close() noexcept { sqlite3_close_v2(std::exchange(of_, nullptr)); }

// SQLite accepts an empty file as an empty database, and reports other formats only as no database. SQLite's descriptor
// is used: closing another descriptor of the file would release the process's locks, and a writer could then remove its
// log during a read.
void sqlite_database::require_database() const {
  sqlite3_file* const in = find_file(of_, SQLITE_FCNTL_FILE_POINTER);
  const std::uint64_t bytes = count_bytes(in);
  if (bytes == 0)
    throw error(fmt::format("{} is empty", file_), file_, 0,
                "make a trace with nsys export --type sqlite, or with adaptyst run -o FILE.sqlite");
  unsigned char head[sizeof first_bytes + 2] = {};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, sizeof head));
  if (in->pMethods->xRead(in, head, static_cast<int>(count), 0) != SQLITE_OK) fail({}, SQLITE_IOERR_READ);
  if (std::memcmp(head, first_bytes, sizeof first_bytes) != 0)
    throw error(fmt::format("{} is no SQLite file, but {}", file_, name_format({reinterpret_cast<char*>(head), count})),
                file_, 0, "export a report of Nsight Systems with nsys export --type sqlite FILE.nsys-rep");
  // SQLite would read zeros after the end, and rows of zeros are valid rows.
  const unsigned page_bytes = static_cast<unsigned>(head[16]) << 8U | head[17];
  if (const unsigned page = page_bytes == 1 ? 65536 : page_bytes; page != 0 && bytes % page != 0)
    throw error(fmt::format("{} is malformed: it ends within a page, at byte {}", file_, bytes), file_, 0,
                hint(SQLITE_CORRUPT));
}

// In a damaged tree, pages may lead to the same page any number of times, and the rows of a small file take years.
int sqlite_database::count_steps(void* of) noexcept {
  const sqlite_database& in = *static_cast<const sqlite_database*>(of);
  std::uint64_t& steps = in.running_ != nullptr ? in.running_->steps_ : in.other_steps_;
  steps += static_cast<std::uint64_t>(steps_between_checks);
  if (steps <= in.max_steps_) return 0;
  // Another program may write the file.
  in.max_steps_ = steps_of_any_file + steps_for_a_byte * in.count_own_bytes();
  return steps > in.max_steps_ ? 1 : 0;
}

std::uint64_t sqlite_database::count_own_bytes() const noexcept {
  return count_bytes(find_file(of_, SQLITE_FCNTL_FILE_POINTER)) +
         count_bytes(find_file(of_, SQLITE_FCNTL_JOURNAL_POINTER));
}

bool sqlite_database::allows_temporary(std::uint64_t bytes) const noexcept {
  if (bytes <= max_temporary_bytes_) return true;
  max_temporary_bytes_ = temporary_bytes_of_any_file + temporary_bytes_for_a_byte * count_own_bytes();
  is_temporary_full_ = bytes > max_temporary_bytes_;
  return !is_temporary_full_;
}

void sqlite_database::fail(const std::string& table, int code, const std::string& where) const {
  if ((code & 0xff) == SQLITE_FULL && std::exchange(is_temporary_full_, false))
    throw error(fmt::format("{}{}{}: its rows need more than {} MiB of temporary files to be sorted", file_,
                            table.empty() ? "" : ", table ", table, max_temporary_bytes_ >> 20U),
                file_, 0, "rows share large texts, which no profiler writes: check where the file comes from");
  const char* const why = (code & 0xff) == SQLITE_INTERRUPT ? "damaged: there are more rows than the file can contain"
                          : of_ != nullptr                  ? sqlite3_errmsg(of_)
                                                            : sqlite3_errstr(code);
  const int number = of_ != nullptr && (code & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(of_) : 0;
  throw error(fmt::format("{}{}{}{}: {}", file_, table.empty() ? "" : ", table ", table, where, why), file_, number,
              hint(code));
}

void sqlite_database::run(const std::string& sql) const {
  const int code = sqlite3_exec(of_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail({}, code);
}

sqlite_statement sqlite_database::prepare(const std::string& sql, std::string table) const {
  return {*this, sql, std::move(table)};
}

bool sqlite_database::has_table(const std::string& name) const {
  if (!tables_) {
    tables_.emplace();
    for (const std::string& table : tables()) tables_->insert(in_lower_case(table));
  }
  return tables_->count(in_lower_case(name)) != 0;
}

std::vector<std::string> sqlite_database::tables() const {
  std::vector<std::string> made;
  // SQLite itself writes the first words. A virtual table begins with others, and a damaged one may have a page.
  sqlite_statement rows = prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND substr(sql, 1, 13) = 'CREATE TABLE ' "
      "ORDER BY name");
  while (rows.step()) made.emplace_back(rows.text(0));
  return made;
}

void sqlite_database::require_columns(const std::string& table, const std::vector<const char*>& names) const {
  const std::vector<std::string> present = columns(table);
  for (const char* const name : names) {
    if (std::any_of(present.begin(), present.end(),
                    [&](const std::string& column) { return is_same_name(column, name); }))
      continue;
    throw error(fmt::format("{}, table {}: there is no column {}", file_, table, name), file_, 0,
                fmt::format("its columns are {}", fmt::join(present, ", ")));
  }
}

std::vector<std::string> sqlite_database::columns(const std::string& table) const {
  std::vector<std::string> made;
  if (!has_table(table)) return made;
  sqlite_statement rows = prepare(fmt::format("PRAGMA table_info({})", quoted_name(table)), table);
  while (rows.step()) made.emplace_back(rows.text(1));
  return made;
}

bool sqlite_database::is_row_number(const std::string& table, const char* column) const {
  if (!has_table(table)) return false;
  sqlite_statement rows = prepare(fmt::format("PRAGMA table_info({})", quoted_name(table)), table);
  int keys = 0;
  bool is_key = false;
  while (rows.step()) {
    if (rows.integer(5) == 0) continue;
    ++keys;
    is_key = is_same_name(rows.text(1), column);
  }
  if (keys != 1 || !is_key) return false;
  // Other keys have an index.
  sqlite_statement indexes = prepare(fmt::format("PRAGMA index_list({})", quoted_name(table)), table);
  while (indexes.step())
    if (indexes.text(3) == "pk") return false;
  return true;
}

std::string sqlite_database::list_columns(const std::string& table, const std::vector<const char*>& wanted,
                                          alternatives which) const {
  const std::vector<std::string> present = columns(table);
  std::string made;
  for (std::string_view names : wanted) {
    std::vector<std::string> found;
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find('|'));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      for (const std::string& column : present)
        if (is_same_name(column, name)) found.push_back(quoted_name(column));
    }
    if (which == alternatives::first && found.size() > 1) found.resize(1);
    std::string column = found.empty() ? "NULL" : found.back();
    for (std::size_t at = found.size(); at-- > 1;)
      column = fmt::format("CASE WHEN {} <> 0 THEN {} ELSE {} END", found[at - 1], found[at - 1], column);
    made += column + ", ";
  }
  return made + row_number_name(table);
}

std::string sqlite_database::select(const std::string& table, const std::vector<const char*>& wanted) const {
  return "SELECT " + list_columns(table, wanted, alternatives::all) + " FROM " + quoted_name(table);
}

std::string sqlite_database::row_number_name(const std::string& table) const {
  const std::vector<std::string> present = columns(table);
  for (const char* const name : {"rowid", "_rowid_", "oid"}) {
    if (std::any_of(present.begin(), present.end(),
                    [&](const std::string& column) { return is_same_name(column, name); }))
      continue;
    if (sqlite3_table_column_metadata(of_, "main", table.c_str(), name, nullptr, nullptr, nullptr, nullptr, nullptr) ==
        SQLITE_OK)
      return name;
  }
  throw error(fmt::format("{}, table {}: its rows have no numbers", file_, table), file_, 0,
              "export it again as an ordinary table: tables WITHOUT ROWID are not supported");
}

sqlite_statement sqlite_database::prepare_row(const std::string& table, const std::vector<const char*>& wanted) const {
  return prepare(fmt::format("{} WHERE {} = ?", select(table, wanted), row_number_name(table)), table);
}

sqlite_statement sqlite_database::prepare_nearest(const std::string& table, const char* column) const {
  const std::string number = row_number_name(table);
  return prepare(fmt::format("{} WHERE {} >= ? ORDER BY {} LIMIT 1", select(table, {column}), number, number), table);
}

sqlite_database::row_range sqlite_database::rows(const std::string& table) const {
  // Two queries, because each is a single walk down the tree; a query for both is not.
  row_range made;
  const std::string name = quoted_name(table), number = row_number_name(table);
  sqlite_statement first = prepare(fmt::format("SELECT min({}) FROM {}", number, name), table);
  sqlite_statement last = prepare(fmt::format("SELECT max({}) FROM {}", number, name), table);
  if (first.step() && !first.is_null(0) && last.step()) made = {first.integer(0), last.integer(0)};
  return made;
}

std::uint64_t sqlite_database::count_rows(const std::string& table) const {
  // With a condition, SQLite counts rows in steps, which are limited; otherwise in a single step.
  sqlite_statement all = prepare(fmt::format("SELECT count(*) FROM {} NOT INDEXED WHERE 1", quoted_name(table)), table);
  all.step();
  return static_cast<std::uint64_t>(all.integer(0));
}

std::uint64_t sqlite_database::count_rows(const std::string& table, const row_range& in) const {
  const std::string name = quoted_name(table);
  // Separate statements in one transaction: the file may be written during the read.
  run("BEGIN");
  struct transaction {
    const sqlite_database& of;
    ~transaction() { sqlite3_exec(of.of_, "COMMIT", nullptr, nullptr, nullptr); }
  } const open{*this};
  auto count = static_cast<std::int64_t>(count_rows(table));
  if (rows(table).last > in.last) {
    sqlite_statement later =
        prepare(fmt::format("SELECT count(*) FROM {} NOT INDEXED WHERE {} > ?", name, row_number_name(table)), table);
    later.bind(1, in.last);
    later.step();
    count -= later.integer(0);
  }
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, count));
}

text_list::text_list(const sqlite_database& in, const std::string& table, const std::vector<const char*>& columns)
    : columns_(static_cast<int>(columns.size())) {
  if (!in.has_table(table)) return;
  in.require_columns(table, {"id"});
  in.require_columns(table, columns);
  const std::string all = fmt::format(R"(SELECT "{}", id FROM {})", fmt::join(columns, R"(", ")"), quoted_name(table));
  if (in.is_row_number(table, "id")) {
    find_text_ = in.prepare(all + " WHERE id = ?", table);
    return;
  }
  sqlite_statement rows = in.prepare(all, table);
  while (rows.step())
    if (const auto [entry, is_new] = texts_.try_emplace(rows.integer(columns_)); is_new) take(rows, entry->second);
}

void text_list::take(const sqlite_statement& row, std::string& text) const {
  for (int column = 0; column != columns_ && text.empty(); ++column) text = cut_text(row.text(column));
}

const std::string& text_list::find(std::int64_t id) {
  const auto [entry, is_new] = texts_.try_emplace(id);
  if (is_new && find_text_) {
    find_text_.bind(1, id);
    if (find_text_.step()) take(find_text_, entry->second);
    find_text_.reset();
  }
  if (entry->second.empty()) entry->second = fmt::format("name {}", id);
  return entry->second;
}

row_taker::row_taker(const sqlite_database& in, std::string table, const std::vector<column>& wanted)
    : in_(in),
      table_(std::move(table)),
      row_number_(in.row_number_name(table_)),
      wanted_(wanted),
      values_(wanted.size()) {
  for (std::size_t at = 0; at != wanted_.size(); ++at) {
    names_.push_back(wanted_[at].names);
    if (std::string_view(wanted_[at].names).find('|') != std::string_view::npos) with_others_.push_back(at);
  }
  if (in_.has_taker_function_) return;
  // The schema of a file may not call it; only this class uses it.
  constexpr int how = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  if (const int code = sqlite3_create_function_v2(in_.of_, "adaptyst_take", -1, how, &in_.taker_, nullptr, take_values,
                                                  finish, nullptr);
      code != SQLITE_OK)
    in_.fail(table_, code);
  in_.has_taker_function_ = true;
}

void row_taker::prepare(walk how) {
  if (rows_ && how == walk_ && reads_others_ == has_others_) return;
  walk_ = how;
  has_others_ = reads_others_;
  using alternatives = sqlite_database::alternatives;
  std::string question = fmt::format(
      "SELECT adaptyst_take({}) FROM {} NOT INDEXED",
      in_.list_columns(table_, names_, reads_others_ ? alternatives::all : alternatives::first), quoted_name(table_));
  if (how == walk::range) question += fmt::format(" WHERE {} BETWEEN ? AND ?", row_number_);
  rows_ = in_.prepare(question, table_);
}

std::uint64_t row_taker::take(walk how, std::int64_t first, std::int64_t last, const taker& to) {
  to_ = &to;
  first_ = first;
  last_ = last;
  count_ = 0;
  failed_ = nullptr;
  // The function may take rows of another table of this file.
  row_taker* const outer = std::exchange(in_.taker_, this);
  do {
    has_row_ = lacks_other_ = false;
    try {
      prepare(how);
      if (how == walk::range) {
        rows_.bind(1, first_);
        rows_.bind(2, last_);
      }
      rows_.step([this] { return where(); });
    } catch (...) {
      if (failed_ == nullptr && !lacks_other_) failed_ = std::current_exception();
    }
    rows_.reset();
    reads_others_ = reads_others_ || lacks_other_;
  } while (lacks_other_ && failed_ == nullptr);
  in_.taker_ = outer;
  if (failed_ != nullptr) std::rethrow_exception(std::exchange(failed_, nullptr));
  return count_;
}

// SQLite is C code: no exception may cross it.
void row_taker::take_values(sqlite3_context* of, int /*count*/, sqlite3_value** values) noexcept {
  row_taker* const taker = *static_cast<row_taker**>(sqlite3_user_data(of));
  if (taker == nullptr) return sqlite3_result_error(of, "nothing takes these rows", -1);
  try {
    if (taker->take_row(values)) return;
  } catch (...) {
    taker->failed_ = std::current_exception();
  }
  sqlite3_result_error(of, "the row could not be taken", -1);
}

void row_taker::finish(sqlite3_context* of) noexcept { sqlite3_result_null(of); }

namespace {

// For all values except integers; not inlined into the loop. False: not a number, but a number is needed.
[[gnu::noinline]] bool take_other_value(sqlite3_value* from, bool is_text, row_value& to) {
  const int type = sqlite3_value_type(from);
  to = {};
  if (type == SQLITE_NULL) return true;
  if (!is_text) {
    const std::optional<std::int64_t> number =
        type == SQLITE_FLOAT ? to_integer(sqlite3_value_double(from)) : std::nullopt;
    to.integer = number.value_or(0);
    to.is_null = !number;
    return number.has_value();
  }
  // As text: a blob would have the bytes of the file, which may be UTF-16.
  const unsigned char* const text = sqlite3_value_text(from);
  if (type == SQLITE_TEXT && text == nullptr) throw std::bad_alloc();
  to.is_null = false;
  if (text != nullptr)
    to.text = {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_value_bytes(from))};
  return true;
}

}  // namespace

// False: a value is in another column, which the statement does not read. From this row on, a statement with those
// columns is needed. It is slower by a tenth, and most exports do not need it.
bool row_taker::take_row(sqlite3_value** values) {
  taken_row made;
  made.row = sqlite3_value_int64(values[wanted_.size()]);
  // In a damaged tree, SQLite may return the same rows any number of times.
  if ((has_row_ && made.row <= row_) || (walk_ == walk::range && made.row < first_))
    throw error(fmt::format("{}, table {}{}: rows are out of order", in_.file(), table_, where()), in_.file(), 0,
                hint(SQLITE_CORRUPT));
  row_ = made.row;
  has_row_ = true;
  if (made.row < first_ || made.row > last_) return true;
  row_value* value = values_.data();
  for (const column& column : wanted_) {
    sqlite3_value* const from = *values++;
    if (__builtin_expect(!column.is_text && sqlite3_value_type(from) == SQLITE_INTEGER, 1)) {
      value->integer = sqlite3_value_int64(from);
      value->is_null = false;
    } else if (!take_other_value(from, column.is_text, *value) && made.wrong_column == nullptr) {
      made.wrong_column = column.names;
    }
    ++value;
  }
  if (!reads_others_)
    for (const std::size_t at : with_others_)
      if (values_[at].integer == 0 && made.wrong_column == nullptr) {
        first_ = made.row;
        lacks_other_ = true;
        return false;
      }
  ++count_;
  made.values = values_.data();
  (*to_)(made);
  return true;
}

std::string row_taker::where() const {
  return has_row_ ? fmt::format(", behind row {}", row_) : fmt::format(", at row {} or behind", first_);
}

}  // namespace adaptyst::lib
