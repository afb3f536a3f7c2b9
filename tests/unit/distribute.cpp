// What ranks of an analysis do when one of them fails, and spans that memory has no room for.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "distribute/rank_exchange.hpp"
#include "distribute/span_store.hpp"
#include "support/error.hpp"

namespace {

using namespace adaptyst::lib;
using namespace std::chrono_literals;

// Ranks that are threads of this process.
class mailboxes {
 public:
  void put(std::uint32_t from, std::uint32_t to, std::string_view bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_[{from, to}].emplace_back(bytes);
    changed_.notify_all();
  }
  std::optional<std::string> take(std::uint32_t from, std::uint32_t to, std::chrono::nanoseconds patience) {
    std::unique_lock<std::mutex> lock(mutex_);
    std::vector<std::string>& own = all_[{from, to}];
    if (!changed_.wait_for(lock, patience, [&] { return !own.empty(); })) return std::nullopt;
    std::string first = std::move(own.front());
    own.erase(own.begin());
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>> all_;
};

class thread_rank final : public adaptyst::rank_transport {
 public:
  thread_rank(mailboxes& over, std::uint32_t rank, std::uint32_t size) : over_(over), rank_(rank), size_(size) {}
  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::chrono::nanoseconds limit() const override { return 30s; }
  bool send(std::string_view bytes, std::uint32_t to, std::chrono::nanoseconds /*patience*/) override {
    over_.put(rank_, to, bytes);
    return true;
  }
  std::optional<std::string> receive(std::uint32_t from, std::chrono::nanoseconds patience) override {
    return over_.take(from, rank_, patience);
  }

 private:
  mailboxes& over_;
  std::uint32_t rank_, size_;
};

kept_span make_span(std::uint64_t start, std::uint32_t group) { return {start, start + 10, 0, group, span_role::work}; }

std::vector<kept_span> take_all(span_store& from, std::uint64_t block) {
  std::vector<kept_span> made;
  from.take(block, [&](const kept_span* spans, std::size_t count) { made.insert(made.end(), spans, spans + count); });
  return made;
}

}  // namespace

TEST_CASE("a rank that cannot take what it gets still meets all others") {
  constexpr std::uint32_t size = 5, failing = 2;
  mailboxes over;
  std::vector<int> taken(size), refused(size), absent(size);
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank != size; ++rank)
    ranks.emplace_back([&, rank] {
      thread_rank own(over, rank, size);
      name_table names;
      names.find("kernel");
      rank_exchange between(own, names);
      for (int step = 0; step != 3; ++step) {
        std::vector<std::vector<kept_span>> outgoing(size);
        for (std::uint32_t other = 0; other != size; ++other) outgoing[other].push_back(make_span(1000 + rank, rank));
        try {
          between.swap(outgoing, [&](const kept_span&) {
            if (rank == failing) throw std::runtime_error("the disk is full");
            ++taken[rank];
          });
        } catch (const std::runtime_error&) {
          ++refused[rank];
        }
      }
      absent[rank] = static_cast<int>(between.absent().size());
    });
  for (std::thread& rank : ranks) rank.join();
  for (std::uint32_t rank = 0; rank != size; ++rank) {
    CAPTURE(rank);
    CHECK(taken[rank] == (rank == failing ? 0 : 3 * (static_cast<int>(size) - 1)));
    CHECK(refused[rank] == (rank == failing ? 3 : 0));
    CHECK(absent[rank] == 0);
  }
}

TEST_CASE("spans come back from memory and from the file, each once, whatever fits") {
  for (const std::size_t max_bytes : {std::size_t{1}, std::size_t{1} << 17U, std::size_t{1} << 24U}) {
    for (const std::uint64_t blocks : {1U, 7U, 300U}) {
      CAPTURE(max_bytes, blocks);
      spill_file beyond;
      span_store store(beyond, max_bytes);
      constexpr std::uint64_t count = 50'000;
      for (std::uint64_t at = 0; at != count; ++at) store.add(at * 7919 % blocks, make_span(at, 1));
      CHECK((beyond.bytes() == 0) == (max_bytes == std::size_t{1} << 24U));
      std::vector<std::uint64_t> seen;
      for (const std::uint64_t block : store.blocks()) {
        const std::uint64_t number = store.count(block);
        const std::vector<kept_span> spans = take_all(store, block);
        CHECK(spans.size() == number);
        for (const kept_span& span : spans) {
          seen.push_back(span.start());
          if (span.start() * 7919 % blocks != block) FAIL("a span of another block");
        }
        CHECK(take_all(store, block).empty());
        CHECK(store.count(block) == 0);
      }
      std::sort(seen.begin(), seen.end());
      REQUIRE(seen.size() == count);
      for (std::uint64_t at = 0; at != count; ++at)
        if (seen[at] != at) FAIL("span " << at << " is missing");
    }
  }
}

TEST_CASE("windows that are too many are refused, and those that are known are not") {
  spill_file beyond;
  span_store store(beyond, std::size_t{1} << 26U);
  for (std::uint64_t block = 0; block != span_store::max_blocks; ++block) store.add(block, make_span(block, 0));
  CHECK_THROWS_AS(store.add(span_store::max_blocks, make_span(0, 0)), adaptyst::error);
  CHECK_NOTHROW(store.add(5, make_span(1, 0)));
  CHECK(take_all(store, 5).size() == 2);
}
