// The region of a thread at an earlier time, from the scopes that have ended since.
#include "recorder/region_journal.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "catch.hpp"
#include "recorder/memory.hpp"

namespace {

using adaptyst::lib::region_journal;
using adaptyst::lib::traced_event;
using adaptyst::lib::traced_site;

const adaptyst::lib::process_state no_process{&adaptyst::lib::own_memory(), 0, {}};

// Scopes that nest, in the order of their ends, each with its own path.
struct nested_scopes {
  std::deque<traced_site> sites;
  std::vector<traced_event> events;
  std::minstd_rand numbers{11};

  std::uint64_t make(std::uint64_t at, int depth) {
    for (auto left = numbers() % 4; left != 0; --left) {
      at += numbers() % 3;
      const std::uint64_t begin = at;
      at += 1 + numbers() % 5;
      if (depth != 0) at = make(at, depth - 1);
      at += 1 + numbers() % 5;
      traced_site& site = sites.emplace_back();
      site.path = sites.size();
      traced_event event;
      event.site = &site;
      event.thread = 7;
      event.begin_ns = begin;
      event.end_ns = at;
      events.push_back(event);
    }
    return at;
  }
  std::uint64_t innermost(std::uint64_t time) const {
    const traced_event* found = nullptr;
    for (const traced_event& event : events)
      if (event.begin_ns <= time && time < event.end_ns && (found == nullptr || event.begin_ns > found->begin_ns))
        found = &event;
    return found != nullptr ? found->site->path : 0;
  }
};

void take(region_journal& journal, const std::vector<traced_event>& events) {
  adaptyst::lib::trace_reader reader(no_process);
  journal.begin(reader, no_process, {});
  for (const traced_event& event : events) journal.add(event);
  journal.end(reader, true);
}

}  // namespace

TEST_CASE("the region at a time is the innermost scope around it") {
  for (unsigned seed = 1; seed != 200; ++seed) {
    nested_scopes all;
    all.numbers.seed(seed);
    const std::uint64_t end = all.make(100, 5);
    region_journal journal;
    take(journal, all.events);
    REQUIRE(journal.is_ready());
    for (std::uint64_t time = 90; time != end + 5; ++time) {
      CAPTURE(seed, time);
      REQUIRE(journal.find(7, time) == std::optional(all.innermost(time)));
      REQUIRE(journal.find(8, time) == std::optional<std::uint64_t>(0));
    }
  }
}

TEST_CASE("a time before forgotten scopes has no known region") {
  nested_scopes all;
  const std::uint64_t end = all.make(100, 6);
  const std::uint64_t until = (100 + end) / 2;
  region_journal journal;
  take(journal, all.events);
  journal.forget(until);
  CHECK_FALSE(journal.find(7, until - 1));
  for (std::uint64_t time = until; time != end + 5; ++time)
    REQUIRE(journal.find(7, time) == std::optional(all.innermost(time)));
}

TEST_CASE("a scope with an unknown path, and events that are no scopes") {
  traced_site unnamed;
  traced_event event;
  event.site = &unnamed;
  event.thread = 7;
  event.begin_ns = 10, event.end_ns = 20;
  region_journal journal;
  take(journal, {event});
  CHECK_FALSE(journal.find(7, 15));
  CHECK(journal.find(7, 25) == std::optional<std::uint64_t>(0));
  event.as = adaptyst::lib::traced_as::handle;  // it may end on another thread
  region_journal other;
  take(other, {event});
  CHECK(other.find(7, 15) == std::optional<std::uint64_t>(0));
}

TEST_CASE("a read that did not find all rings leaves times for a later one") {
  adaptyst::lib::trace_reader reader(no_process);
  region_journal journal;
  journal.begin(reader, no_process, {});
  journal.end(reader, false);
  CHECK_FALSE(journal.is_ready());
  journal.end(reader, true);
  CHECK(journal.is_ready());
}

TEST_CASE("regions before the begin of a journal, and of scopes beyond its limit, are unknown") {
  nested_scopes all;
  std::uint64_t end = 100;
  while (all.events.size() < 10) end = all.make(end, 6);
  region_journal late;
  late.start_at(end);
  take(late, all.events);
  CHECK_FALSE(late.find(7, end - 1));
  CHECK(late.find(7, end) == std::optional<std::uint64_t>(0));
  region_journal small;
  small.limit(3);
  take(small, all.events);
  CHECK(small.kept() == 3);
  CHECK_FALSE(small.find(7, end - 1));
}

TEST_CASE("scopes in another order than that of their ends have unknown regions") {
  traced_site site;
  site.path = 5;
  traced_event event;
  event.site = &site;
  event.thread = 7;
  event.begin_ns = 900'000, event.end_ns = 1'000'000;
  traced_event earlier = event;
  earlier.begin_ns = 100, earlier.end_ns = 200;
  region_journal journal;
  take(journal, {event, earlier});
  CHECK_FALSE(journal.find(7, 150));
  CHECK_FALSE(journal.find(7, 950'000));
  CHECK(journal.find(7, 1'000'000) == std::optional<std::uint64_t>(0));
}

TEST_CASE("times between many short regions belong to the region around them") {
  traced_site inner, outer;
  inner.path = 5, outer.path = 6;
  std::vector<traced_event> events;
  constexpr std::uint64_t scopes = 10'000, step = 10, first = 1000, end = first + step * scopes;
  for (std::uint64_t at = 0; at != scopes; ++at) {
    traced_event event;
    event.site = &inner;
    event.thread = 7;
    event.begin_ns = first + step * at, event.end_ns = event.begin_ns + step / 2;
    events.push_back(event);
  }
  traced_event around = events.back();
  around.site = &outer;
  around.begin_ns = first - step, around.end_ns = end;
  for (const bool is_around : {true, false}) {
    region_journal journal;
    if (is_around) events.push_back(around);
    else events.pop_back();
    take(journal, events);
    for (const std::uint64_t forgotten : {std::uint64_t{0}, first + scopes * step / 8, first + scopes * step / 2}) {
      journal.forget(forgotten);
      for (std::uint64_t time = std::max(forgotten, first - step); time < end; time += step / 2)
        REQUIRE(journal.find(7, time) == std::optional<std::uint64_t>(time >= first && time % step == 0 ? inner.path
                                                                      : is_around                       ? outer.path
                                                                                                        : 0));
    }
  }
}
