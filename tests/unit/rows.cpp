// Rows of a recorder next to what is simpler and larger: whole histograms, a map.
#include <adaptyst/detail/recorder.hpp>
#include <adaptyst/detail/rows.hpp>

#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"
#include "sanitized.hpp"

namespace {

using namespace adaptyst::detail;

// A recorder that no thread has, in a process of its own.
struct lone_recorder {
  process* in = make_process();
  std::unique_ptr<recorder> r = std::make_unique<recorder>();

  lone_recorder() {
    REQUIRE(in != nullptr);
    r->owner = in;
    r->table.clear();
  }
  ~lone_recorder() {
    system::delete_key(in->recorder_key);
    unmake_process(in);
  }
  lone_recorder(const lone_recorder&) = delete;
  lone_recorder& operator=(const lone_recorder&) = delete;

  void fill_store() const { in->store->head.above = in->store->head.bytes; }
};

row fresh_row() {
  row made{};
  made.min_ns = ~std::uint64_t{0};
  return made;
}

void check(const row& made, const std::array<std::uint64_t, ADAPTYST_HISTOGRAM_BUCKETS>& expected) {
  for (unsigned bucket = 0; bucket != expected.size(); ++bucket) {
    CAPTURE(bucket);
    const bool is_present = bucket >= made.first_bucket && bucket < unsigned{made.first_bucket} + made.buckets;
    if (expected[bucket] != 0) REQUIRE(is_present);
    if (is_present) CHECK(made.histogram[bucket] + (bucket == made.last_bucket ? 1 : 0) == expected[bucket]);
  }
}

}  // namespace

TEST_CASE("a histogram in pieces has what a whole one would have, and what was told of it stays where it was") {
  const lone_recorder lone;
  std::mt19937_64 random(5);
  for (int round = 0; round != random_rounds(200); ++round) {
    row made = fresh_row();
    std::array<std::uint64_t, ADAPTYST_HISTOGRAM_BUCKETS> expected{};
    const auto centre = static_cast<unsigned>(random() % 46);
    const auto spread = 1 + static_cast<unsigned>(random() % 12);
    for (int event = 0; event != 300; ++event) {
      const auto bits = std::min(63U, centre + static_cast<unsigned>(random() % spread));
      const std::uint64_t duration =
          event == 7 ? static_cast<std::uint64_t>(round % 3) * ~std::uint64_t{0} / 2 : random() >> (63 - bits);
      const row before = made;
      const auto count_at = [&](unsigned at) { return before.histogram[before.first_bucket + at]; };
      std::vector<std::uint64_t> counts;
      counts.reserve(before.buckets);
      for (unsigned at = 0; at != before.buckets; ++at) counts.push_back(count_at(at));
      add_duration(*lone.r, made, duration, 0);
      ++expected[adaptyst_histogram_bucket(duration)];
      if (event < 3) check(made, expected);
      REQUIRE(made.min_ns <= duration);
      REQUIRE(made.max_ns >= duration);
      if (made.histogram != before.histogram)
        for (unsigned at = 0; at != counts.size(); ++at) CHECK(count_at(at) == counts[at]);
    }
    check(made, expected);
    const unsigned width = adaptyst_histogram_bucket(made.max_ns) - adaptyst_histogram_bucket(made.min_ns) + 1;
    CHECK(made.buckets <= std::max(16U, 4 * width));
  }
}

TEST_CASE("after each event, weighed or not, a histogram and its last bucket have all events") {
  const lone_recorder lone;
  std::mt19937_64 random(7);
  for (int round = 0; round != random_rounds(20); ++round) {
    row made = fresh_row();
    std::array<std::uint64_t, ADAPTYST_HISTOGRAM_BUCKETS> expected{};
    for (std::uint64_t event = 0; event != 50; ++event) {
      const std::uint64_t duration = random() >> (40 + random() % 20);
      const std::uint64_t weight = random() % 2 == 0 ? 1 : 8;
      if (weight == 1 && random() % 4 != 0) add_duration(*lone.r, made, duration, 0);
      else add_weighed_duration(*lone.r, made, duration, weight, event, weight);
      expected[adaptyst_histogram_bucket(duration)] += weight;
      check(made, expected);
    }
  }
}

TEST_CASE("a row whose histogram cannot grow counts on without one, and never has a part of one again") {
  const lone_recorder lone;
  row made = fresh_row();
  for (int event = 0; event != 10; ++event) add_duration(*lone.r, made, 1000, 1);
  lone.fill_store();
  errno = 0;
  while (lone.r->row_details.allocate(*lone.in->store, 64) != nullptr) {}
  constexpr std::uint64_t duration = 1'000'000;
  add_duration(*lone.r, made, duration, 1);
  REQUIRE(made.buckets == 0);
  CHECK(made.histogram == lone.r->no_histogram);
  CHECK(made.max_ns == duration);
  lone.in->store->head.above = 0;
  const std::uint64_t total = made.total_ns;
  for (const std::uint64_t added_ns : {std::uint64_t{1}, duration, std::uint64_t{1} << 50})
    add_duration(*lone.r, made, added_ns, 1);
  CHECK(made.buckets == 0);
  CHECK(made.min_ns == 1);
  CHECK(made.max_ns == std::uint64_t{1} << 50);
  CHECK(made.total_ns == total + 1 + duration + (std::uint64_t{1} << 50));
  CHECK(errno == 0);
}

TEST_CASE("pieces next to rows are zeros that no other row has, also in the next epoch") {
  const lone_recorder lone;
  std::mt19937_64 random(6);
  std::map<std::uintptr_t, std::uint64_t> pieces;
  for (int epoch = 0; epoch != 3; ++epoch) {
    pieces.clear();
    lone.r->row_details.begin_anew();
    for (int at = 0; at != 2000; ++at) {
      const std::uint64_t bytes = 8 * (1 + random() % 584);
      auto* const made = static_cast<std::uint64_t*>(lone.r->row_details.allocate(*lone.in->store, bytes));
      REQUIRE(made != nullptr);
      for (std::uint64_t word = 0; word != bytes / 8; ++word) REQUIRE(made[word] == 0);
      for (std::uint64_t word = 0; word != bytes / 8; ++word) made[word] = ~word;
      const auto begin = reinterpret_cast<std::uintptr_t>(made);
      const auto next = pieces.upper_bound(begin);
      if (next != pieces.end()) REQUIRE(begin + bytes <= next->first);
      if (next != pieces.begin()) REQUIRE(std::prev(next)->first + std::prev(next)->second <= begin);
      pieces[begin] = bytes;
    }
  }
  const std::uint64_t used = lone.in->store->head.above;
  lone.fill_store();
  lone.r->row_details.begin_anew();
  for (int at = 0; at != 2000; ++at)  // there is room from the epochs before
    if (at * 4672 + 4672 < static_cast<int>(used / 2))
      REQUIRE(lone.r->row_details.allocate(*lone.in->store, 64) != nullptr);
  lone.r->row_details.forget();
  CHECK(lone.r->row_details.allocate(*lone.in->store, 64) == nullptr);
}

TEST_CASE("a table of rows finds what a map finds, with ids that meet in one slot as well") {
  std::mt19937_64 random(7);
  auto table = std::make_unique<row_table<row>>();
  table->clear();
  for (const std::uint64_t few : {~std::uint64_t{0}, std::uint64_t{0xFFFF00000000000F}}) {
    std::map<std::uint64_t, row*> listed;
    std::vector<std::unique_ptr<row>> rows;
    for (std::uint32_t at = 0; at != (few + 1 == 0 ? 70'000 : 3'000); ++at) {
      const std::uint64_t id = random() & few;
      REQUIRE(table->find(id) == (listed.count(id) != 0 ? listed[id] : nullptr));
      if (listed.count(id) != 0) continue;
      rows.push_back(std::make_unique<row>());
      rows.back()->id = id;
      REQUIRE(table->make_room(static_cast<std::uint32_t>(listed.size())));
      table->insert(*rows.back());
      listed[id] = rows.back().get();
    }
    for (const auto& [id, entry] : listed) REQUIRE(table->find(id) == entry);
    table->clear();
    for (const auto& [id, entry] : listed) REQUIRE(table->find(id) == nullptr);
  }
}
