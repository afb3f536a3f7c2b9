// A timeline in Perfetto's form, decoded from the description of protobuf's encoding.
#include "trace/perfetto_trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace {

using adaptyst::lib::perfetto_trace;
using adaptyst::lib::traced_as;
using adaptyst::lib::traced_event;
using adaptyst::lib::traced_site;

struct field_value {
  std::uint64_t number = 0;
  std::string bytes;
};
using message = std::multimap<unsigned, field_value>;

class decoder {
 public:
  explicit decoder(std::string_view from) : left_(from) {}
  bool is_at_end() const { return left_.empty(); }
  std::uint64_t varint() {
    std::uint64_t made = 0;
    for (unsigned shift = 0;; shift += 7) {
      REQUIRE(!left_.empty());
      REQUIRE(shift < 64);
      const auto byte = static_cast<unsigned char>(left_[0]);
      left_.remove_prefix(1);
      made |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return made;
    }
  }
  std::string take(std::size_t size) {
    REQUIRE(size <= left_.size());
    std::string made(left_.substr(0, size));
    left_.remove_prefix(size);
    return made;
  }
  message fields() {
    message made;
    while (!is_at_end()) {
      const std::uint64_t tag = varint();
      field_value value;
      if (tag % 8 == 0) value.number = varint();
      else if (tag % 8 == 1) std::memcpy(&value.number, take(8).data(), 8);
      else {
        REQUIRE(tag % 8 == 2);
        value.bytes = take(varint());
      }
      made.emplace(static_cast<unsigned>(tag / 8), value);
    }
    return made;
  }

 private:
  std::string_view left_;
};

std::uint64_t number(const message& of, unsigned field, std::uint64_t otherwise = 0) {
  const auto found = of.find(field);
  return found != of.end() ? found->second.number : otherwise;
}
std::string bytes(const message& of, unsigned field) {
  const auto found = of.find(field);
  return found != of.end() ? found->second.bytes : std::string();
}
message inner(const message& of, unsigned field) { return decoder(bytes(of, field)).fields(); }

struct read_slice {
  std::string name, kind, track;
  std::uint64_t begin_ns = 0, end_ns = 0, arrow = 0;
  std::map<std::string, std::string> notes;
};

// The packets as a viewer reads them.
struct read_trace {
  std::vector<message> packets;
  std::map<std::uint64_t, message> tracks;
  std::vector<read_slice> slices, instants, values;
  std::uint64_t empty = 0, unfinished = 0;

  explicit read_trace(const std::string& text) {
    decoder from(text);
    while (!from.is_at_end()) {
      REQUIRE(from.varint() == (1U << 3U | 2U));
      packets.push_back(decoder(from.take(from.varint())).fields());
    }
    std::map<std::uint64_t, std::map<std::pair<unsigned, std::uint64_t>, std::string>> interned;
    std::map<std::uint64_t, std::uint64_t> default_tracks;
    struct placed {
      std::uint64_t ns, sequence;
      message event;
    };
    std::vector<placed> events;
    for (const message& packet : packets) {
      if (packet.empty()) ++empty;
      const std::uint64_t sequence = number(packet, 10);
      if (packet.count(59) != 0) {
        CHECK(number(packet, 13) == 1);
        default_tracks[sequence] = number(inner(inner(packet, 59), 11), 11);
      }
      if (packet.count(60) != 0) {
        const message track = inner(packet, 60);
        tracks[number(track, 1)] = track;
      }
      for (const auto& [field, value] : inner(packet, 12)) {
        const message entry = decoder(value.bytes).fields();
        interned[sequence][{field, number(entry, 1)}] = bytes(entry, 2);
      }
      if (packet.count(11) == 0) continue;
      REQUIRE(default_tracks.count(sequence) == 1);
      events.push_back({number(packet, 8), sequence, inner(packet, 11)});
      const message& event = events.back().event;
      if (number(event, 9) != 4) REQUIRE(interned[sequence].count({2, number(event, 10)}) == 1);
      if (event.count(3) != 0) REQUIRE(interned[sequence].count({1, number(event, 3)}) == 1);
    }
    std::stable_sort(events.begin(), events.end(), [](const placed& a, const placed& b) { return a.ns < b.ns; });
    std::map<std::uint64_t, std::vector<read_slice>> open;
    for (const placed& at : events) {
      const std::uint64_t track = number(at.event, 11, default_tracks[at.sequence]);
      REQUIRE(tracks.count(track) == 1);
      read_slice made;
      auto& texts = interned[at.sequence];
      made.name = texts[{2, number(at.event, 10)}];
      made.kind = at.event.count(3) != 0 ? texts[{1, number(at.event, 3)}] : "";
      made.track = bytes(tracks[track], 2);
      made.begin_ns = made.end_ns = at.ns;
      made.arrow = number(at.event, 47) | number(at.event, 48);
      for (auto [note, end] = at.event.equal_range(4); note != end; ++note) {
        const message fields = decoder(note->second.bytes).fields();
        made.notes[texts[{3, number(fields, 1)}]] =
            fields.count(6) != 0 ? bytes(fields, 6) : std::to_string(number(fields, 3));
      }
      switch (number(at.event, 9)) {
        case 1: open[track].push_back(made); break;
        case 2: {
          auto& stack = open[track];
          REQUIRE(!stack.empty());
          auto closed =
              std::find_if(stack.rbegin(), stack.rend(), [&](const read_slice& s) { return s.name == made.name; });
          REQUIRE(closed != stack.rend());
          if (closed != stack.rbegin()) ++unfinished;
          closed->end_ns = at.ns;
          slices.push_back(*closed);
          stack.erase(std::next(closed).base());
          break;
        }
        case 3: instants.push_back(made); break;
        case 4: values.push_back(made); break;
        default: FAIL("an event of unknown type");
      }
    }
    for (const auto& [track, stack] : open) unfinished += stack.size();
  }
};

class temporary_file {
 public:
  temporary_file() { close(mkstemp(name_)); }
  ~temporary_file() { std::remove(name_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  const char* name() const { return name_; }
  std::string text() const {
    std::ifstream in(name_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  char name_[32] = "/tmp/adaptyst-trace-XXXXXX";
};

constexpr std::uint64_t origin = 1'000'000;
const traced_site solve{"solve", adaptyst::region_kind::region, 0};
const traced_site step{"step", adaptyst::region_kind::region, 0};
const traced_site upload{"upload", adaptyst::region_kind::copy_to, 1};

traced_event event(traced_as as, const traced_site& site, std::uint64_t begin_ns, std::uint64_t end_ns) {
  traced_event made;
  made.as = as;
  made.site = &site;
  made.thread = 5;
  made.begin_ns = origin + begin_ns;
  made.end_ns = origin + end_ns;
  return made;
}

perfetto_trace::clocks clocks() { return {origin, 5'000'000, 7'000'000}; }

}  // namespace

TEST_CASE("a span of Perfetto has its name, times, track and kind, and takes at most 32 bytes") {
  const temporary_file file;
  perfetto_trace trace(file.name(), clocks());
  trace.name_process(42, {"solver", 42, "node", 3});
  trace.name_thread(42, 5, "main thread");
  for (std::uint64_t at = 0; at != 1000; ++at) {
    const std::uint64_t begin_ns = 30'000'000 * at;
    trace.add(42, event(traced_as::scope, step, begin_ns, begin_ns + 400));
    trace.add(42, event(traced_as::scope, solve, begin_ns - (at != 0 ? 1 : 0), begin_ns + 500));
  }
  trace.finish();
  const std::string text = file.text();
  CHECK(text.size() < 2000 * 32 + 1000);
  const read_trace read(text);
  REQUIRE(read.slices.size() == 2000);
  CHECK(read.unfinished == 0);
  std::uint64_t times[2] = {0, 0};
  for (const read_slice& slice : read.slices) times[slice.name == "solve"] += slice.end_ns - slice.begin_ns;
  CHECK(times[0] == 400 * 1000);
  CHECK(times[1] == 501 * 1000 - 1);
  // The clocks at time 0, by the number of the clock.
  std::map<std::uint64_t, std::uint64_t> snapshot;
  const message first = inner(read.packets[0], 6);
  for (auto [clock, end] = first.equal_range(1); clock != end; ++clock) {
    const message fields = decoder(clock->second.bytes).fields();
    snapshot[number(fields, 1)] = number(fields, 2);
  }
  CHECK(snapshot == std::map<std::uint64_t, std::uint64_t>{{1, 7'000'000}, {3, origin}, {6, 5'000'000}, {64, 0}});
  std::set<std::string> threads, processes;
  for (const auto& [id, track] : read.tracks) {
    if (track.count(4) != 0) threads.insert(bytes(inner(track, 4), 5));
    if (track.count(3) != 0) processes.insert(bytes(inner(track, 3), 6));
  }
  CHECK(threads == std::set<std::string>{"main thread"});
  CHECK(processes == std::set<std::string>{"solver, rank 3 on node"});
}

TEST_CASE("a trace of Perfetto without clocks has none") {
  const temporary_file file;
  perfetto_trace trace(file.name(), {});
  trace.add(42, event(traced_as::scope, solve, 10, 20));
  trace.finish();
  const read_trace read(file.text());
  for (const message& packet : read.packets) CHECK(packet.count(6) == 0);
  REQUIRE(read.slices.size() == 1);
  CHECK(read.slices[0].begin_ns == origin + 10);
}

TEST_CASE("operations have arrows from their submissions, their bytes, and a track for each that overlaps") {
  const temporary_file file;
  perfetto_trace trace(file.name(), clocks());
  trace.name_device(42, 1, {"gpu0", 0, {}});
  traced_event copy = event(traced_as::operation, upload, 1000, 2000);
  copy.submitted_ns = origin + 100;
  copy.bytes = 4096;
  copy.correlation = 17;
  trace.add(42, copy);
  copy.begin_ns += 500;
  copy.end_ns += 500;
  trace.add(42, copy);
  copy.submitted_ns = 0;
  copy.queue = 7;
  trace.add(42, copy);
  trace.finish();
  const read_trace read(file.text());
  REQUIRE(read.slices.size() == 3);
  CHECK(read.slices[0].kind == "copy_to");
  CHECK(read.slices[0].notes == std::map<std::string, std::string>{{"bytes", "4096"}, {"correlation", "17"}});
  REQUIRE(read.instants.size() == 2);
  std::set<std::uint64_t> from, to;
  for (const read_slice& submit : read.instants) {
    CHECK(submit.name == "submit");
    CHECK(submit.begin_ns == 100);
    from.insert(submit.arrow);
  }
  for (const read_slice& slice : read.slices)
    if (slice.arrow != 0) to.insert(slice.arrow);
  CHECK(from == to);
  CHECK(from.size() == 2);
  std::multiset<std::string> names;
  for (const auto& [id, track] : read.tracks) names.insert(bytes(track, 2));
  CHECK(names.count("gpu0") == 1);
  CHECK(names.count("queue 1") == 2);
  CHECK(names.count("queue 2") == 1);
}

TEST_CASE("scopes that cross, and handles, are on tracks below the thread") {
  const temporary_file file;
  perfetto_trace trace(file.name(), clocks());
  trace.add(42, event(traced_as::scope, solve, 0, 100));
  trace.add(42, event(traced_as::scope, step, 50, 150));
  trace.add(42, event(traced_as::handle, step, 60, 160));
  trace.add(42, event(traced_as::scope, upload, 200, 300));  // an offload is also on its device
  trace.finish();
  const read_trace read(file.text());
  REQUIRE(read.slices.size() == 5);
  CHECK(read.unfinished == 0);
  std::multiset<std::string> tracks;
  for (const read_slice& slice : read.slices) tracks.insert(slice.track);
  CHECK(tracks == std::multiset<std::string>{"", "", "offloads of thread 5", "overlapping", "overlapping"});
}

TEST_CASE("numbers are exact in Perfetto's form, numbers that are not finite are lost") {
  const temporary_file file;
  perfetto_trace trace(file.name(), clocks());
  const traced_site team{"threads", adaptyst::region_kind::metric, 0};
  for (const double value :
       {0.1, 0.1, -3.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    traced_event metric = event(traced_as::metric, team, 10, 10);
    metric.value = value;
    trace.add(42, metric);
  }
  trace.add(42, event(traced_as::instant_event, solve, 5, 5));
  trace.finish();
  CHECK(trace.lost() == 2);
  const read_trace read(file.text());
  CHECK(read.values.size() == 3);
  CHECK(read.values[0].track == "threads");
  REQUIRE(read.instants.size() == 1);
  CHECK(read.instants[0].name == "solve");
  CHECK(read.instants[0].begin_ns == 5);
}

TEST_CASE("a program with any number of threads, queues, processes and colours has all spans in Perfetto's form") {
  const temporary_file file;
  perfetto_trace trace(file.name(), clocks());
  constexpr std::uint64_t count = 5000;
  const traced_site kernel{"kernel", adaptyst::region_kind::kernel, 1};
  traced_site colored = solve;
  colored.color = 0xFF00FF10;
  for (std::uint64_t at = 0; at != count; ++at) {
    traced_event operation = event(traced_as::operation, kernel, at, at + 1000);
    operation.queue = at;
    trace.add(static_cast<std::int64_t>(at % 3) << 40U, operation);
    traced_event scope = event(traced_as::scope, colored, at, at + 1);
    scope.thread = static_cast<std::uint32_t>(at);
    trace.add(42, scope);
    trace.add(42, event(traced_as::handle, step, 0, 1));
  }
  trace.finish();
  const read_trace read(file.text());
  CHECK(read.slices.size() == 3 * count);
  CHECK(read.unfinished == 0);
  std::set<std::uint64_t> sequences, numbers;
  for (const message& packet : read.packets) sequences.insert(number(packet, 10));
  CHECK(sequences.size() <= 128);
  for (const auto& [id, track] : read.tracks)
    if (track.count(3) != 0) CHECK(numbers.insert(number(inner(track, 3), 1)).second);
  CHECK(numbers.size() == 4);
  for (const std::uint64_t pid : numbers) CHECK((pid != 0 && pid < std::uint64_t{1} << 31U));
  for (const auto& [id, track] : read.tracks)
    if (track.count(4) != 0) CHECK(number(inner(track, 4), 2) != 0);
  const auto named =
      std::find_if(read.slices.begin(), read.slices.end(), [](const read_slice& s) { return s.name == "solve"; });
  CHECK(named->notes.at("color") == "#00ff10");
}

TEST_CASE("whole pages of Perfetto's form are whole packets, as a program leaves them that is killed while it writes") {
  const temporary_file file;
  perfetto_trace trace(file.name(), clocks());
  std::vector<traced_site> sites(300, solve);
  for (std::size_t at = 0; at != sites.size(); ++at)
    sites[at].name = std::string(at * 7 % 1500, 'n') + std::to_string(at);
  for (std::uint64_t at = 0; at != 3000; ++at) {
    trace.add(42, event(traced_as::scope, sites[at % sites.size()], at * at * 50, at * at * 50 + at));
    if (at % 70 == 0) trace.flush();
  }
  trace.flush();
  const std::string text = file.text();
  REQUIRE(text.size() > 20 * 4096);
  std::size_t packets = 0;
  for (std::size_t end = 4096; end < text.size(); end += 4096 * 7) {
    const read_trace left(text.substr(0, end));
    CHECK(left.packets.size() > packets);
    packets = left.packets.size();
  }
}

TEST_CASE("any bytes in a name become valid UTF-8 in Perfetto's form") {
  const temporary_file file;
  perfetto_trace trace(file.name(), clocks());
  const traced_site odd{std::string("a\0\xFF\xC3(\n\"", 7), adaptyst::region_kind::region, 0};
  const traced_site longest{std::string(1 << 20, '\xFF'), adaptyst::region_kind::region, 0};
  trace.name_process(42, {std::string(5000, '\xFE'), 42, {}, {}});
  trace.add(42, event(traced_as::scope, odd, 0, 1));
  trace.add(42, event(traced_as::scope, longest, 2, 3));
  trace.finish();
  const read_trace read(file.text());
  REQUIRE(read.slices.size() == 2);
  CHECK(read.slices[0].name == std::string("a\0\xEF\xBF\xBD\xEF\xBF\xBD(\n\"", 11));
  CHECK(read.slices[1].name.size() < 4096);
}

TEST_CASE("what cannot be written in Perfetto's form is lost, and reported once") {
  perfetto_trace trace("/dev/full", clocks());
  for (int times = 0; times != 3; ++times) trace.add(42, event(traced_as::scope, solve, 0, 1));
  CHECK_THROWS(trace.flush());
  CHECK(trace.lost() == 3);
  trace.add(42, event(traced_as::scope, solve, 0, 1));
  trace.flush();
  CHECK(trace.lost() == 4);
}
