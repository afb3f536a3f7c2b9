// What stands between the BPF programs' maps and rows, and what is decided before anything is attached: without
// privileges.
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../../probes/switch_sampling.h"
#include "catch.hpp"
#include "kernel/attach_point.hpp"
#include "kernel/context_probes.hpp"
#include "kernel/function_probes.hpp"
#include "kernel/process_filter.hpp"
#include "kernel/summed_rows.hpp"
#include "kernel/uprobe_multi.hpp"
#include "kernel/window_sampling.hpp"
#include "simulated_runs.hpp"

namespace lib = adaptyst::lib;

TEST_CASE("parts of a row become one: nested times taken off, buckets where they say that they belong") {
  const auto bucket = [](std::uint64_t number, std::uint64_t count) {
    return (number + 1) << ADAPTYST_KERNEL_COUNT_BITS | count;
  };
  adaptyst_kernel_row part{};
  part.total_ns = 1000;
  part.child_ns = 300;
  part.max_ns = 70;
  part.min_complement = ~std::uint64_t{20};
  part.unbucketed = 2;
  part.buckets[1] = bucket(33, 5);
  part.buckets[9] = bucket(0, 4);
  lib::measured_row row;
  lib::add_part(row, part);
  CHECK(row.count == 11);
  CHECK(row.total_ns == 1000);
  CHECK(row.self_ns == 700);
  CHECK(row.min_ns == 20);
  CHECK(row.max_ns == 70);
  REQUIRE(row.durations.buckets().size() == 34);
  CHECK(row.durations.buckets()[33] == 5);
  CHECK(row.durations.buckets()[0] == 4);
  CHECK(row.durations.count() == 9);
  adaptyst_kernel_row rest{};
  rest.buckets[0] = bucket(48, 6);
  rest.buckets[1] = bucket(33, (std::uint64_t{1} << 53) + 1);
  lib::add_part(row, rest);
  CHECK(row.count == 11 + 6 + (std::uint64_t{1} << 53) + 1);
  CHECK(row.total_ns == 1000);
  CHECK(row.min_ns == 20);
  CHECK(row.max_ns == 70);
  REQUIRE(row.durations.buckets().size() == 49);
  CHECK(row.durations.buckets()[48] == 6);
  CHECK(row.durations.buckets()[33] == 6 + (std::uint64_t{1} << 53));
}

TEST_CASE("what ranks have counted is distinguished, but where they have had to share a row") {
  lib::rank_times sums;
  const auto book = [&](std::uint64_t path, std::uint32_t place, std::uint64_t events, std::uint64_t total_ns) {
    lib::add_to_group(sums, {path, place}, events, total_ns);
  };
  book(7, 0, 1000, 1000);  // of a process without a rank
  book(7, ADAPTYST_KERNEL_GROUP + 3, 5, 50);
  book(7, ADAPTYST_KERNEL_GROUP + 3 + 37 * ADAPTYST_KERNEL_PART, 2, 0);
  book(7, (ADAPTYST_KERNEL_GROUPS - 1) * ADAPTYST_KERNEL_GROUP + 1, 1, 9);
  book(8, ADAPTYST_KERNEL_GROUP, 1, 1);
  book(8, ADAPTYST_KERNEL_SHARED, 4, 4);
  book(9, ADAPTYST_KERNEL_SHARED + 2 * ADAPTYST_KERNEL_PART, 4, 0);
  CHECK(sums.by_rank.size() == 2);
  CHECK(sums.by_rank[1][7].events == 7);
  CHECK(sums.by_rank[1][7].total_ns == 50);
  CHECK(sums.by_rank[ADAPTYST_KERNEL_GROUPS - 1][7].total_ns == 9);
  CHECK(sums.by_rank[1][8].events == 1);
  CHECK(sums.shared_paths == lib::path_set{8, 9});
}

TEST_CASE("what processors know of a path's context is added up, and each reason has its place") {
  adaptyst_context_row row{};
  row.runnable_ns = 1;
  row.blocked_ns[ADAPTYST_BLOCKED_SLEEP] = 10;
  row.blocked_ns[ADAPTYST_BLOCKED_LOCK] = 200;
  row.blocked_ns[ADAPTYST_BLOCKED_IO] = 3000;
  row.blocked_ns[ADAPTYST_BLOCKED_OTHER] = 40000;
  row.voluntary = 5;
  row.involuntary = 6;
  row.migrations = 7;
  row.faults = 8;
  adaptyst_context_row other = row;
  other.faults = 1;
  other.major_faults = 3;  // they began on the first one
  const lib::context_part sum = lib::sum_rows({row, other}, true);
  CHECK(sum.runnable_ns == 2);
  CHECK(sum.sleep_ns == 20);
  CHECK(sum.lock_ns == 400);
  CHECK(sum.io_ns == 6000);
  CHECK(sum.other_ns == 80000);
  CHECK(sum.voluntary_switches == 10);
  CHECK(sum.involuntary_switches == 12);
  CHECK(sum.migrations == 14);
  CHECK(sum.major_faults == 3U);
  CHECK(sum.page_faults == 9U);
  CHECK_FALSE(lib::sum_rows({row}, false).major_faults.has_value());
  CHECK_FALSE(sum.faults_variance.has_value());
  row.fault_variance = 12;
  other.fault_variance = 30;
  CHECK(lib::sum_rows({row, other}, true).faults_variance == 42.0);
  CHECK_FALSE(lib::sum_rows({row, other}, false).faults_variance.has_value());
  CHECK_FALSE(sum.voluntary_variance.has_value());
  CHECK_FALSE(sum.blocked_variance.has_value());
}

TEST_CASE("errors of sampled switches are added up over processors, and times of 100 s have room") {
  adaptyst_context_row row{};
  adaptyst_context_row other{};
  const auto back = [](std::uint64_t weight, std::uint64_t blocked_ns, bool is_voluntary) {
    return adaptyst_switch{weight, blocked_ns, 640, ADAPTYST_BLOCKED_LOCK, is_voluntary, !is_voluntary};
  };
  const adaptyst_switch of_first[] = {back(1, 1'000'000, true), back(256, 100'000'000'000, true), back(16, 0, false)};
  for (const adaptyst_switch& of : of_first) adaptyst_book_switch(&row, &of);
  const adaptyst_switch of_second = back(256, 100'000'000'000, true);
  for (int times = 0; times != 1000; ++times) adaptyst_book_switch(&other, &of_second);
  const lib::context_part sum = lib::sum_rows({row, other}, false);
  CHECK(sum.lock_ns == 1'000'000 + 256 * 1001 * 100'000'000'000ULL);
  CHECK(sum.voluntary_switches == 1 + 256 * 1001);
  CHECK(sum.involuntary_switches == 16);
  CHECK(sum.migrations == 16);
  REQUIRE(sum.blocked_variance);
  CHECK(*sum.voluntary_variance == 256.0 * 255 * 1001);
  CHECK(*sum.involuntary_variance == 16.0 * 15);
  CHECK(*sum.migrations_variance == 16.0 * 15);
  CHECK(*sum.blocked_variance == Approx(256.0 * 255 * 1001 * 1e22));
  CHECK(*sum.runnable_variance == Approx((256.0 * 255 * 1001 + 16.0 * 15) * 640 * 640));
}

namespace {

// Of many runs: the mean deviation in standard errors, and how often it is within 1.96 of them.
class deviations {
 public:
  void add(double estimate, double truth, double variance) {
    const double in_errors = (estimate - truth) / std::sqrt(variance);
    sum_ += estimate - truth;
    variance_ += variance;
    ++runs_;
    within_ += std::abs(in_errors) < 1.96 ? 1 : 0;
  }
  // About 0 ± 1.
  double bias() const { return sum_ / std::sqrt(variance_); }
  double coverage() const { return within_ / runs_; }

 private:
  double sum_ = 0, variance_ = 0, runs_ = 0, within_ = 0;
};

}  // namespace

TEST_CASE("sampled switches of bursts have no bias, and true values within the errors in 95 % of runs") {
  std::mt19937_64 random(20261128);
  // With lock times of much larger variance (1.2 instead of 0.8 above), the share is 91 % at step 5, for 400 recorded waits.
  for (const std::uint32_t step : {2U, 4U})
    for (const bool shares_a_place : {false, true}) {
      deviations switches, blocked, runnable;
      for (int run = 0; run != 1000; ++run) {
        const simulated::switches_of_a_run of = simulated::run_in_bursts(random, step, shares_a_place);
        const lib::context_part sum = lib::sum_rows({of.row}, false);
        REQUIRE(sum.voluntary_variance);
        const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
        switches.add(number(sum.voluntary_switches), number(of.switches), *sum.voluntary_variance);
        blocked.add(number(sum.blocked_ns()), number(of.blocked_ns), *sum.blocked_variance);
        runnable.add(number(sum.runnable_ns), number(of.runnable_ns), *sum.runnable_variance);
      }
      for (const deviations* const of : {&switches, &blocked, &runnable}) {
        INFO("step " << step << ", one place " << shares_a_place << ", figure "
                     << (of == &switches  ? 0
                         : of == &blocked ? 1
                                          : 2));
        CHECK(std::abs(of->bias()) < 3.5);
        CHECK(of->coverage() > 0.93);
        CHECK(of->coverage() < 0.97);
      }
    }
}

namespace {

double mean_square(const std::vector<double>& of) {
  return std::inner_product(of.begin(), of.end(), of.begin(), 0.0) / static_cast<double>(of.size());
}

}  // namespace

TEST_CASE(
    "page faults in random windows give estimates without bias, and true values within the errors in 93 % of runs or more") {
  std::mt19937_64 random(20261128);
  for (unsigned pattern = 0; pattern != 6; ++pattern) {
    std::array<deviations, 3> of;  // the paths, and both together
    for (int run = 0; run != 600; ++run) {
      const simulated::faults_of_a_run faults = simulated::make_faults(pattern, random);
      const auto [first_truth, second_truth] = simulated::count(faults);
      const auto sums = simulated::watch(faults, random).read();
      const lib::window_sums::sum& first = sums.at(1);
      const lib::window_sums::sum& second = sums.at(2);
      std::vector<double> both(first.deviations);
      std::transform(both.begin(), both.end(), second.deviations.begin(), both.begin(), std::plus<>());
      of[0].add(first.events, first_truth, mean_square(first.deviations));
      of[1].add(second.events, second_truth, mean_square(second.deviations));
      of[2].add(first.events + second.events, first_truth + second_truth, mean_square(both));
    }
    for (std::size_t which = 0; which != of.size(); ++which) {
      INFO("pattern " << pattern << ", path " << which << ": bias " << of[which].bias() << ", "
                      << of[which].coverage());
      CHECK(std::abs(of[which].bias()) < 3.5);
      // Up to 0.99 for bursts of two paths together: their error is too large.
      CHECK(of[which].coverage() > 0.93);
    }
  }
}

TEST_CASE("a program that is slower in a window has as many events in the time without the delay") {
  constexpr std::uint64_t ms = 1'000'000;
  // 10,000 events in 10 ms, but for 100 ns each: 9,091 of them, by one thread or by two.
  for (const unsigned threads : {1U, 2U}) {
    lib::window_sums sums(1);
    const std::uint64_t each = 9091;
    sums.add({{7, {threads * each, threads * (each * (each - 1) / 2)}}}, {100 * ms, 10 * ms, 100});
    CHECK(sums.events() == Approx(threads * 100'000).epsilon(0.011));  // 1 % of the block is delayed
  }
  lib::window_sums of_none(1);
  of_none.add({}, {100 * ms, 10 * ms, 100});
  CHECK(of_none.events() == 0);
  CHECK(of_none.read().empty());
}

TEST_CASE("an error from few windows is large, and a path without page faults in the next ones has an error") {
  constexpr std::uint64_t ms = 1'000'000;
  lib::window_sums sums(1);
  sums.add({{7, {100, 0}}}, {100 * ms, 10 * ms, 0});
  CHECK(sums.read().at(7).events == Approx(1000));
  CHECK(mean_square(sums.read().at(7).deviations) == Approx(1000.0 * 1000));
  for (int block = 0; block != 9; ++block) sums.add({{7, {100, 0}}}, {100 * ms, 10 * ms, 0});
  CHECK(sums.read().at(7).events == Approx(1000));
  CHECK(mean_square(sums.read().at(7).deviations) == Approx(1000.0 * 1000 / 2 * 10 / 6));

  lib::window_sums longer(1);
  for (std::uint64_t block = 1; block != 11; ++block) longer.add({{7, {100 * block, 0}}}, {100 * ms, 10 * ms, 0});
  const double before = mean_square(longer.read().at(7).deviations);
  longer.extend(400 * ms);
  CHECK(longer.read().at(7).events == Approx(14'000));
  CHECK(mean_square(longer.read().at(7).deviations) > before + 4000.0 * 4000);
}

TEST_CASE("a window that cannot be opened makes its block longer, and late ones have their true length") {
  constexpr std::uint64_t s = 1'000'000'000;
  lib::window_block block(3);
  block.begin(s, 8);
  CHECK(block.ends_ns() == s + 8 * lib::window_ns);
  CHECK(block.must_open(2 * s));
  block.defer(2 * s);
  CHECK(block.next_ns() == block.opens_ns());
  CHECK_FALSE(block.must_open(2 * s));
  CHECK_FALSE(block.has_ended(2 * s));
  CHECK_FALSE(block.is_usable(2 * s));
  REQUIRE(block.must_open(3 * s));
  block.open(3 * s);
  CHECK(block.next_ns() == 3 * s + lib::window_ns);
  CHECK_FALSE(block.must_close(3 * s));
  CHECK_FALSE(block.is_usable(3 * s));
  REQUIRE(block.must_close(4 * s));
  block.close(4 * s);
  CHECK(block.next_ns() == 4 * s);
  CHECK(block.has_ended(4 * s));
  CHECK(block.length_ns(5 * s) == 3 * s);
  CHECK(block.open_length_ns(5 * s) == s);
  block.extend(5 * s);  // until all page faults are recorded again
  CHECK(block.length_ns(6 * s) == 4 * s);
}

TEST_CASE("the cost of windows counts evenly, and completely in the end") {
  constexpr std::uint64_t ms = 1'000'000, of_window_ns = 3 * ms;
  lib::even_cost cost;
  lib::window_block block(3);
  block.begin(0, 16);
  cost.end_block(0, 7 * ms, 0);
  CHECK(cost.counted_ns(0) == 7 * ms);
  std::uint64_t total_ns = 7 * ms;
  std::uint64_t before_ns = total_ns;
  double highest = 0;
  for (std::uint64_t now_ns = 0; now_ns != 5000 * ms; now_ns += 10 * ms) {
    if (block.must_open(now_ns)) block.open(now_ns);
    if (block.must_close(now_ns)) {
      block.close(now_ns);
      total_ns += of_window_ns;
    }
    if (block.has_ended(now_ns)) {
      block.begin(now_ns, 16);
      cost.end_block(now_ns, total_ns, 160 * ms);
    }
    const std::uint64_t counted_ns = cost.counted_ns(now_ns);
    REQUIRE(counted_ns >= before_ns);
    REQUIRE(counted_ns <= total_ns);
    highest = std::max(highest, static_cast<double>(counted_ns - before_ns) / (10 * ms));
    before_ns = counted_ns;
  }
  CHECK(highest < 1.3 * of_window_ns / (160 * ms));  // 30 % in a window
  cost.end_block(5000 * ms, total_ns, 160 * ms);
  CHECK(cost.left_ns(5000 * ms) > 0);
  CHECK(cost.counted_ns(5160 * ms) == total_ns);
  CHECK(cost.left_ns(5160 * ms) == 0);
}

TEST_CASE("links for many probes are those of Linux 6.10 and later") {
  for (const char* const release : {"6.10.0", "6.18.5-amd64", "7.0", "10.1.2"}) CHECK(lib::has_uprobe_multi(release));
  for (const char* const release : {"6.9.12", "6.6.1", "5.15.0", "4.20", "x", ""})
    CHECK_FALSE(lib::has_uprobe_multi(release));
  for (const char* const release : {"6.13.0", "6.18.5-amd64", "7.0"}) CHECK(lib::has_uprobe_sessions(release));
  for (const char* const release : {"6.12.99", "5.15.0", "next"}) CHECK_FALSE(lib::has_uprobe_sessions(release));
}

TEST_CASE("programs listen to everybody, to this process, or to those that are listed") {
  const adaptyst_kernel_filter all = lib::filter_for(lib::process_filter::all);
  CHECK(all.pid == 0);
  CHECK(all.listed == 0);
  const adaptyst_kernel_filter own = lib::filter_for(lib::process_filter::this_process);
  CHECK(own.pid == static_cast<std::uint32_t>(getpid()));
  CHECK(own.listed == 0);
  const adaptyst_kernel_filter listed = lib::filter_for(lib::process_filter::listed);
  CHECK(listed.pid == 0);
  CHECK(listed.listed == 1);
}

TEST_CASE("the nop that a kernel replaces is tried first, and a breakpoint last") {
#if defined(__x86_64__)
  using lib::attach_point;
  const std::vector<attach_point> nop5_first = {attach_point::nop5, attach_point::nop10, attach_point::breakpoint};
  const std::vector<attach_point> nop10_first = {attach_point::nop10, attach_point::nop5, attach_point::breakpoint};
  for (const char* const release : {"6.18.5-amd64", "7.2.9", "5.15.0", "x", ""})
    CHECK(lib::order_attach_points(release) == nop5_first);
  for (const char* const release : {"7.3.0-rc1", "7.10", "8.0.1"})
    CHECK(lib::order_attach_points(release) == nop10_first);
#endif
}

TEST_CASE("the place for trying probes is where the file has its nops") {
  const lib::trial_site site = lib::find_trial_site();
  std::ifstream file(site.file, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(site.offset));
  std::string code(17, '\0');
  REQUIRE(file.read(code.data(), 17));
#if defined(__x86_64__)
  CHECK(code == std::string("\x90\x66\x2e\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x44\0\0\xc3", 17));
#endif
  for (const lib::attach_point point : lib::order_attach_points("7.3")) {
    const lib::trial unprobed = lib::try_hits(10, 1, point);
    CHECK(unprobed.state_kept);
    CHECK_FALSE(unprobed.is_optimised);
    CHECK(unprobed.hit_ns > 0);
  }
}

TEST_CASE("a function is refused for what probes would do to it, unless that is wanted") {
  lib::function_place place;
  place.name = place.symbol = "compute";
  place.entry = lib::entry_kind::push;
  lib::function_options options;
  CHECK(why_refused(place, options).reason.empty());
  place.entry = lib::entry_kind::single_stepped;
  CHECK(why_refused(place, options).hint.find("single_stepped=yes") != std::string::npos);
  options.single_stepped = true;
  CHECK(why_refused(place, options).reason.empty());
  place.name = "compute(int)";
  CHECK(why_refused(place, options).hint.find("may_crash_on_exception") != std::string::npos);
  options.may_crash_on_exception = true;
  CHECK(why_refused(place, options).reason.empty());
  place.refused = "it is written in no language";
  CHECK(why_refused(place, options).reason == place.refused);
}

TEST_CASE("a second trap is no reason to refuse a function in which a thread waits for others") {
  lib::function_place place;
  place.entry = lib::entry_kind::single_stepped;
  for (const char* const name :
       {"MPI_Waitall", "MPI_Recv", "MPI_Finalize", "mpi_allreduce_", "MPI_BARRIER", "clFinish"}) {
    place.name = place.symbol = name;
    CHECK(why_refused(place, {}).reason.empty());
  }
  for (const char* const name : {"MPI_Test", "MPI_Wtime", "MPI_Iallreduce", "MPI_Reduce_local", "PMPI", "_", ""}) {
    place.name = place.symbol = name;
    CHECK_FALSE(why_refused(place, {}).reason.empty());
  }
}

TEST_CASE("of functions that have no probe, those that the program imports are named first, all others counted") {
  const lib::refusal slow{"its entry is slow", "single_stepped=yes"};
  std::vector<lib::refused_function> all;
  for (const char* const name : {"MPI_A", "MPI_B", "MPI_C", "MPI_D", "MPI_E", "MPI_F", "MPI_Test"})
    all.push_back({name, {name, std::string("P") + name}, slow});
  all.push_back({"MPI_Odd", {"MPI_Odd"}, {"it is odd", ""}});
  const std::vector<adaptyst::error> errors = explain(all, {"PMPI_Test", "MPI_Send"});
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].summary() == "MPI_Odd: it is odd");
  CHECK(errors[1].summary() == "MPI_Test, which the program imports, and 6 that it does not: its entry is slow");
  CHECK(errors[1].hint() == slow.hint);
  CHECK(explain(all, {})[1].summary() == "MPI_A, MPI_B, MPI_C, MPI_D, MPI_E and 2 others: its entry is slow");
}
