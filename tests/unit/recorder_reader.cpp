// The reader of recorders next to a process that lies, or is damaged: memory made up for the purpose.
#include <adaptyst/detail/recorder.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "recorder/open_regions.hpp"
#include "recorder/recorder_reader.hpp"
#include "recorder/site_counts.hpp"
#include "sanitized.hpp"

namespace {

namespace detail = adaptyst::detail;

constexpr std::uint64_t chunk = 0x30000;

// A few pieces of memory, and nothing else.
class made_memory final : public adaptyst::lib::memory {
 public:
  using memory::read;
  bool write(std::uint64_t, const void*, std::size_t) const noexcept override { return false; }
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override {
    auto piece = pieces_.upper_bound(address);
    if (piece == pieces_.begin()) return false;
    --piece;
    const std::uint64_t offset = address - piece->first;
    if (offset > piece->second.size() || bytes > piece->second.size() - offset) return false;
    std::memcpy(buffer, piece->second.data() + offset, bytes);
    if (address == chunk && write_after_rows) std::exchange(write_after_rows, nullptr)();
    return true;
  }
  std::string text(std::uint64_t address, std::size_t max_bytes) const override {
    std::string found;
    for (char character = 0;
         found.size() < max_bytes && read(address + found.size(), &character, 1) && character != '\0';)
      found += character;
    return found;
  }
  unsigned patience() const noexcept override { return 3; }

  template <class T>
  void put(std::uint64_t address, const T& what) {
    std::vector<unsigned char>& piece = pieces_[address];
    piece.resize(sizeof what);
    std::memcpy(piece.data(), &what, sizeof what);
  }
  std::map<std::uint64_t, std::vector<unsigned char>>& pieces() { return pieces_; }

  mutable std::function<void()> write_after_rows;  // is called once, when rows have been read

 private:
  std::map<std::uint64_t, std::vector<unsigned char>> pieces_;
};

constexpr std::uint64_t state = 0x10000;
constexpr std::uint64_t recorder = 0x20000;
constexpr std::uint64_t histogram = 0x50000;
constexpr std::uint64_t path = 0x60000;
constexpr std::uint64_t site = 0x61000;
constexpr std::uint64_t name = 0x62000;

template <class T>
T* pointer(std::uint64_t address) {
  return reinterpret_cast<T*>(address);
}

// One thread that has passed one region three times.
made_memory honest() {
  made_memory made;
  detail::store_head control{};
  control.layout = detail::state_layout;
  control.epoch = 1;
  control.recorders = pointer<detail::recorder>(recorder);
  made.put(state, control);
  auto head = detail::recorder_head{};
  head.sequence = 8;
  head.epoch = 1;
  head.serial = 3;
  head.ended = 3;
  head.rows_used = 1;
  head.chunks[0] = pointer<detail::row_chunk>(chunk);
  made.put(recorder, head);
  auto rows = detail::row_chunk{};
  rows.rows[0].id = 77;
  rows.rows[0].path = pointer<adaptyst_path>(path);
  rows.rows[0].count = 3;
  rows.rows[0].total_ns = 30;
  rows.rows[0].min_ns = rows.rows[0].max_ns = 10;
  rows.rows[0].first_bucket = 8;
  rows.rows[0].buckets = 16;
  rows.rows[0].last_bucket = 10;
  rows.rows[0].histogram = pointer<std::uint64_t>(histogram - 8 * sizeof(std::uint64_t));
  made.put(chunk, rows);
  std::uint64_t buckets[16] = {};
  buckets[10 - 8] = 2;
  buckets[9 - 8] = buckets[11 - 8] = 99;  // no duration can have been there
  made.put(histogram, buckets);
  made.put(path, adaptyst_path{77, nullptr, pointer<adaptyst_site>(site), 0, 0});
  adaptyst_site marker{};
  marker.id = 5;
  marker.name = marker.file = marker.function = marker.label = pointer<char>(name);
  marker.name_bytes = 4;
  made.put(site, marker);
  made.put(name, std::uint64_t{0x656d616e});  // "name"
  return made;
}

adaptyst::lib::measurements read(const made_memory& from) { return adaptyst::lib::read_recorders({&from, state, {}}); }

}  // namespace

TEST_CASE("what is lied about below is true") {
  const adaptyst::lib::measurements found = read(honest());
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows.at(77).count == 3);
  CHECK(found.rows.at(77).durations.count() == 3);
  CHECK(found.rows.at(77).durations.buckets().at(10) == 3);
  CHECK(found.sites.at(5).name == "name");
  CHECK(found.accounting.begun == 3);
}

TEST_CASE("a list of recorders that leads in a circle ends") {
  made_memory made = honest();
  auto head = detail::recorder_head{};
  REQUIRE(made.read(recorder, head));
  head.next = pointer<detail::recorder>(recorder);
  made.put(recorder, head);
  CHECK(read(made).rows.at(77).count == 3);
}

TEST_CASE("what two recorders both call theirs is counted once") {
  made_memory made = honest();
  constexpr std::uint64_t second = 0x40000;
  auto head = detail::recorder_head{};
  REQUIRE(made.read(recorder, head));
  made.put(second, head);
  head.next = pointer<detail::recorder>(second);
  made.put(recorder, head);
  CHECK(read(made).rows.at(77).count == 3);
}

TEST_CASE("paths that are each other's parents end") {
  made_memory made = honest();
  made.put(path, adaptyst_path{77, pointer<adaptyst_path>(path), pointer<adaptyst_site>(site), 0, 0});
  CHECK(read(made).rows.at(77).count == 3);
}

TEST_CASE("more rows than there can be are not looked for") {
  made_memory made = honest();
  auto head = detail::recorder_head{};
  REQUIRE(made.read(recorder, head));
  head.rows_used = ~std::uint32_t{0};
  made.put(recorder, head);
  CHECK(read(made).rows.at(77).count == 3);
}

TEST_CASE("a writer that never finishes does not hold up the reader") {
  made_memory made = honest();
  auto head = detail::recorder_head{};
  REQUIRE(made.read(recorder, head));
  head.sequence = 9;
  made.put(recorder, head);
  CHECK(read(made).rows.at(77).count == 3);
}

TEST_CASE("a row that changes while it is read is read again") {
  made_memory made = honest();
  auto rows = detail::row_chunk{};
  REQUIRE(made.read(chunk, &rows, sizeof rows));
  rows.rows[0].count = 4;
  made.put(chunk, rows);
  made.write_after_rows = [&made, rows]() mutable {
    rows.rows[0].total_ns = 45;
    made.put(chunk, rows);
    auto head = detail::recorder_head{};
    made.read(recorder, head);
    head.sequence += 2;
    made.put(recorder, head);
  };
  const adaptyst::lib::measurements found = read(made);
  CHECK(found.rows.at(77).count == 4);
  CHECK(found.rows.at(77).total_ns == 45);
}

TEST_CASE("what cannot be read in time is lost, and said to be") {
  const made_memory made = honest();
  adaptyst::lib::recorder_reader hurried(0);
  hurried.poll({&made, state, {}});
  CHECK(hurried.result().rows.empty());
  CHECK(hurried.result().accounting.lost == adaptyst::losses{{adaptyst::loss_reason::not_read, 1}});
  CHECK(hurried.result().accounting.begun == 1);
  CHECK(read(made).accounting.lost.empty());
}

TEST_CASE("recorders of another version are not read") {
  made_memory made = honest();
  detail::store_head control{};
  REQUIRE(made.read(state, control));
  control.layout ^= 1;
  made.put(state, control);
  CHECK(read(made).rows.empty());
}

TEST_CASE("a row whose least time is above its greatest has no durations") {
  made_memory made = honest();
  auto rows = detail::row_chunk{};
  REQUIRE(made.read(chunk, &rows, sizeof rows));
  rows.rows[0].min_ns = rows.rows[0].max_ns + 1;
  made.put(chunk, rows);
  const adaptyst::lib::measurements found = read(made);
  CHECK(found.rows.at(77).count == 3);
  CHECK(found.rows.at(77).durations.count() == 0);
  CHECK(found.rows.at(77).max_ns == 0);
}

TEST_CASE("a last bucket outside a row's durations is not counted") {
  for (const std::uint64_t bucket :
       {std::uint64_t{9}, std::uint64_t{11}, std::uint64_t{0}, ~std::uint64_t{0}, (~std::uint64_t{0} >> 3) + 11}) {
    CAPTURE(bucket);
    made_memory made = honest();
    auto rows = detail::row_chunk{};
    REQUIRE(made.read(chunk, &rows, sizeof rows));
    rows.rows[0].last_bucket = bucket;
    made.put(chunk, rows);
    CHECK(read(made).rows.at(77).durations.count() == 2);
  }
}

TEST_CASE("a row has no duration if its thread was killed in the first event") {
  made_memory made = honest();
  std::uint64_t buckets[16] = {};
  buckets[10 - 8] = ~std::uint64_t{0};
  made.put(histogram, buckets);
  CHECK(read(made).rows.at(77).durations.count() == 0);
}

TEST_CASE("a row for whose histogram there was no memory has no durations, and all else") {
  made_memory made = honest();
  auto rows = detail::row_chunk{};
  REQUIRE(made.read(chunk, &rows, sizeof rows));
  rows.rows[0].buckets = 0;
  rows.rows[0].histogram = pointer<std::uint64_t>(0x123456789000);
  made.put(chunk, rows);
  const adaptyst::lib::measurements found = read(made);
  CHECK(found.rows.at(77).count == 3);
  CHECK(found.rows.at(77).max_ns == 10);
  CHECK(found.rows.at(77).durations.count() == 0);
}

TEST_CASE("numbers of a payload are read where their row says, as many as the marker names") {
  made_memory made = honest();
  constexpr std::uint64_t numbers = 0x70000;
  auto rows = detail::row_chunk{};
  REQUIRE(made.read(chunk, &rows, sizeof rows));
  rows.rows[0].attributes = pointer<detail::attribute_sum>(numbers);
  adaptyst_site marker{};
  REQUIRE(made.read(site, marker));
  marker.attribute_count = 2;
  for (const char*& attribute : marker.attributes) attribute = pointer<char>(name);
  made.put(site, marker);
  const detail::attribute_sum sums[3] = {{6, 1, 3}, {0, 1, -1}, {9, 9, 9}};
  made.put(numbers, sums);
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}}) {
    rows.rows[0].attribute_count = count;
    made.put(chunk, rows);
    const adaptyst::lib::measurements found = read(made);
    REQUIRE(found.rows.at(77).attributes.size() == 1);  // the second was never given
    CHECK(found.rows.at(77).attributes[0].sum == 6);
    CHECK(found.rows.at(77).attributes[0].max == 3);
    CHECK(found.rows.at(77).attributes[0].count == 3);
  }
  rows.rows[0].attribute_count = ~std::uint64_t{0};  // it lies: they are not there
  made.put(chunk, rows);
  CHECK(read(made).rows.empty());
}

TEST_CASE("a marker or a path whose id is 0 names no row") {
  made_memory made = honest();
  adaptyst_site marker{};
  REQUIRE(made.read(site, marker));
  marker.id = 0;
  made.put(site, marker);
  CHECK(read(made).rows.empty());
  made = honest();
  auto rows = detail::row_chunk{};
  REQUIRE(made.read(chunk, &rows, sizeof rows));
  rows.rows[0].id = 0;
  made.put(chunk, rows);
  made.put(path, adaptyst_path{0, nullptr, pointer<adaptyst_site>(site), 0, 0});
  CHECK(read(made).rows.empty());
}

TEST_CASE("sums may overflow") {
  for (const std::uint64_t much : {~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    made_memory made = honest();
    auto head = detail::recorder_head{};
    REQUIRE(made.read(recorder, head));
    head.begun = head.serial = much;
    made.put(recorder + 0x8000, head);
    head.next = pointer<detail::recorder>(recorder + 0x8000);
    made.put(recorder, head);
    CHECK(read(made).rows.at(77).count == 3);  // both call the same rows theirs
  }
}

namespace {

// Of recorders that are all full, each of paths that no other has.
class endless_memory final : public adaptyst::lib::memory {
 public:
  using memory::read;
  bool write(std::uint64_t, const void*, std::size_t) const noexcept override { return false; }
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override {
    constexpr std::uint64_t each = std::uint64_t{1} << 25;
    std::memset(buffer, 0, bytes);
    if (address == state) {
      detail::store_head control{};
      control.epoch = 1;
      control.recorders = pointer<detail::recorder>(each);
      std::memcpy(buffer, &control, std::min(bytes, sizeof control));
    } else if (address % each == 0 && bytes == sizeof(detail::recorder_head)) {
      auto head = detail::recorder_head{};
      head.epoch = 1;
      head.rows_used = detail::max_rows;
      if (address != 70 * each) head.next = pointer<detail::recorder>(address + each);
      for (std::size_t at = 0; at != std::size(head.chunks); ++at)
        head.chunks[at] = pointer<detail::row_chunk>(address + (at + 1) * each / 256);
      std::memcpy(buffer, &head, sizeof head);
    } else if (bytes % sizeof(detail::row) == 0) {
      for (std::uint64_t at = 0; at != bytes; at += sizeof(detail::row)) {
        detail::row row{};
        row.id = address + at;
        row.count = 1;
        row.path = pointer<adaptyst_path>(address + at);
        std::memcpy(static_cast<char*>(buffer) + at, &row, sizeof row);
      }
    } else if (bytes == sizeof(adaptyst_path)) {
      const adaptyst_path path{address, nullptr, pointer<adaptyst_site>(address), 0, 0};
      std::memcpy(buffer, &path, sizeof path);
    } else if (bytes == sizeof(adaptyst_site)) {
      std::memcpy(buffer, &address, sizeof address);
    }
    return true;
  }
  std::string text(std::uint64_t, std::size_t) const override { return "x"; }
  unsigned patience() const noexcept override { return 1; }
};

}  // namespace

TEST_CASE("more paths and markers than there can be are not remembered") {
  const endless_memory all;
  const adaptyst::lib::measurements found = adaptyst::lib::read_recorders({&all, state, {}});
  CHECK(found.sites.size() == std::size_t{1} << 16);
  CHECK(found.paths.size() == std::size_t{1} << 16);  // each has a marker of its own
}

TEST_CASE("random damage does no harm") {
  std::mt19937_64 random(3);
  for (int round = 0; round != random_rounds(3000); ++round) {
    made_memory made = honest();
    for (std::uint64_t changes = 1 + random() % 4; changes != 0; --changes) {
      auto piece = made.pieces().begin();
      std::advance(piece, static_cast<std::ptrdiff_t>(random() % made.pieces().size()));
      // The beginnings are where the pointers and counts are.
      const std::size_t at = random() % std::min<std::size_t>(piece->second.size(), 512) & ~std::size_t{7};
      const std::uint64_t values[] = {random(), ~std::uint64_t{0}, 0, state, recorder, chunk, path, site, name + 1};
      const std::uint64_t value = values[random() % std::size(values)];
      std::memcpy(piece->second.data() + at, &value, sizeof value);
    }
    CHECK(read(made).rows.size() <= detail::max_rows);
    const adaptyst::lib::process_state all{&made, state, {}};
    adaptyst::lib::site_counts counts;
    for (int turn = 0; turn != 2; ++turn) counts.poll(all);
    CHECK(counts.all().size() <= 1);
    CHECK(adaptyst::lib::read_open_regions(all).size() <= detail::max_rows);
    CHECK(adaptyst::lib::read_last_regions(all).size() <= detail::max_rows);
  }
}

namespace {

constexpr std::uint64_t whole = 0x40000000;  // a store with an arena

struct histograms_of_chunk {
  std::uint64_t of_row[detail::rows_per_chunk][16];
};

// The honest one with many rows: all names in an arena of its store.
made_memory busy(std::size_t rows) {
  made_memory made = honest();
  auto head = detail::recorder_head{};
  REQUIRE(made.read(recorder, head));
  head.rows_used = static_cast<std::uint32_t>(rows);
  constexpr std::uint64_t arena = whole + offsetof(detail::recorder_store, arena);
  struct record {
    adaptyst_path path;
    adaptyst_site site;
    char text[16];
  };
  std::vector<record> records(rows);
  for (std::size_t at = 0; at != rows; ++at) {
    record& entry = records[at];
    const std::uint64_t place = arena + at * sizeof(record);
    std::snprintf(entry.text, sizeof entry.text, "name %zu", at);
    entry.site.id = 5000 + at;
    entry.site.name = entry.site.file = pointer<char>(place + offsetof(record, text));
    entry.site.function = entry.site.label = pointer<char>(place + offsetof(record, text) + 4);
    entry.site.name_bytes = static_cast<std::uint32_t>(std::strlen(entry.text));
    entry.path = {100 + at, nullptr, pointer<adaptyst_site>(place + offsetof(record, site)), 0, 0};
  }
  for (std::size_t first = 0; first < rows; first += detail::rows_per_chunk) {
    const std::uint64_t at_chunk = 0x4000000 + first / detail::rows_per_chunk * 0x100000;
    const std::uint64_t at_histograms = at_chunk + 0x80000;
    auto made_chunk = std::make_unique<detail::row_chunk>();
    auto histograms = std::make_unique<histograms_of_chunk>();
    for (std::size_t at = 0; at != std::min<std::size_t>(detail::rows_per_chunk, rows - first); ++at) {
      detail::row& row = made_chunk->rows[at];
      row.id = 100 + first + at;
      row.path = pointer<adaptyst_path>(arena + (first + at) * sizeof(record));
      row.count = row.total_ns = first + at + 1;
      row.max_ns = 1;
      row.buckets = 16;
      row.last_bucket = 1;
      row.histogram = pointer<std::uint64_t>(at_histograms + at * sizeof histograms->of_row[0]);
      histograms->of_row[at][1] = row.count - 1;
    }
    head.chunks[first / detail::rows_per_chunk] = pointer<detail::row_chunk>(at_chunk);
    made.put(at_chunk, *made_chunk);
    made.put(at_histograms, *histograms);
  }
  made.put(recorder, head);
  std::vector<unsigned char>& store = made.pieces()[whole];
  store = made.pieces()[state];
  store.resize(offsetof(detail::recorder_store, arena) + rows * sizeof(record));
  const std::uint64_t used = rows * sizeof(record);
  std::memcpy(store.data() + offsetof(detail::recorder_store, arena_used), &used, sizeof used);
  std::memcpy(store.data() + offsetof(detail::recorder_store, arena), records.data(), used);
  return made;
}

adaptyst::lib::measurements read_whole(const made_memory& from) {
  return adaptyst::lib::read_recorders({&from, whole, {}});
}

void check_rows(const adaptyst::lib::measurements& found, std::size_t rows) {
  REQUIRE(found.rows.size() == rows);
  for (std::size_t at = 0; at != rows; ++at) {
    CAPTURE(at);
    const adaptyst::lib::measured_row& row = found.rows.at(100 + at);
    CHECK(row.count == at + 1);
    CHECK(row.durations.count() == at + 1);
    const adaptyst::lib::measured_site& row_site = found.sites.at(5000 + at);
    CHECK(row_site.name == "name " + std::to_string(at));
    CHECK(row_site.file == row_site.name);
    CHECK(row_site.function == " " + std::to_string(at));
  }
}

}  // namespace

TEST_CASE("many rows are read by chunks and named from a copy of all names, and are what they are one by one") {
  for (const std::size_t rows : {7U, 8U, 33U, 255U, 256U, 512U, 1300U}) check_rows(read_whole(busy(rows)), rows);
}

TEST_CASE("names of which the copy ends in the middle are read where they are") {
  made_memory made = busy(300);
  std::uint64_t used = 0;
  REQUIRE(made.read(whole + offsetof(detail::recorder_store, arena_used), used));
  std::vector<unsigned char>& store = made.pieces()[whole];
  for (const std::uint64_t cut : {used - 8, used / 2, std::uint64_t{8}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    std::memcpy(store.data() + offsetof(detail::recorder_store, arena_used), &cut, sizeof cut);
    check_rows(read_whole(made), 300);
  }
}

TEST_CASE("a name of which the copy has only the beginning is read where it is") {
  constexpr std::size_t rows = 1001;  // the last one's name has nine letters
  made_memory made = busy(rows);
  std::uint64_t used = 0;
  REQUIRE(made.read(whole + offsetof(detail::recorder_store, arena_used), used));
  const std::uint64_t cut = used - 8;  // of the sixteen bytes of its text
  std::memcpy(made.pieces()[whole].data() + offsetof(detail::recorder_store, arena_used), &cut, sizeof cut);
  check_rows(read_whole(made), rows);
}

TEST_CASE("a histogram is read where its row says that it is") {
  made_memory made = busy(32);
  auto rows = std::make_unique<detail::row_chunk>();
  REQUIRE(made.read(0x4000000, rows.get(), sizeof *rows));
  std::swap(rows->rows[3].histogram, rows->rows[4].histogram);
  made.put(0x4000000, *rows);
  const adaptyst::lib::measurements found = read_whole(made);
  CHECK(found.rows.at(103).durations.count() == 5);
  CHECK(found.rows.at(104).durations.count() == 4);
}
