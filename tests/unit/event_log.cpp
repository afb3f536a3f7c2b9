// The compact file of a program's own collector: what is written is read again, and nothing else is ever taken for it.
#include <sys/mman.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "support/error.hpp"
#include "support/varint.hpp"
#include "trace/event_log_reader.hpp"
#include "trace/event_log_writer.hpp"

using namespace adaptyst;
using namespace adaptyst::lib;

namespace {

// A file in memory, which a name leads to, also to be written: no disk is waited for.
class log_file {
 public:
  log_file() : descriptor_(memfd_create("log", MFD_CLOEXEC)) { REQUIRE(descriptor_ >= 0); }
  ~log_file() { close(descriptor_); }
  log_file(const log_file&) = delete;
  log_file& operator=(const log_file&) = delete;

  std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  std::string bytes() const {
    std::ifstream in(name(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void fill(const std::string& with) const {
    REQUIRE(ftruncate(descriptor_, 0) == 0);
    REQUIRE(pwrite(descriptor_, with.data(), with.size(), 0) == static_cast<ssize_t>(with.size()));
  }

 private:
  int descriptor_;
};

std::string path(const traced_site* site) {
  std::string made;
  for (; site != nullptr; site = site->parent)
    made = site->name + "|" + to_string(site->kind) + "|" + std::to_string(site->device) + "/" + made;
  return made;
}

using known_event = std::tuple<std::int64_t, traced_as, std::string, std::uint32_t, std::uint64_t, std::uint64_t,
                               std::uint64_t, std::uint64_t, double, std::uint64_t, std::uint64_t>;

known_event describe(std::int64_t process, const traced_event& event, std::uint64_t origin_ns) {
  const bool is_operation = event.as == traced_as::operation;
  const bool is_instant = event.as == traced_as::metric || event.as == traced_as::instant_event;
  const std::uint64_t begin_ns = event.begin_ns - origin_ns;
  return {process,
          event.as,
          path(event.site),
          event.thread,
          is_operation && event.submitted_ns != 0 ? event.submitted_ns - origin_ns : 0,
          begin_ns,
          is_instant ? begin_ns : event.end_ns - origin_ns,
          is_operation ? event.queue : 0,
          event.as == traced_as::metric ? event.value : 0,
          event.correlation,
          event.bytes};
}

struct kept {
  std::vector<std::string> names;
  std::vector<known_event> events;
};

// Keeps all that it is given.
class keeping_writer final : public trace_writer, public kept {
 public:
  void name_process(std::int64_t process, const traced_process& what) override {
    names.push_back(std::to_string(process) + " " + std::to_string(what.number) + " " + to_text(what));
  }
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override {
    names.push_back(std::to_string(process) + "." + std::to_string(thread) + " " + name);
  }
  bool knows_thread(std::int64_t /*process*/, std::uint32_t /*thread*/) const override { return true; }
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override {
    names.push_back(std::to_string(process) + ":" + std::to_string(device) + " " + std::to_string(what.physical) + " " +
                    what.uuid + " " + what.name);
  }
  bool knows_device(std::int64_t /*process*/, std::uint32_t /*device*/) const override { return true; }
  void add(std::int64_t process, const traced_event& event) override { events.push_back(describe(process, event, 0)); }
  void add_loss(std::int64_t process, const std::string& reason, std::uint64_t count) override {
    names.push_back("lost " + std::to_string(process) + " " + reason + " " + std::to_string(count));
  }
  std::uint64_t lost() const noexcept override { return 0; }
  void flush() override {}
  void finish() override {}
};

// Events of every kind by two processes, drawn anew.
class made_up_events {
 public:
  explicit made_up_events(std::uint64_t origin_ns, unsigned seed = 1) : origin_ns_(origin_ns), draw_(seed) {}

  std::vector<traced_site> sites{{"step", region_kind::region, 0, nullptr},
                                 {std::string("any \0 \xff\xfe bytes", 12), region_kind::region, 0, nullptr},
                                 {"", region_kind::wait, 0, nullptr},
                                 {"kernel", region_kind::kernel, 1, nullptr},
                                 {"copy", region_kind::copy_to, 2, nullptr},
                                 {"residual", region_kind::metric, 0, nullptr},
                                 {"mark", region_kind::instant_event, 0, nullptr}};
  std::vector<known_event> all;

  void write(trace_writer& to, std::size_t count) {
    sites[1].parent = &sites[0];
    sites[2].parent = &sites[1];
    sites[3].parent = &sites[0];
    for (std::size_t at = 0; at != count; ++at) {
      traced_event event;
      event.as = static_cast<traced_as>(at % 5);
      constexpr std::size_t of[] = {0, 2, 3, 5, 6};
      event.site = &sites[of[at % 5] + (at % 5 < 3 ? pick(2) : 0)];
      event.thread = static_cast<std::uint32_t>(100 + pick(3));
      now_ns_ += pick(2000);
      event.begin_ns = origin_ns_ + now_ns_ - pick(500);  // not in order
      event.end_ns = event.begin_ns + pick(100'000);
      if (event.as == traced_as::metric) event.value = static_cast<double>(pick(1000)) / 7;
      if (event.as == traced_as::operation) {
        event.queue = pick(3);
        if (pick(2) == 0) event.submitted_ns = event.begin_ns - pick(400);
        if (pick(2) == 0) event.correlation = pick(1'000'000);
        if (pick(2) == 0) event.bytes = std::uint64_t{1} << pick(63);
      }
      const auto process = static_cast<std::int64_t>(7 + pick(2));
      to.add(process, event);
      all.push_back(describe(process, event, origin_ns_));
    }
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return draw_() % below; }

  std::uint64_t origin_ns_, now_ns_ = 1000;
  std::mt19937_64 draw_;
};

kept read(const std::string& file, std::int64_t shift_ns = 0, bad_rows* bad = nullptr) {
  keeping_writer made;
  bad_rows none;
  event_log_reader(file).read(made, shift_ns, bad != nullptr ? *bad : none);
  return made;
}

std::string failure(const std::string& file) {
  try {
    read(file);
  } catch (const error& failed) {
    return failed.what();
  }
  return {};
}

std::string block(const std::string& records, bool has_names = true) {
  const std::uint32_t bytes = static_cast<std::uint32_t>(records.size()) | (has_names ? log_has_names : 0);
  std::string checked(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  checked += records;
  const std::uint32_t checksum = block_checksum(checked);
  return std::string(reinterpret_cast<const char*>(&checksum), sizeof checksum) + checked;
}

const std::string first_line = "adaptyst event log 3\n";

}  // namespace

TEST_CASE("a number takes a byte for each seven bits") {
  for (unsigned bit = 0; bit != 64; ++bit)
    for (const std::uint64_t number :
         {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1, ~std::uint64_t{0} >> bit}) {
      std::string made;
      append_varint(made, number);
      std::size_t bytes = 1;
      for (std::uint64_t rest = number >> 7U; rest != 0; rest >>= 7U) ++bytes;
      CHECK(made.size() == bytes);
      CHECK(undo_zigzag(5, zigzag(5, number)) == number);
      CHECK(undo_zigzag(number, zigzag(number, 5)) == 5);
    }
  CHECK(zigzag(10, 10) == 0);
  CHECK(zigzag(10, 9) == 1);
  CHECK(zigzag(10, 11) == 2);
}

TEST_CASE("the checksum is that of RFC 1950") {
  CHECK(block_checksum("") == 1);
  CHECK(block_checksum("Wikipedia") == 0x11E60398);
  CHECK(block_checksum(std::string(20'000, '\xff')) == 0x9F51D664);
}

TEST_CASE("what is written is read again") {
  const log_file file;
  const std::uint64_t origin_ns = detail::monotonic_ns();
  made_up_events events(origin_ns);
  {
    event_log_writer to(file.name(), origin_ns);
    to.name_process(7, {"solver", 4711, "node1", 0});
    to.name_process(8, {"\xff", 8, "", std::nullopt});
    to.name_thread(7, 100, "main thread");
    to.name_device(7, 1, {"gpu0", 3, "GPU-1"});
    CHECK(to.knows_thread(7, 100));
    CHECK_FALSE(to.knows_device(7, 2));
    events.write(to, 5000);
    to.flush();
    events.write(to, 50'000);  // several blocks
    to.add_loss(7, "ring_full", 12);
    to.finish();
    CHECK(to.lost() == 0);
  }
  event_log_reader reader(file.name());
  CHECK(reader.is_complete());
  REQUIRE(reader.utc_ns().has_value());
  CHECK(*reader.utc_ns() > 1'500'000'000'000'000'000);
  CHECK(reader.missing() == "12 events of " + file.name() + " were lost");
  CHECK(reader.physical(7, 1) == 3);
  const kept found = read(file.name());
  CHECK(found.names == std::vector<std::string>{"7 4711 solver, rank 0 on node1", "8 8 \xff", "7.100 main thread",
                                                "7:1 3 GPU-1 gpu0", "lost 7 ring_full 12"});
  CHECK((found.events == events.all));
  const kept later = read(file.name(), 1000);
  REQUIRE(later.events.size() == found.events.size());
  CHECK(std::get<5>(later.events[17]) == std::get<5>(found.events[17]) + 1000);
}

TEST_CASE("any block can be read without those before it") {
  const log_file file;
  made_up_events events(1'000'000);
  {
    event_log_writer to(file.name(), 1'000'000);
    to.name_device(7, 1, {"gpu0", 5, {}});
    events.write(to, 60'000);
    to.finish();
  }
  const event_log_reader reader(file.name());
  std::map<scan_subject, std::size_t> wanted;
  for (const known_event& event : events.all) {
    const traced_as as = std::get<1>(event);
    if (as == traced_as::operation) ++wanted[scan_subject::device_work];
    if (as == traced_as::scope || as == traced_as::handle) {
      // A handle is one of the two sites behind a wait, one of which is a kernel.
      if (std::get<2>(event).find("kernel|kernel") == std::string::npos) ++wanted[scan_subject::regions];
      else ++wanted[scan_subject::device_work];
    }
  }
  for (const scan_subject what : {scan_subject::device_work, scan_subject::regions})
    for (const std::int64_t step : {1LL << 40, 100'000LL, 4096LL, 777LL}) {
      const std::unique_ptr<trace_scan> scan = reader.scan(what);
      REQUIRE(scan->tables().size() == 1);
      const auto rows = scan->tables()[0].rows;
      std::size_t count = 0;
      std::uint64_t sum_ns = 0;
      for (std::int64_t first = rows.first; first <= rows.last; first += step)
        scan->scan(0, first, std::min(rows.last, first + step - 1), [&](const scanned_span* spans, std::size_t some) {
          count += some;
          for (std::size_t at = 0; at != some; ++at) sum_ns += spans[at].begin_ns;
        });
      CHECK(count == wanted[what]);
      CHECK(sum_ns != 0);
      CHECK(scan->start_near(0, rows.first) == std::get<5>(events.all[0]));
      CHECK_FALSE(scan->start_near(0, rows.last).has_value());
    }
  CHECK(reader.scan(scan_subject::regions)->name(1) == "step");
  CHECK(reader.scan(scan_subject::regions)->name(1'000'000) == "path 1000000");
}

TEST_CASE("the colour of a call path is kept") {
  const log_file file;
  const traced_site plain{"plain", region_kind::region, 0, nullptr};
  const traced_site green{"green", region_kind::region, 0, nullptr, {}, 0xFF76B900};
  const traced_site black{"black", region_kind::region, 0, &green, {}, 0xFF000000};
  {
    event_log_writer to(file.name(), 0);
    for (const traced_site* const site : {&plain, &black, &green}) {
      traced_event event;
      event.site = site;
      to.add(7, event);
    }
    to.finish();
  }
  const event_log_reader reader(file.name());
  REQUIRE(reader.sites().size() == 3);
  CHECK(reader.sites()[0].color == 0);
  CHECK(reader.sites()[1].color == 0xFF76B900);
  CHECK(reader.sites()[2].color == 0xFF000000);
  CHECK(reader.scan(scan_subject::regions)->start_near(0, 0) == 0);  // skips the names
}

TEST_CASE("a log of regions alone is known to have no work of devices") {
  const log_file file;
  const traced_site step{"step", region_kind::region, 0, nullptr};
  {
    event_log_writer to(file.name(), 0);
    traced_event event;
    event.site = &step;
    event.end_ns = 5;
    to.add(7, event);
    to.finish();
  }
  const event_log_reader reader(file.name());
  CHECK(reader.scan(scan_subject::regions)->may_have_spans());
  CHECK_FALSE(reader.scan(scan_subject::device_work)->may_have_spans());
}

TEST_CASE("a file that ends at any byte holds the events before it, and says that it was not finished") {
  const log_file file, part;
  made_up_events events(1'000'000);
  {
    event_log_writer to(file.name(), 1'000'000);
    for (int at = 0; at != 12; ++at) {
      events.write(to, 6);
      to.flush();
    }
    to.finish();
  }
  const std::string whole = file.bytes();
  std::size_t before = 0;
  for (std::size_t bytes = first_line.size(); bytes != whole.size(); ++bytes) {
    part.fill(whole.substr(0, bytes));
    CHECK_FALSE(event_log_reader(part.name()).is_complete());
    const kept found = read(part.name());
    REQUIRE(found.events.size() <= events.all.size());
    CHECK(std::equal(found.events.begin(), found.events.end(), events.all.begin()));
    CHECK(found.events.size() >= before);
    CHECK(found.events.size() % 6 == 0);
    before = found.events.size();
  }
  CHECK(before == events.all.size());
}

TEST_CASE("a byte that is another one is noticed, wherever it stands") {
  const log_file file, damaged;
  made_up_events events(1'000'000);
  {
    event_log_writer to(file.name(), 1'000'000);
    to.name_process(7, {"solver", 7, "node", 1});
    for (int at = 0; at != 4; ++at) {
      events.write(to, 6);
      to.flush();
    }
    to.finish();
  }
  const std::string whole = file.bytes();
  std::mt19937 draw(3);
  for (std::size_t at = 0; at != whole.size(); ++at) {
    std::string other = whole;
    other[at] = static_cast<char>(static_cast<unsigned>(other[at]) ^ (1U + draw() % 255));
    damaged.fill(other);
    // A length beyond the end is that of a block that was not finished; all else is refused.
    if (failure(damaged.name()).empty()) CHECK_FALSE(event_log_reader(damaged.name()).is_complete());
  }
}

TEST_CASE("what is no log, or not of these versions, is refused with its place") {
  const log_file file;
  const auto refuse = [&](const std::string& bytes, const std::string& why) {
    file.fill(bytes);
    INFO(why);
    CHECK(failure(file.name()).find(why) != std::string::npos);
  };
  const std::string place("\x06\x07\x64", 3), site("\x05\x00\x00\x00\x01s", 6);
  refuse("", "does not begin like an event log");
  refuse("adaptyst event log x\n", "no version");
  refuse("adaptyst event log 0\n", "no version");
  refuse("adaptyst event log 2", "no version");
  refuse("adaptyst event log 4\n", "has version 4");
  refuse("adaptyst event log 99999999999999999999999\n", "no version");
  refuse(first_line + std::string(8, '\0'), "byte 21: no block begins there");
  refuse(first_line + block("\x08") + first_line, "no block begins there");
  refuse(first_line + block(std::string(log_max_block + 1, '\x08')), "no block begins there");
  refuse(first_line + std::string("\1\2\3\4\1\0\0\0\x08", 9), "a wrong checksum");
  refuse(first_line + block("\x0b"), "an unknown record");
  refuse(first_line + block(place + "\x70\x01", false), "an unknown record");
  refuse(first_line + block(site + std::string("\x10\x01\x02\x02", 4)), "unknown thread");
  refuse(first_line + block(site + place + std::string("\x10\x02\x02\x02", 4)), "unknown call path");
  refuse(first_line + block(site + place + std::string("\x10\x00\x02\x02", 4)), "unknown call path");
  refuse(first_line + block(site + place + std::string("\x10\x01\x02", 3)), "longer than its block");
  refuse(first_line + block(site + place + std::string("\x40\x01\x02\x01\x01", 5)), "longer than its block");
  refuse(first_line + block(std::string("\x05\x01\x00\x00\x01s", 6)), "below one that comes later");
  refuse(first_line + block(std::string("\x05\x00\x7f\x00\x01s", 6)), "of an unknown kind");
  refuse(first_line + block(std::string("\x05\x00\x00\x00\x01s\x09\x02\x05", 9)), "a colour of an unknown call path");
  refuse(first_line + block(std::string("\x05\x00\x00\x00\x01s\x0a\x02\x05", 9)), "a level of an unknown call path");
  refuse(first_line + block(std::string("\x05\x00\x00\x00\x05s", 6)), "a text is longer");
  refuse(first_line + block("\x01" + std::string(11, '\x80')), "a number is too long");
  refuse(first_line + block("\x06\x01\xff\xff\xff\xff\xff\x01"), "a number is too large");
  file.fill(first_line + block(site + place + std::string("\x10\x01\x02\x02", 4)) + block("\x08"));
  CHECK(failure(file.name()).empty());
  CHECK(event_log_reader(file.name()).is_complete());
  CHECK(event_log_reader(file.name()).describe() == "adaptyst event log, version 3");
}

TEST_CASE("logs of version 1, which have no colours, are read") {
  const log_file file;
  file.fill("adaptyst event log 1\n" + block(std::string("\x05\x00\x00\x00\x01s\x08", 7)));
  const event_log_reader reader(file.name());
  CHECK(reader.is_complete());
  CHECK(reader.describe() == "adaptyst event log, version 1");
  REQUIRE(reader.sites().size() == 1);
  CHECK(reader.sites()[0].color == 0);
}

TEST_CASE("call paths have the levels of a log, if they are levels") {
  const log_file file;
  const std::string site("\x05\x00\x00\x00\x01s", 6);
  file.fill(first_line + block(site + "\x0a\x01\x03" + site + "\x0a\x02\x07" + site));
  const event_log_reader reader(file.name());
  REQUIRE(reader.sites().size() == 3);
  CHECK(reader.sites()[0].level == adaptyst::level::layer);
  CHECK_FALSE(reader.sites()[1].level);
  CHECK_FALSE(reader.sites()[2].level);
}

TEST_CASE("times that cannot be are left out and counted, with their bytes") {
  const log_file file;
  traced_site site{"step", region_kind::region, 0, nullptr};
  traced_event event;
  event.site = &site;
  event.thread = 1;
  {
    event_log_writer to(file.name(), 1000);
    for (const auto& [begin_ns, end_ns] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{2000, 3000},
                                                              {3000, 2000},
                                                              {2000, 2001 + max_span_ns},
                                                              {max_time_ns + 1001, max_time_ns + 1002},
                                                              {500, 4000}}) {
      event.begin_ns = begin_ns;
      event.end_ns = end_ns;
      to.add(1, event);
    }
    to.finish();
  }
  bad_rows bad;
  const kept found = read(file.name(), 0, &bad);
  REQUIRE(found.events.size() == 2);
  CHECK(std::get<5>(found.events[1]) == 0);  // begun before time 0
  CHECK(std::get<6>(found.events[1]) == 3000);
  CHECK(bad.of(row_fault::out_of_range) == 3);
  CHECK(bad.first.find(", byte ") != std::string::npos);
  const event_log_reader reader(file.name());
  const std::unique_ptr<trace_scan> scan = reader.scan(scan_subject::regions);
  std::size_t count = 0;
  scan->scan(0, 0, scan->tables()[0].rows.last,
             [&](const scanned_span* /*spans*/, std::size_t some) { count += some; });
  CHECK(count == 2);
  CHECK(scan->bad().of(row_fault::out_of_range) == 3);
}

TEST_CASE("a name longer than a log takes is cut, and a full disk loses what it cannot take") {
  const log_file file;
  traced_site site{std::string(200'000, 'x'), region_kind::region, 0, nullptr};
  traced_event event;
  event.site = &site;
  event.begin_ns = event.end_ns = 5;
  {
    event_log_writer to(file.name(), 0);
    to.add(1, event);
    to.finish();
  }
  REQUIRE(read(file.name()).events.size() == 1);
  CHECK(event_log_reader(file.name()).sites()[0].name.size() == log_max_text);

  event_log_writer to("/dev/full", 0);
  to.add(1, event);
  CHECK_THROWS_AS(to.flush(), error);
  to.add(1, event);
  to.add(1, event);
  CHECK_NOTHROW(to.flush());  // told once
  CHECK_NOTHROW(to.finish());
  CHECK(to.lost() == 3);
}
