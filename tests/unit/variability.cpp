// Statistics of windows, held against what was worked out by hand, or by brute force.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "analyse/variability/block.hpp"
#include "analyse/variability/intervals.hpp"
#include "analyse/variability/statistics.hpp"
#include "analyse/variability/variability.hpp"
#include "catch.hpp"
#include "distribute/parts_message.hpp"
#include "support/error.hpp"

namespace {

using namespace adaptyst::lib;

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)}); }

variability_result analyse(const std::vector<kept_span>& spans, const variability_settings& settings,
                           window_grid grid) {
  variability_parts parts;
  block_analysis analysis(grid, settings.by_name());
  std::vector<kept_span> of_block;
  std::uint64_t last = 0;
  for (const kept_span& one : spans) last = std::max(last, grid.block(one.start()));
  for (std::uint64_t block = 0; block <= last; ++block) {
    of_block.clear();
    for (const kept_span& one : spans)
      if (grid.block(one.start()) == block) of_block.push_back(one);
    analysis.add(block, of_block, parts);
  }
  return find_variability(std::move(parts), {"a", "b"}, grid, settings);
}

}  // namespace

TEST_CASE("quantiles are of type 7: nine values by hand") {
  std::vector<double> nine{2, 4, 4, 5, 7, 9, 10, 12, 40};
  CHECK(near(quantile(nine, 0), 2));
  CHECK(near(quantile(nine, 0.25), 4));
  CHECK(near(quantile(nine, 0.5), 7));
  CHECK(near(quantile(nine, 0.75), 10));
  CHECK(near(quantile(nine, 0.95), 12 + 0.6 * 28));
  CHECK(near(quantile(nine, 1), 40));
  const fences at = find_fences(nine, 1.5);
  CHECK(near(at.lower, -5));
  CHECK(near(at.upper, 19));
  std::vector<std::uint64_t> none;
  CHECK(quantile(none, 0.5) == 0);
}

TEST_CASE("correlations, with ties and where nothing varies") {
  CHECK(near(*pearson({1, 2, 3}, {2, 4, 6}), 1));
  CHECK(near(*pearson({1, 2, 3}, {6, 4, 2}), -1));
  CHECK(near(*spearman({1, 2, 3, 4}, {1, 8, 27, 1000}), 1));
  // Ranks 1.5, 1.5, 3, 4 against 1, 2, 3, 4.
  CHECK(near(*spearman({1, 1, 2, 3}, {1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5)));
  CHECK_FALSE(pearson({1, 1, 1}, {1, 2, 3}));
  CHECK_FALSE(spearman({1}, {2}));
  CHECK_FALSE(pearson({}, {}));
}

TEST_CASE("mean and deviation are exact where plain doubles would cancel") {
  const std::uint64_t far = std::uint64_t{1} << 45U;
  const wide_uint a = far, b = far + 2;
  CHECK(near(deviation(2, a + b, a * a + b * b), 1));
  CHECK(deviation(3, 3 * a, 3 * a * a) == 0);
  CHECK(mean(0, 0) == 0);
  CHECK(fixed_log2(0) == 0);
  CHECK(fixed_log2(1024) == 10 * 65536);
}

TEST_CASE("unions and differences of intervals, cut at windows, by brute force") {
  std::mt19937 draw(5);
  for (int round = 0; round != 200; ++round) {
    std::vector<bool> in_work(1000), in_copies(1000);
    const auto make = [&](std::vector<bool>& covered) {
      std::vector<interval> made;
      for (std::uint64_t count = draw() % 12; count != 0; --count) {
        const std::uint64_t begin = draw() % 900, end = begin + draw() % 100;
        made.push_back({begin, end});
        for (std::uint64_t at = begin; at != end; ++at) covered[at] = true;
      }
      std::sort(made.begin(), made.end(), [](interval x, interval y) { return x.begin < y.begin; });
      unite(made);
      return made;
    };
    const std::vector<interval> work = make(in_work), copies = make(in_copies);
    std::vector<std::uint64_t> busy(10), stall(10);
    add_to_windows(work, 0, 100, busy);
    add_to_windows(subtract(copies, work), 0, 100, stall);
    for (std::size_t window = 0; window != 10; ++window) {
      std::uint64_t right_busy = 0, right_stall = 0;
      for (std::size_t at = window * 100; at != (window + 1) * 100; ++at) {
        right_busy += in_work[at] ? 1 : 0;
        right_stall += in_copies[at] && !in_work[at] ? 1 : 0;
      }
      CHECK(busy[window] == right_busy);
      CHECK(stall[window] == right_stall);
    }
  }
}

TEST_CASE("a window has the same bytes in whatever order its spans come") {
  std::mt19937 draw(6);
  std::vector<kept_span> spans;
  for (unsigned number = 0; number != 2000; ++number) {
    const std::uint64_t start = draw() % 1'000'000;
    spans.emplace_back(start, start + draw() % 1000, draw() % 2, draw() % 3,
                       draw() % 8 == 0 ? span_role::copy : span_role::work);
  }
  const window_grid grid{0, 10'000};
  const variability_result one = analyse(spans, {}, grid);
  std::shuffle(spans.begin(), spans.end(), draw);
  const variability_result other = analyse(spans, {}, grid);
  REQUIRE(one.windows.size() == other.windows.size());
  for (std::size_t at = 0; at != one.windows.size(); ++at) {
    CHECK(one.windows[at].mean == other.windows[at].mean);
    CHECK(one.windows[at].value == other.windows[at].value);
    CHECK(one.windows[at].p95 == other.windows[at].p95);
    CHECK(one.windows[at].stall_ns == other.windows[at].stall_ns);
  }
  CHECK(one.pearson == other.pearson);
}

TEST_CASE("an event on a border belongs to the window that begins there") {
  const variability_result found =
      analyse({{0, 100, 0, 0, span_role::work}, {100, 100, 0, 0, span_role::work}}, {}, {0, 100});
  REQUIRE(found.windows.size() == 2);
  CHECK(found.windows[0].busy_ns == 100);
  CHECK(found.windows[1].count == 1);
  CHECK(found.windows[1].busy_ns == 0);
}

TEST_CASE("parts come through a message as they were, and a cut one is refused") {
  name_table names;
  names.find("first");
  gathered own;
  own.ranks.push_back({3, 5, 7, 0.25, 11});
  own.failure = "why";
  block_analysis analysis({0, 100}, false);
  const std::uint32_t kernel = names.find("kernel");
  analysis.add(0, {{1, 5, kernel, 2, span_role::work}, {7, 90, kernel, 2, span_role::copy}}, own.parts);
  const std::string message = write_parts(own, names);
  name_table others;
  gathered back;
  add_parts(message, back, others);
  CHECK(back.failure == "why");
  REQUIRE(back.parts.windows.size() == 1);
  CHECK(back.parts.windows.front().stall_ns == own.parts.windows.front().stall_ns);
  CHECK(back.parts.windows.front().p50 == 4);
  CHECK(others.texts() == std::vector<std::string>{"kernel"});
  CHECK(back.parts.names.begin()->second->buckets[4] == 1);
  for (std::size_t bytes = 0; bytes != message.size(); ++bytes) {
    gathered cut;
    CHECK_THROWS_AS(add_parts(message.substr(0, bytes), cut, others), error);
  }
}
