// Parents from times are those that a generator made, and those that looking at each pair finds.
#include "trace/containment.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "sanitized.hpp"

namespace {

using namespace adaptyst::lib;
using times = std::pair<std::uint64_t, std::uint64_t>;

constexpr std::uint32_t root = containment::none;

// By the numbers that the caller gave.
struct placed {
  std::vector<std::uint32_t> parents;
  std::vector<bool> is_ambiguous;
};

std::vector<contained_span> number(const std::vector<times>& all) {
  std::vector<contained_span> made;
  for (const auto& [begin, end] : all) made.push_back({{begin, end}, 0, static_cast<std::uint32_t>(made.size())});
  return made;
}

placed place(const std::vector<contained_span>& spans) {
  const containment found(spans);
  placed made{std::vector<std::uint32_t>(spans.size()), std::vector<bool>(spans.size())};
  for (std::size_t i = 0; i != spans.size(); ++i) {
    const std::uint32_t parent = found.parent(i);
    made.parents[found.spans()[i].given] = parent == root ? root : found.spans()[parent].given;
    made.is_ambiguous[found.spans()[i].given] = found.is_ambiguous(i);
  }
  return made;
}

placed place_times(const std::vector<times>& all) { return place(number(all)); }

bool lies_in(const contained_span& inner, const contained_span& outer) {
  if (outer.begin_ns > inner.begin_ns || outer.end_ns < inner.end_ns) return false;
  const bool is_identical = outer.begin_ns == inner.begin_ns && outer.end_ns == inner.end_ns;
  return !is_identical || std::tie(outer.level, outer.given) < std::tie(inner.level, inner.given);
}

// Shortest first, then the one that begins last, then the innermost of identical ones.
bool is_nearer(const contained_span& a, const contained_span& b) {
  const auto length = [](const contained_span& span) { return span.end_ns - span.begin_ns; };
  if (length(a) != length(b)) return length(a) < length(b);
  return std::tie(a.begin_ns, a.level, a.given) > std::tie(b.begin_ns, b.level, b.given);
}

bool cross(const contained_span& a, const contained_span& b) {
  return (a.begin_ns < b.begin_ns && b.begin_ns < a.end_ns && a.end_ns < b.end_ns) ||
         (b.begin_ns < a.begin_ns && a.begin_ns < b.end_ns && b.end_ns < a.end_ns);
}

placed place_by_pairs(const std::vector<contained_span>& spans) {
  placed made;
  for (const contained_span& span : spans) {
    const contained_span* parent = nullptr;
    bool is_ambiguous = false;
    for (const contained_span& other : spans) {
      is_ambiguous = is_ambiguous || cross(span, other);
      if (other.given != span.given && lies_in(span, other) && (parent == nullptr || is_nearer(other, *parent)))
        parent = &other;
    }
    made.parents.push_back(parent == nullptr ? root : parent->given);
    made.is_ambiguous.push_back(is_ambiguous);
  }
  return made;
}

struct forest {
  std::vector<times> spans;
  std::vector<std::uint32_t> parents;
};

// Children in gaps of their parent, some of which share a border with it or with each other.
void grow(forest& to, std::uint32_t parent, std::uint64_t begin, std::uint64_t end, int depth, std::mt19937& draw) {
  std::uint64_t at = begin;
  while (depth != 0 && end - at > 2 && to.spans.size() < 20'000) {
    const std::uint64_t from = at + draw() % 3, room = end - from;
    if (from >= end) return;
    const std::uint64_t until = from + 1 + draw() % room;
    at = until;
    if (until - from == end - begin) continue;  // which would be identical to its parent
    to.spans.emplace_back(from, until);
    to.parents.push_back(parent);
    grow(to, static_cast<std::uint32_t>(to.spans.size() - 1), from, until, depth - 1, draw);
  }
}

TEST_CASE("Forests are found again from their shuffled spans") {
  std::mt19937 draw(18);
  for (int round = 0; round != random_rounds(20); ++round) {
    forest made;
    grow(made, root, 0, 1'000'000, 12, draw);
    std::vector<std::uint32_t> order(made.spans.size());
    for (std::uint32_t i = 0; i != order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), draw);
    std::vector<times> shuffled;
    for (const std::uint32_t place : order) shuffled.push_back(made.spans[place]);
    const placed found = place_times(shuffled);
    std::vector<std::uint32_t> parents(order.size());
    for (std::size_t i = 0; i != order.size(); ++i)
      parents[order[i]] = found.parents[i] == root ? root : order[found.parents[i]];
    CHECK(parents == made.parents);
    CHECK(std::count(found.is_ambiguous.begin(), found.is_ambiguous.end(), true) == 0);
  }
}

TEST_CASE("Any spans have the parents that looking at each pair finds") {
  std::mt19937 draw(19);
  int crossed = 0;
  for (int round = 0; round != 2000; ++round) {
    std::vector<contained_span> spans;
    const std::uint64_t range = 1 + draw() % 30;
    for (std::uint32_t i = 0, count = static_cast<std::uint32_t>(draw() % 24); i != count; ++i) {
      const std::uint64_t a = draw() % range, b = draw() % range;
      spans.push_back({{std::min(a, b), std::max(a, b)}, static_cast<std::uint32_t>(draw() % 3), i});
    }
    const placed found = place(spans), expected = place_by_pairs(spans);
    REQUIRE(found.parents == expected.parents);
    REQUIRE(found.is_ambiguous == expected.is_ambiguous);
    crossed += std::count(found.is_ambiguous.begin(), found.is_ambiguous.end(), true) != 0 ? 1 : 0;

    const containment index(spans);
    for (int turn = 0; turn != 5; ++turn) {
      const std::uint64_t a = draw() % range, b = draw() % range;
      const contained_span requested{{std::min(a, b), std::max(a, b)}, UINT32_MAX, UINT32_MAX};
      const contained_span* nearest = nullptr;
      for (const contained_span& other : spans)
        if (lies_in(requested, other) && (nearest == nullptr || is_nearer(other, *nearest))) nearest = &other;
      const std::uint32_t at = index.find(requested.begin_ns, requested.end_ns);
      REQUIRE((at == root ? root : index.spans()[at].given) == (nearest == nullptr ? root : nearest->given));
    }
  }
  CHECK(crossed > 1000);
}

TEST_CASE("Borders, lengths of zero and identical spans") {
  CHECK(place_times({}).parents.empty());
  CHECK(place_times({{0, 10}, {0, 5}, {5, 10}}).parents == std::vector<std::uint32_t>{root, 0, 0});
  CHECK(place_times({{0, 5}, {5, 10}}).parents == std::vector<std::uint32_t>{root, root});
  CHECK(place_times({{0, 10}, {10, 10}, {0, 0}, {4, 4}, {11, 11}}).parents ==
        std::vector<std::uint32_t>{root, 0, 0, 0, root});
  CHECK(place_times({{3, 7}, {3, 7}, {3, 7}, {4, 5}}).parents == std::vector<std::uint32_t>{root, 0, 1, 2});
  CHECK(place({contained_span{{3, 7}, 2, 0}, contained_span{{3, 7}, 1, 1}}).parents ==
        std::vector<std::uint32_t>{1, root});
}

TEST_CASE("Spans that cross are ambiguous, and not each other's parents") {
  const placed found = place_times({{0, 100}, {10, 30}, {20, 40}, {22, 25}, {50, 60}});
  CHECK(found.parents == std::vector<std::uint32_t>{root, 0, 0, 2, 0});
  CHECK(found.is_ambiguous == std::vector<bool>{false, true, true, false, false});
}

}  // namespace
