// A timeline's file: what Perfetto would read of it.
#include "trace/chrome_trace.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace {

using adaptyst::lib::chrome_trace;
using adaptyst::lib::traced_as;
using adaptyst::lib::traced_event;
using adaptyst::lib::traced_site;
using nlohmann::json;

class temporary_file {
 public:
  temporary_file() { close(mkstemp(name_)); }
  ~temporary_file() { std::remove(name_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  const char* name() const { return name_; }
  json content() const {
    std::ifstream in(name_);
    return json::parse(in);
  }

 private:
  char name_[32] = "/tmp/adaptyst-trace-XXXXXX";
};

traced_event event(traced_as as, const traced_site& site, std::uint64_t begin_ns, std::uint64_t end_ns) {
  traced_event made;
  made.as = as;
  made.site = &site;
  made.thread = 5;
  made.begin_ns = begin_ns;
  made.end_ns = end_ns;
  return made;
}

const traced_site solve{"solve \"fast\"", adaptyst::region_kind::region, 0};
const traced_site upload{"upload", adaptyst::region_kind::copy_to, 1};
const traced_site sweep{"sweep", adaptyst::region_kind::offload, 1};

constexpr std::uint64_t origin = 1'000'000;

std::vector<json> select_phase(const json& all, const std::string& phase) {
  std::vector<json> found;
  for (const json& value : all)
    if (value["ph"] == phase) found.push_back(value);
  return found;
}

}  // namespace

TEST_CASE("a program with any number of queues, or whose scopes come backwards, takes bounded memory") {
  const temporary_file file;
  chrome_trace trace(file.name(), origin, adaptyst::to_string);
  constexpr std::uint64_t count = 10'000;
  const traced_site kernel{"kernel", adaptyst::region_kind::kernel, 1};
  for (std::uint64_t at = 0; at != count; ++at) {
    traced_event operation = event(traced_as::operation, kernel, origin + at, origin + at + 1);
    operation.queue = at;
    trace.add(42, operation);
    trace.add(42, event(traced_as::scope, solve, origin + 3 * (count - at), origin + 3 * (count - at) + 1));
  }
  trace.finish();
  const json all = file.content();
  std::size_t queues = 0, kernels = 0, scopes = 0;
  for (const json& value : all) {
    if (value["ph"] == "M" && value["name"] == "thread_name") ++queues;
    if (value["ph"] != "X" && value["ph"] != "b") continue;
    if (value["name"] == "kernel") ++kernels;
    else ++scopes;
  }
  CHECK(queues == 4096);
  CHECK(kernels == count);
  CHECK(scopes == count);
  CHECK(select_phase(all, "b").size() == count - 4096);
}

TEST_CASE("times are microseconds since the first, to the nanosecond; a number and a mark have one") {
  const temporary_file file;
  chrome_trace trace(file.name(), origin, adaptyst::to_string);
  trace.add(42, event(traced_as::scope, solve, origin + 1'234'056, origin + 1'234'056 + 7'008));
  trace.add(42, event(traced_as::scope, solve, origin - 5, origin + 10));
  traced_event metric = event(traced_as::metric, solve, origin + 500, 0);
  metric.value = 0.25;
  trace.add(42, metric);
  metric.value = 0.5;
  metric.begin_ns += 10;
  trace.add(42, metric);
  metric.value = std::numeric_limits<double>::infinity();
  trace.add(42, metric);
  trace.add(42, event(traced_as::instant_event, solve, origin + 600, 0));
  trace.finish();
  CHECK(trace.lost() == 1);
  const json all = file.content();
  REQUIRE(all.size() == 5);
  CHECK(all[0] == json({{"name", "solve \"fast\""},
                        {"cat", "region"},
                        {"ph", "X"},
                        {"pid", 42},
                        {"tid", 5},
                        {"ts", 1234.056},
                        {"dur", 7.008}}));
  CHECK(all[1]["ts"] == 0.0);  // begun before anything listened
  CHECK(all[1]["dur"] == 0.015);
  CHECK(all[2]["ph"] == "C");
  CHECK(all[2]["args"]["value"] == 0.25);
  CHECK(all[3]["args"]["value"] == 0.5);
  CHECK(all[4]["ph"] == "i");
  CHECK(all[4]["ts"] == 0.6);
}

TEST_CASE("a counter that never changes is left out, one that does begins with its first value") {
  const temporary_file file;
  chrome_trace trace(file.name(), origin, adaptyst::to_string);
  const traced_site team{"threads", adaptyst::region_kind::metric, 0}, elsewhere = team;
  const auto add = [&](std::int64_t process, const traced_site& site, std::uint64_t at_ns, double value) {
    traced_event metric = event(traced_as::metric, site, origin + at_ns, 0);
    metric.value = value;
    trace.add(process, metric);
  };
  for (std::uint64_t at = 0; at != 10; ++at) add(42, team, 1000 * at, 2);
  for (std::uint64_t at = 0; at != 10; ++at) add(43, elsewhere, 1000 * at, at < 5 ? 2 : 3);
  add(43, team, 20'000, 3);  // the same counter, from another path
  trace.finish();
  CHECK(trace.unchanged() == 10 + 4);
  CHECK(trace.lost() == 0);
  const json all = file.content();
  REQUIRE(all.size() == 1 + 5 + 1);
  for (const json& json : all) CHECK(json["pid"] == 43);
  CHECK(all[0]["ts"] == 0.0);
  CHECK(all[0]["args"]["value"] == 2.0);
  CHECK(all[1]["ts"] == 5.0);
  CHECK(all[6]["ts"] == 20.0);
}

TEST_CASE("whole pages of the file are what loads, as a program leaves them that is killed while it writes") {
  const temporary_file file;
  chrome_trace trace(file.name(), origin, adaptyst::to_string);
  for (std::uint64_t at = 0; at != 1000; ++at) {
    trace.add(42, event(traced_as::scope, solve, origin + at * at, origin + at * at + at));
    if (at % 70 == 0) trace.flush();
  }
  trace.flush();
  std::ifstream in(file.name());
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(text.size() > 20 * 4096);
  std::size_t events = 0;
  for (std::size_t end = 4096; end < text.size(); end += 4096) {
    const json left = json::parse(text.substr(0, end) + "]", nullptr, false);
    REQUIRE_FALSE(left.is_discarded());
    CHECK(left.size() > events);
    events = left.size();
  }
}

TEST_CASE("a handle is a pair of its own, as it may overlap anything") {
  const temporary_file file;
  chrome_trace trace(file.name(), origin, adaptyst::to_string);
  trace.add(42, event(traced_as::handle, solve, origin + 1000, origin + 3000));
  trace.add(42, event(traced_as::handle, solve, origin + 2000, origin + 4000));
  trace.finish();
  const json all = file.content();
  REQUIRE(all.size() == 4);
  for (std::size_t at = 0; at != 4; at += 2) {
    CHECK(all[at]["ph"] == "b");
    CHECK(all[at + 1]["ph"] == "e");
    CHECK(all[at]["id"] == all[at + 1]["id"]);
  }
  CHECK(all[0]["id"] != all[2]["id"]);
  CHECK(all[0]["ts"] == 1.0);
  CHECK(all[1]["ts"] == 3.0);
}

TEST_CASE("operations of a queue share a track unless they overlap, and an arrow leads to each") {
  const temporary_file file;
  chrome_trace trace(file.name(), origin, adaptyst::to_string);
  trace.name_device(42, 1, {"gpu0", 0, {}});
  CHECK(trace.knows_device(42, 1));
  CHECK_FALSE(trace.knows_device(42, 2));
  const auto operation = [&](std::uint64_t queue, std::uint64_t begin, std::uint64_t end) {
    traced_event made = event(traced_as::operation, upload, origin + begin, origin + end);
    made.submitted_ns = made.begin_ns - 100;
    made.queue = queue;
    trace.add(42, made);
  };
  operation(77, 1000, 2000);
  operation(77, 2000, 3000);  // right behind
  operation(77, 2500, 3500);  // next to it
  operation(88, 2500, 3500);
  operation(77, 3600, 3700);
  trace.finish();
  const json all = file.content();
  const std::vector<json> slices = select_phase(all, "X");
  REQUIRE(slices.size() == 5);
  const auto track = [&](std::size_t at) { return slices[at]["tid"].get<int>(); };
  CHECK(track(0) == track(1));
  CHECK(track(2) != track(1));
  CHECK(track(3) != track(1));
  CHECK(track(3) != track(2));
  CHECK(track(4) == track(0));
  CHECK(slices[0]["dur"] == 1.0);
  CHECK(slices[0]["pid"] != 42);
  std::vector<std::string> names;
  for (const json& value : select_phase(all, "M")) names.push_back(value["args"]["name"]);
  CHECK(names == std::vector<std::string>{"gpu0 of process 42", "queue 1", "queue 1 (2)", "queue 2"});
  const std::vector<json> from = select_phase(all, "s");
  const std::vector<json> ends = select_phase(all, "f");
  REQUIRE(from.size() == 5);
  REQUIRE(ends.size() == 5);
  for (std::size_t at = 0; at != 5; ++at) {
    CHECK(from[at]["id"] == ends[at]["id"]);
    CHECK(from[at]["pid"] == 42);
    CHECK(from[at]["tid"] == 5);
    CHECK(ends[at]["tid"] == slices[at]["tid"]);
    CHECK(ends[at]["ts"] == slices[at]["ts"]);
  }
  CHECK(from[0]["ts"] == 0.9);
}

TEST_CASE("an offload stands on its thread and on its device, without an arrow") {
  const temporary_file file;
  chrome_trace trace(file.name(), origin, adaptyst::to_string);
  trace.name_device(42, 1, {"gpu0", 0, {}});
  trace.add(42, event(traced_as::scope, sweep, origin, origin + 1000));
  trace.finish();
  const json all = file.content();
  const std::vector<json> slices = select_phase(all, "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0]["pid"] == 42);
  CHECK(slices[1]["pid"] != 42);
  CHECK(select_phase(all, "s").empty());
  CHECK(select_phase(all, "M").back()["args"]["name"] == "offloads of thread 5");
}

TEST_CASE("scopes that cross are pairs, whether they come by their begins or their ends") {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> by_begins = {{0, 100}, {10, 40},   {20, 30},   {50, 150},
                                                                          {60, 90}, {100, 110}, {200, 300}, {200, 250}};
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> by_ends = {{20, 30},  {10, 40},   {0, 100},
                                                                        {50, 150}, {200, 250}, {200, 300}};
  for (const auto& [scopes, slices] : {std::pair(by_begins, std::size_t{7}), std::pair(by_ends, std::size_t{5})}) {
    const temporary_file file;
    chrome_trace trace(file.name(), origin, adaptyst::to_string);
    for (const auto& [begin_ns, end_ns] : scopes)
      trace.add(42, event(traced_as::scope, solve, origin + begin_ns, origin + end_ns));
    trace.finish();
    const json all = file.content();
    CHECK(select_phase(all, "X").size() == slices);
    REQUIRE(select_phase(all, "b").size() == 1);
    CHECK(select_phase(all, "b")[0]["ts"] == 0.05);
    CHECK(select_phase(all, "e")[0]["ts"] == 0.15);
  }
}

TEST_CASE("numbers of processes and of devices are never the same, and an operation has its queue") {
  const temporary_file file;
  chrome_trace trace(file.name(), origin, adaptyst::to_string);
  const std::int64_t second = (std::int64_t{1} << 22) | 1, far = (std::int64_t{1} << 31) | 1;
  for (const std::int64_t process : {std::int64_t{1}, second, far}) {
    trace.name_process(process, {"prog", 1, {}, {}});
    trace.add(process, event(traced_as::operation, upload, origin + 10, origin + 20));
  }
  trace.finish();
  std::set<std::int64_t> numbers;
  for (const json& value : select_phase(file.content(), "M"))
    if (value["name"] == "process_name") CHECK(numbers.insert(value["pid"].get<std::int64_t>()).second);
    else CHECK(value["args"]["name"] == "queue 1");
  CHECK(numbers.size() == 6);
}

TEST_CASE("what cannot be written is lost, and reported once") {
  chrome_trace trace("/dev/full", origin, adaptyst::to_string);
  for (int times = 0; times != 3; ++times) trace.add(42, event(traced_as::scope, solve, origin, origin + 1));
  CHECK_THROWS(trace.flush());
  CHECK(trace.lost() == 3);
  trace.add(42, event(traced_as::scope, solve, origin, origin + 1));
  trace.flush();
  CHECK(trace.lost() == 4);
}
