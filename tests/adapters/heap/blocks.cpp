// The table of tracked blocks, without a program around it.
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../../../adapters/heap/tracked_blocks.hpp"
#include "catch.hpp"

namespace {

using adaptyst::heap::tracked_blocks;

using adaptyst::heap::tracked_block;

tracked_block content(std::uint64_t bytes) { return {bytes, 1, 2, nullptr}; }
// 0: the block is not in the table.
std::uint64_t take(tracked_blocks& table, const void* block) {
  tracked_block found;
  return table.take(block, found) ? found.bytes : 0;
}
bool put(tracked_blocks& table, const void* block, std::uint64_t bytes) {
  tracked_block before;
  return table.put(block, content(bytes), before) == tracked_blocks::result::added;
}

const void* address(std::uint64_t number) { return reinterpret_cast<const void*>(number << 4); }

}  // namespace

TEST_CASE("a block is found once, by its address") {
  const auto table = std::make_unique<tracked_blocks>();
  REQUIRE(take(*table, address(5)) == 0);  // without memory
  REQUIRE(!put(*table, address(5), 1));
  REQUIRE(table->make(10));
  REQUIRE(put(*table, address(5), 77));
  REQUIRE(table->may_have(address(5)));
  REQUIRE(take(*table, address(5)) == 77);
  REQUIRE(take(*table, address(5)) == 0);
  REQUIRE(!table->may_have(address(5)));
}

TEST_CASE("free(nullptr) finds no block") {
  const auto table = std::make_unique<tracked_blocks>();
  table->make(10);
  REQUIRE(put(*table, address(1), 77));
  REQUIRE(table->may_have(nullptr));  // a neighbour
  tracked_block found;
  REQUIRE(!table->take(nullptr, found));
  REQUIRE(take(*table, address(1)) == 77);
}

TEST_CASE("a block whose free was not seen is replaced") {
  const auto table = std::make_unique<tracked_blocks>();
  table->make(10);
  REQUIRE(put(*table, address(5), 77));
  tracked_block before;
  REQUIRE(table->put(address(5), content(88), before) == tracked_blocks::result::replaced);
  REQUIRE(before.bytes == 77);
  REQUIRE(take(*table, address(5)) == 88);
  REQUIRE(take(*table, address(5)) == 0);
}

TEST_CASE("a full table refuses blocks, and forgets none") {
  const auto table = std::make_unique<tracked_blocks>();
  table->make(10);
  std::vector<std::uint64_t> kept;
  for (std::uint64_t number = 1; number != 3000; ++number)
    if (put(*table, address(number), number)) kept.push_back(number);
  REQUIRE(kept.size() > 900);
  REQUIRE(kept.size() <= 1024);
  for (const std::uint64_t number : kept) REQUIRE(take(*table, address(number)) == number);
  for (std::uint64_t number = 1; number != 3000; ++number) REQUIRE(!table->may_have(address(number)));
}

TEST_CASE("blocks anywhere in memory fill three quarters of the table") {
  constexpr std::uint64_t blocks = 98'304;
  const auto table = std::make_unique<tracked_blocks>();
  table->make(17);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> numbers(blocks);
  std::uint64_t refused = 0, lost = 0;
  for (std::uint64_t& number : numbers) {
    number = random() >> 17;
    refused += put(*table, address(number), 7) ? 0 : 1;
  }
  REQUIRE(refused == 0);
  for (const std::uint64_t number : numbers) lost += take(*table, address(number)) == 7 ? 0 : 1;
  REQUIRE(lost == 0);
}

TEST_CASE("threads put and take blocks at the same time") {
  const auto table = std::make_unique<tracked_blocks>();
  table->make(17);
  std::vector<std::thread> all;
  std::vector<std::uint64_t> wrong(4);
  for (std::uint64_t thread = 0; thread != 4; ++thread)
    all.emplace_back([&, thread] {
      for (std::uint64_t round = 0; round != 200; ++round) {
        for (std::uint64_t at = 1; at != 100; ++at)
          if (!put(*table, address(at * 4 + thread), at + round)) ++wrong[thread];
        for (std::uint64_t at = 1; at != 100; ++at)
          if (take(*table, address(at * 4 + thread)) != at + round) ++wrong[thread];
      }
    });
  for (std::thread& thread : all) thread.join();
  REQUIRE(wrong == std::vector<std::uint64_t>(4));
}
