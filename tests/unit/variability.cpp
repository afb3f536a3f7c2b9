// Compares statistics of windows with results computed by hand or by brute force.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "analyse/variability/block.hpp"
#include "analyse/variability/flags.hpp"
#include "analyse/variability/order_statistics.hpp"
#include "analyse/variability/statistics.hpp"
#include "analyse/variability/variability.hpp"
#include "catch.hpp"
#include "distribute/parts_message.hpp"
#include "sanitized.hpp"
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
  for (const kept_span& span : spans) last = std::max(last, grid.block(span.start()));
  for (std::uint64_t block = 0; block <= last; ++block) {
    of_block.clear();
    for (const kept_span& span : spans)
      if (grid.block(span.start()) == block) of_block.push_back(span);
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

TEST_CASE("what spans cover of windows, by brute force") {
  std::mt19937 draw(5);
  for (int round = 0; round != random_rounds(200); ++round) {
    std::vector<bool> in_work(1000), in_copies(1000);
    std::vector<kept_span> spans;
    for (const bool is_copy : {false, true})
      for (std::uint64_t count = draw() % 12; count != 0; --count) {
        const std::uint64_t begin = draw() % 900, end = begin + draw() % 100;
        spans.emplace_back(begin, end, 0, 0, is_copy ? span_role::copy : span_role::work);
        for (std::uint64_t at = begin; at != end; ++at) (is_copy ? in_copies : in_work)[at] = true;
      }
    std::vector<std::uint64_t> busy(10), copied(10), stall(10), right_busy(10), right_copied(10), right_stall(10);
    variability_parts parts;
    block_analysis({0, 100}, false).add(0, spans, parts);
    for (const window_row& row : parts.windows) {
      busy[row.window] = row.busy_ns;
      copied[row.window] = row.copy_ns;
      stall[row.window] = row.stall_ns;
    }
    for (std::size_t at = 0; at != 1000; ++at) {
      right_busy[at / 100] += in_work[at] ? 1 : 0;
      right_copied[at / 100] += in_copies[at] ? 1 : 0;
      right_stall[at / 100] += in_copies[at] && !in_work[at] ? 1 : 0;
    }
    CHECK(busy == right_busy);
    CHECK(copied == right_copied);
    CHECK(stall == right_stall);
  }
}

TEST_CASE("the quantiles of more numbers than memory has room for are those of all") {
  class in_memory final : public number_store {
   public:
    void put(const std::uint64_t* numbers, std::size_t count) override {
      all.insert(all.end(), numbers, numbers + count);
    }
    void visit(const std::function<void(const std::uint64_t*, std::size_t)>& take) const override {
      if (!all.empty()) take(all.data(), all.size());
    }
    void clear() noexcept override { all.clear(); }
    std::vector<std::uint64_t> all;
  };
  std::mt19937_64 draw(9);
  in_memory beyond;
  order_statistics limited(&beyond, 8), unlimited(nullptr, order_statistics::no_limit);
  bool was_beyond = false;
  for (int round = 0; round != random_rounds(300); ++round) {
    std::vector<std::uint64_t> all(1 + draw() % 200);
    // From all equal to all over the range of durations.
    const unsigned bits = static_cast<unsigned>(draw() % 46);
    for (std::uint64_t& duration : all) {
      duration = (draw() & ((std::uint64_t{1} << bits) - 1)) + 1000;
      limited.add(duration);
      unlimited.add(duration);
    }
    was_beyond = was_beyond || !beyond.all.empty();
    const auto [min, max] = std::minmax_element(all.begin(), all.end());
    const std::uint64_t least = *min, most = *max;
    for (order_statistics* const of : {&limited, &unlimited}) {
      CHECK(of->count() == all.size());
      const order_statistics::found found = of->finish();
      CHECK(found.min == least);
      CHECK(found.max == most);
      CHECK(found.p50 == quantile(all, 0.5));
      CHECK(found.p95 == quantile(all, 0.95));
      CHECK(of->count() == 0);
    }
  }
  CHECK(was_beyond);
}

TEST_CASE("a window has the same bytes in whatever order its spans come") {
  std::mt19937 draw(6);
  std::vector<kept_span> spans;
  for (unsigned number = 0; number != random_rounds(2000U); ++number) {
    // A third of them start at nearly the same time.
    const std::uint64_t start = number % 3 == 0 ? 500'000 + draw() % 3 : draw() % 1'000'000;
    spans.emplace_back(start, start + draw() % 1000, draw() % 2, draw() % 3,
                       draw() % 8 == 0 ? span_role::copy : span_role::work);
  }
  const window_grid grid{0, 10'000};
  std::sort(spans.begin(), spans.end(), [](const kept_span& a, const kept_span& b) { return a.start() < b.start(); });
  const variability_result result = analyse(spans, {}, grid);
  std::shuffle(spans.begin(), spans.end(), draw);
  const variability_result other = analyse(spans, {}, grid);
  REQUIRE(result.windows.size() == other.windows.size());
  for (std::size_t at = 0; at != result.windows.size(); ++at) {
    CHECK(result.windows[at].mean == other.windows[at].mean);
    CHECK(result.windows[at].value == other.windows[at].value);
    CHECK(result.windows[at].p95 == other.windows[at].p95);
    CHECK(result.windows[at].stall_ns == other.windows[at].stall_ns);
  }
  CHECK(result.pearson == other.pearson);
}

TEST_CASE("an event on a border belongs to the window that begins there") {
  const variability_result found =
      analyse({{0, 100, 0, 0, span_role::work}, {100, 100, 0, 0, span_role::work}}, {}, {0, 100});
  REQUIRE(found.windows.size() == 2);
  CHECK(found.windows[0].busy_ns == 100);
  CHECK(found.windows[1].count == 1);
  CHECK(found.windows[1].busy_ns == 0);
}

TEST_CASE("a histogram has room for what it holds, wherever that is") {
  bucket_counts counts;
  std::vector<std::uint64_t> whole(ADAPTYST_HISTOGRAM_BUCKETS);
  const auto add = [&](unsigned bucket) {
    counts.add(bucket, bucket + 1);
    whole[bucket] += bucket + 1;
  };
  for (const unsigned bucket : {200U, 201U, 199U, 210U, 190U, 200U}) add(bucket);
  CHECK(counts.room() <= 64);
  for (const unsigned bucket : {0U, ADAPTYST_HISTOGRAM_BUCKETS - 1U, 1U}) add(bucket);
  bucket_counts sum;
  sum.add(300, 1);
  sum.add(counts);
  ++whole[300];
  for (unsigned bucket = 0; bucket != ADAPTYST_HISTOGRAM_BUCKETS; ++bucket) REQUIRE(sum[bucket] == whole[bucket]);
  std::uint64_t seen = 0, all = 0;
  sum.visit([&](unsigned /*bucket*/, std::uint64_t count) { seen += count; });
  for (const std::uint64_t count : whole) all += count;
  CHECK(seen == all);
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

namespace {

// A device for so many windows and a part of one: kernels of two names, gaps and copies of random lengths.
struct made_trace {
  std::uint64_t windows, kernels_in_window;
  double deviation;              // of the logarithms of durations
  double slow_window_ratio = 1;  // in the windows 20, 30 and 40
};

std::vector<kept_span> make_trace(const made_trace& how, std::mt19937_64& draw) {
  constexpr double width_ns = 1e7;
  const double period_ns = width_ns / static_cast<double>(how.kernels_in_window);
  const double end_ns = (static_cast<double>(how.windows) + 0.37) * width_ns;
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> exponential;
  std::vector<kept_span> made;
  for (double now = 0; now < end_ns;) {
    const double start = now + 0.3 * period_ns * exponential(draw);
    const auto window = static_cast<std::uint64_t>(start / width_ns);
    const unsigned name = draw() % 2;
    double length = period_ns * (name == 0 ? 0.4 : 1) * std::exp(how.deviation * normal(draw));
    if (window == 20 || window == 30 || window == 40) length *= how.slow_window_ratio;
    if (draw() % 3 == 0)
      made.emplace_back(static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(start), name, 0, span_role::copy);
    made.emplace_back(static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(start + length), name, 0,
                      span_role::work);
    now = start + length;
  }
  return made;
}

variability_result analyse_by(variability_metric metric, const std::vector<kept_span>& spans) {
  variability_settings settings;
  settings.metric = metric;
  return analyse(spans, settings, {});
}

std::vector<std::uint64_t> find_flagged(const variability_result& in) {
  std::vector<std::uint64_t> made;
  for (const variability_window& window : in.windows)
    if (window.is_flagged) made.push_back(window.start_ns / in.grid.width_ns);
  return made;
}

std::vector<std::uint64_t> find_slow(const std::vector<kept_span>& spans) {
  return find_flagged(analyse_by(variability_metric::duration, spans));
}

}  // namespace

TEST_CASE("of 1,000 traces in which nothing is wrong, no more are flagged than is stated", "[coverage]") {
  constexpr unsigned traces = 1000;
  constexpr std::uint64_t seed = 29;
  std::mt19937_64 draw(seed);
  unsigned flagged[4] = {}, flagged_ends = 0, correlated = 0;
  for (unsigned number = 0; number != traces; ++number) {
    const std::uint64_t windows = 20 + 40 * (number % 3);
    const std::vector<kept_span> spans = make_trace({windows, 30 + 20 * (number % 2), 0.1 + 0.2 * (number % 3)}, draw);
    for (unsigned metric = 0; metric != 4; ++metric) {
      const variability_result result = analyse_by(static_cast<variability_metric>(metric), spans);
      const std::vector<std::uint64_t> found = find_flagged(result);
      flagged[metric] += found.empty() ? 0 : 1;
      flagged_ends += static_cast<unsigned>(std::count(found.begin(), found.end(), windows));
      for (const variability_finding& finding : result.findings)
        correlated += finding.kind == variability_finding_kind::stalls_go_with_slowness ? 1 : 0;
    }
  }
  INFO(flagged[0] << " " << flagged[1] << " " << flagged[2] << " " << flagged[3] << " at the end " << flagged_ends);
  // Three standard deviations of a count whose mean is the stated one.
  constexpr double stated = traces * false_flag_rate;
  for (const unsigned count : flagged) CHECK(count <= stated + 3 * std::sqrt(stated));
  CHECK(flagged_ends <= 2);
  CHECK(correlated <= 8);  // each trace four times: of two
}

TEST_CASE("slow windows are flagged, and such as differ by little are not, however certain that is") {
  std::mt19937_64 draw(30);
  const std::vector<std::uint64_t> planted{20, 30, 40};
  CHECK(find_slow(make_trace({100, 100, 0.3, 1.3}, draw)) == planted);
  // As many kernels as make 1 % certain, in fewer windows than move the quartiles.
  std::vector<kept_span> spans = make_trace({60, 4000, 0.05}, draw);
  for (kept_span& span : spans) {
    const std::uint64_t window = span.start() / window_grid().width_ns;
    if (window == 20) span.end += (span.end - span.start()) / 4;
    if (window % 10 == 5) span.end += (span.end - span.start()) / 75;
  }
  CHECK(find_slow(spans) == std::vector<std::uint64_t>{20});
}

TEST_CASE("fences are in the unit of the values of windows") {
  std::mt19937_64 draw(31);
  const variability_result found = analyse(make_trace({50, 100, 0.3}, draw), {}, {});
  REQUIRE(found.fence_list.size() == 1);
  const fences& at = found.fence_list.front().at;
  CHECK(at.lower > 0.5);
  CHECK(at.lower < at.q1);
  CHECK(at.q1 < 1.01);
  CHECK(at.q3 > 0.99);
  CHECK(at.upper < 2);
}
