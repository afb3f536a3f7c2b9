// Writes rows with prepared statements in large transactions: committed data survives a kill.
#include "store_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <utility>

#include "../support/error.hpp"
#include "store_schema.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t max_uncommitted = 50'000;
constexpr std::uint64_t max_uncommitted_ns = 500'000'000;
constexpr std::size_t max_threads = 65536;

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// A write-ahead log needs memory that processes share through the file, which does not work over a network.
bool is_local(const std::string& file) {
  struct statfs about {};
  if (statfs(file.c_str(), &about) != 0) return false;
  constexpr long local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,       BTRFS_SUPER_MAGIC,
                            TMPFS_MAGIC,      OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC};
  for (const long type : local)
    if (static_cast<long>(about.f_type) == type) return true;
  return false;
}

}  // namespace

store_writer::store_writer(std::string file, std::uint64_t origin_ns, appears when, name_speller spelled)
    : file_(std::move(file)),
      written_(when == appears::whole ? fmt::format("{}.{}.partial", file_, getpid()) : file_),
      origin_ns_(origin_ns),
      spelled_(std::move(spelled)),
      in_(std::make_unique<sqlite_database>(written_, sqlite_database::opened::to_write_new)) {
  try {
    create(when);
  } catch (const error& failed) {
    close_database();
    for (const char* const ending : {"", "-wal", "-shm", "-journal"}) unlink((written_ + ending).c_str());
    throw error("cannot write the trace to " + failed.summary(), file_, 0, "make room, or name another file");
  }
}

void store_writer::close_database() noexcept {
  for (sqlite_statement* const statement : {&add_path_, &add_span_, &add_sample_, &add_instant_})
    *statement = sqlite_statement();
  in_.reset();
}

void store_writer::create(appears when) {
  // Both modes survive a kill of this process. After a crash of the machine, data that was not synchronised may be
  // missing, which is acceptable for a trace.
  if (when == appears::whole) in_->run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
  else
    in_->run(is_local(written_) ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF"
                                : "PRAGMA journal_mode=DELETE; PRAGMA synchronous=NORMAL");
  in_->run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", store_application, store_schema));
  in_->run(std::string("BEGIN;") + store_tables);
  set_meta("format", store_format);
  set_meta("schema", std::to_string(store_schema));
  set_meta("complete", "0");
  timespec utc{};
  clock_gettime(CLOCK_REALTIME, &utc);
  const auto utc_ns = static_cast<std::uint64_t>(utc.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(utc.tv_nsec);
  if (origin_ns_ != 0) set_meta("utc_ns", std::to_string(utc_ns - (now_ns() - origin_ns_)));
  add_path_ = in_->prepare("INSERT INTO path VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", "path");
  add_span_ = in_->prepare("INSERT INTO span VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)", "span");
  add_sample_ = in_->prepare("INSERT INTO sample VALUES(?, ?, ?, ?, ?)", "sample");
  add_instant_ = in_->prepare("INSERT INTO instant VALUES(?, ?, ?, ?)", "instant");
  uncommitted_ = 1;
  commit();
}

store_writer::~store_writer() {
  if (is_finished_ || written_ == file_) return;
  in_.reset();
  std::remove(written_.c_str());
}

// The first failure is reported by flush() or finish(); later events are only counted.
template <class Work>
void store_writer::attempt(Work&& work) {
  if (failure_ != nullptr) return;
  try {
    work();
  } catch (const error& failed) {
    lost_ += uncommitted_;
    failure_ = std::make_unique<error>(
        fmt::format("cannot write the trace to {}: {}", file_, failed.summary()), file_, failed.number(),
        written_ == file_ ? "the trace ends there; the program continues" : failed.hint());
  }
}

void store_writer::report_failure() {
  if (failure_ != nullptr && !std::exchange(has_reported_, true)) throw error(*failure_);
}

void store_writer::commit() {
  if (uncommitted_ == 0) return;
  in_->run("COMMIT; BEGIN");
  sqlite_statement pages = in_->prepare("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  if (pages.step()) committed_bytes_ = static_cast<std::uint64_t>(pages.integer(0));
  uncommitted_ = 0;
  committed_ns_ = now_ns();
}

void store_writer::flush() {
  if (uncommitted_ >= max_uncommitted || now_ns() - committed_ns_ >= max_uncommitted_ns) attempt([this] { commit(); });
  report_failure();
}

void store_writer::finish() {
  attempt([this] {
    if (is_complete_) set_meta("complete", "1");
    in_->run("COMMIT");
    for (sqlite_statement* const statement : {&add_path_, &add_span_, &add_sample_, &add_instant_})
      *statement = sqlite_statement();
    if (written_ == file_) leave_one_file();
    in_.reset();
    // The log of an older store with this name, from a killed writer: SQLite would add it to the new store.
    if (written_ != file_)
      for (const char* const ending : {"-wal", "-shm", "-journal"}) unlink((file_ + ending).c_str());
    if (written_ != file_ && std::rename(written_.c_str(), file_.c_str()) != 0)
      throw error(fmt::format("cannot rename {} to {}", written_, file_), file_, errno, "");
    is_finished_ = true;
  });
  report_failure();
}

// Removes the log next to the file. If another process is reading the file, the log stays, and no data is lost.
void store_writer::leave_one_file() noexcept {
  try {
    in_->run("PRAGMA journal_mode=DELETE");
  } catch (const error&) {}
}

void store_writer::set_meta(std::string_view name, std::string_view value) {
  sqlite_statement set = in_->prepare("INSERT OR REPLACE INTO meta VALUES(?, ?)", "meta");
  set.bind_text(1, name);
  set.bind_text(2, value);
  set.run();
  ++uncommitted_;
}

void store_writer::name_process(std::int64_t process, const traced_process& what) {
  attempt([&] {
    sqlite_statement set = in_->prepare("INSERT OR REPLACE INTO process VALUES(?, ?, ?, ?, ?)", "process");
    set.bind(1, process);
    set.bind_text(2, what.name);
    set.bind(3, what.number);
    if (what.host.empty()) set.bind_null(4);
    else set.bind_text(4, what.host);
    if (what.rank) set.bind(5, std::int64_t{*what.rank});
    else set.bind_null(5);
    set.run();
  });
}

void store_writer::name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) {
  threads_.insert({process, thread});
  attempt([&] {
    sqlite_statement set = in_->prepare("INSERT OR REPLACE INTO thread VALUES(?, ?, ?)", "thread");
    set.bind(1, process);
    set.bind(2, std::int64_t{thread});
    set.bind_text(3, name);
    set.run();
  });
}

bool store_writer::knows_thread(std::int64_t process, std::uint32_t thread) const {
  return threads_.size() == max_threads || threads_.count({process, thread}) != 0;
}

void store_writer::name_device(std::int64_t process, std::uint32_t device, const traced_device& what) {
  devices_.insert({process, device});
  attempt([&] {
    sqlite_statement set = in_->prepare("INSERT OR REPLACE INTO device VALUES(?, ?, ?, ?, ?)", "device");
    set.bind(1, process);
    set.bind(2, std::int64_t{device});
    set.bind(3, std::int64_t{what.physical});
    if (what.uuid.empty()) set.bind_null(4);
    else set.bind_text(4, what.uuid);
    set.bind_text(5, what.name);
    set.run();
  });
}

bool store_writer::knows_device(std::int64_t process, std::uint32_t device) const {
  return devices_.count({process, device}) != 0;
}

void store_writer::add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) {
  attempt([&] {
    sqlite_statement set = in_->prepare("INSERT OR REPLACE INTO loss VALUES(?, ?, ?)", "loss");
    set.bind(1, process);
    set.bind_text(2, reason);
    set.bind(3, static_cast<std::int64_t>(events));
    set.run();
  });
}

// Equal call paths of several processes are stored once; the length of the name divides it from the file. A parent
// precedes its children, so a chain of parents ends.
std::int64_t store_writer::find_path(const traced_site& site) {
  if (const auto entry = paths_.find(&site); entry != paths_.end()) return entry->second;
  const std::int64_t parent = site.parent != nullptr ? find_path(*site.parent) : 0;
  const std::string name = spelled_ ? spelled_(site.name) : site.name;
  const auto level = site.level ? static_cast<std::int64_t>(*site.level) : 0;
  const auto [entry, is_new] =
      same_.try_emplace({parent, fmt::format("{}/{}/{}/{}/{}/{}{}", static_cast<int>(site.kind), site.device, level,
                                             site.line, name.size(), name, site.file)},
                        static_cast<std::int64_t>(same_.size()) + 1);
  paths_.emplace(&site, entry->second);
  if (!is_new) return entry->second;
  add_path_.bind(1, entry->second);
  if (parent != 0) add_path_.bind(2, parent);
  else add_path_.bind_null(2);
  add_path_.bind_text(3, name);
  add_path_.bind_text(4, to_string(site.kind));
  add_path_.bind(5, std::int64_t{site.device});
  if (site.color != 0) add_path_.bind_text(6, to_color_text(site.color));
  else add_path_.bind_null(6);
  if (level != 0) add_path_.bind(7, level);
  else add_path_.bind_null(7);
  if (!site.file.empty()) add_path_.bind_text(8, site.file);
  else add_path_.bind_null(8);
  if (site.line != 0) add_path_.bind(9, std::int64_t{site.line});
  else add_path_.bind_null(9);
  add_path_.run();
  return entry->second;
}

std::int64_t store_writer::find_communicator(const traced_communicator& communicator) {
  const auto [entry, is_new] =
      communicators_.try_emplace(&communicator, static_cast<std::int64_t>(communicators_.size()) + 1);
  if (!is_new) return entry->second;
  sqlite_statement add = in_->prepare("INSERT INTO communicator VALUES(?, ?, ?)", "communicator");
  add.bind(1, entry->second);
  add.bind_text(2, communicator.name);
  const std::string ranks = fmt::format("{}", fmt::join(communicator.ranks, " "));
  if (!ranks.empty()) add.bind_text(3, ranks);
  else add.bind_null(3);
  add.run();
  return entry->second;
}

std::int64_t store_writer::find_call(const traced_messages& messages) {
  const auto [entry, is_new] = calls_.try_emplace(&messages, static_cast<std::int64_t>(calls_.size()) + 1);
  if (!is_new) return entry->second;
  std::int64_t number = 0;
  for (const traced_message& message : messages) {
    sqlite_statement add = in_->prepare("INSERT INTO mpi_message VALUES(?, ?, ?, ?, ?, ?, ?, ?)", "mpi_message");
    int place = 0;
    const auto put = [&](const auto& value) {
      if (value) add.bind(++place, static_cast<std::int64_t>(*value));
      else add.bind_null(++place);
    };
    add.bind(++place, entry->second);
    add.bind(++place, ++number);
    add.bind_text(++place, store_message_forms[static_cast<std::size_t>(message.what)]);
    put(message.communicator != nullptr ? std::optional(find_communicator(*message.communicator)) : std::nullopt);
    put(message.peer);
    put(message.tag);
    put(message.bytes);
    put(message.received_bytes);
    add.run();
  }
  return entry->second;
}

std::int64_t store_writer::since_origin(std::uint64_t ns) const noexcept {
  return static_cast<std::int64_t>(ns > origin_ns_ ? ns - origin_ns_ : 0);
}

void store_writer::insert(std::int64_t process, const traced_event& event) {
  const std::int64_t path = find_path(*event.site);
  const std::int64_t start = since_origin(event.begin_ns);
  const bool is_span = event.as != traced_as::metric && event.as != traced_as::instant_event;
  sqlite_statement& to = is_span ? add_span_ : event.as == traced_as::metric ? add_sample_ : add_instant_;
  int place = 0;
  to.bind(++place, start);
  if (is_span) to.bind(++place, since_origin(event.end_ns));
  to.bind(++place, path);
  to.bind(++place, process);
  to.bind(++place, std::int64_t{event.thread});
  if (event.as == traced_as::metric) to.bind(++place, event.value);
  if (is_span) {
    const auto put = [&](bool is_known, std::int64_t value) {
      if (is_known) to.bind(++place, value);
      else to.bind_null(++place);
    };
    const bool is_operation = event.as == traced_as::operation;
    put(is_operation, static_cast<std::int64_t>(event.queue));
    put(is_operation && event.submitted_ns != 0, since_origin(event.submitted_ns));
    put(event.correlation != 0, static_cast<std::int64_t>(event.correlation));
    put(event.bytes != 0, static_cast<std::int64_t>(event.bytes));
    put(true, event.as == traced_as::scope ? 1 : 0);
    put(event.messages != nullptr, event.messages != nullptr ? find_call(*event.messages) : 0);
  }
  to.run();
}

void store_writer::add(std::int64_t process, const traced_event& event) {
  if (event.as == traced_as::metric && std::isnan(event.value)) {  // SQLite stores NULL, which the table refuses
    ++lost_;
    return;
  }
  ++uncommitted_;
  if (failure_ != nullptr) {
    ++lost_;
    return;
  }
  attempt([&] {
    insert(process, event);
    if (uncommitted_ >= max_uncommitted) commit();
  });
}

}  // namespace adaptyst::lib
