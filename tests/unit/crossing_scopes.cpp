// Scopes of a thread that cross others: as a recorder writes them, by their ends, and as a reader sorts them, by begin.
#include "trace/crossing_scopes.hpp"

#include <vector>

#include "catch.hpp"

namespace {

using adaptyst::lib::crossing_scopes;
using adaptyst::lib::time_span;

std::vector<bool> find_crossing(bool is_in_order, const std::vector<time_span>& scopes) {
  crossing_scopes finder(is_in_order);
  crossing_scopes::thread thread;
  std::vector<bool> found;
  for (const time_span& scope : scopes) found.push_back(finder.needs_other_track(thread, scope));
  return found;
}

}  // namespace

TEST_CASE("a scope that crosses an earlier sibling is found, although another sibling has come since") {
  CHECK(find_crossing(false, {{0, 5}, {6, 9}, {2, 10}}) == std::vector<bool>{false, false, true});
  CHECK(find_crossing(false, {{0, 5}, {6, 9}, {0, 10}}) == std::vector<bool>{false, false, false});
  CHECK(find_crossing(false, {{0, 5}, {6, 9}, {5, 10}, {0, 10}}) == std::vector<bool>{false, false, false, false});
}

TEST_CASE("a scope that crosses an outer one is found, although an inner one has ended since") {
  CHECK(find_crossing(false, {{0, 100}, {10, 40}, {20, 30}, {50, 150}}) ==
        std::vector<bool>{false, false, false, true});
  CHECK(find_crossing(false, {{20, 30}, {10, 40}, {0, 100}, {50, 150}}) ==
        std::vector<bool>{false, false, false, true});
}

TEST_CASE("an outer scope that begins with an inner one must come first if the order in the file counts") {
  CHECK(find_crossing(true, {{0, 5}, {6, 9}, {0, 10}}) == std::vector<bool>{false, false, true});
  CHECK(find_crossing(true, {{0, 10}, {0, 5}, {6, 9}}) == std::vector<bool>{false, false, false});
  CHECK(find_crossing(true, {{0, 10}, {0, 10}}) == std::vector<bool>{false, false});
  CHECK(find_crossing(true, {{0, 0}, {0, 10}}) == std::vector<bool>{false, false});
  // The outer scope is not on the track, so the next one is compared with the inner scope.
  CHECK(find_crossing(true, {{0, 5}, {0, 10}, {0, 20}}) == std::vector<bool>{false, true, true});
}

TEST_CASE("a thread with any number of scopes, nested or not, takes bounded time") {
  for (const bool is_nested : {false, true}) {
    crossing_scopes finder(true);
    crossing_scopes::thread thread;
    constexpr std::uint64_t count = 200'000;
    std::uint64_t crossing = 0;
    for (std::uint64_t at = 0; at != count; ++at)
      if (finder.needs_other_track(thread, is_nested ? time_span{at, 2 * count - at} : time_span{10 * at, 10 * at + 9}))
        ++crossing;
    CHECK(crossing == (is_nested ? count - 8192 : 0));
  }
}
