// The report for people: never wider than 100 columns, never silent about what is absent.
#include <adaptyst/compare.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/profile/findings.hpp>
#include <algorithm>
#include <sstream>

#include "catch.hpp"
#include "model/activity.hpp"
#include "model/memory_spaces.hpp"
#include "report/activity_table.hpp"
#include "report/region_figures.hpp"
#include "report/text_table.hpp"
#include "samples.hpp"
#include "support/text.hpp"

namespace {

constexpr std::size_t columns = 100;

// A byte that belongs to no character is shown as one.
std::size_t width(const std::string& line) {
  const samples::spelling spelling = samples::spell(line);
  return spelling.points + spelling.broken;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

void check_table(const std::string& text) {
  for (const std::string& line : lines(text)) {
    CAPTURE(line);
    CHECK(width(line) <= columns);
  }
}

// The line that begins with `start`.
std::string find_line(const std::string& table, const std::string& start) {
  for (const std::string& line : lines(table))
    if (line.rfind(start, 0) == 0) return line;
  FAIL("no line begins with \"" << start << "\" in\n" << table);
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count_text(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

adaptyst::region region(std::vector<std::string> path, std::uint64_t count, std::uint64_t each_ns) {
  adaptyst::region made;
  made.path = std::move(path);
  made.kind = adaptyst::region_kind::region;
  made.count = count;
  made.total_ns = made.self_ns = count * each_ns;
  made.min_ns = made.max_ns = each_ns;
  made.durations.add(each_ns, count);
  return made;
}

adaptyst::profile small() {
  adaptyst::profile made;
  made.engine = "ebpf";
  made.mechanism = "uprobe_multi, nop5 optimised";
  made.reason = "permitted";
  made.processes.push_back({42, "/bin/solver", "host", 1000000000});
  made.devices.resize(2);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[0].name = "host";
  made.devices[0].observed_ns = 1000000000;
  made.devices[0].busy_ns = 500000000;
  made.devices[1] = made.devices[0];
  made.devices[1].kind = adaptyst::device_kind::gpu;
  made.devices[1].index = 3;
  made.devices[1].name = "H200";
  made.devices[1].kernel_ns = 400000000;
  made.regions.push_back(region({"solve"}, 10, 25000000));
  made.accounting = {11, 10, 1, {}, 0, 0, 2500.0, std::nullopt, std::nullopt};
  return made;
}

std::string verbose_table(const adaptyst::profile& in) {
  adaptyst::table_options how;
  how.verbose = true;
  return adaptyst::to_table(in, how);
}

// On one line, whatever its sentences were broken into.
std::string unwrapped(const std::string& table) {
  std::istringstream words(table);
  std::string all;
  for (std::string word; words >> word;) all += word + ' ';
  return all;
}

}  // namespace

TEST_CASE("the parts of a region's time add up to 100 %, and a small part is not 0 %") {
  const auto parts = [](std::uint64_t on_ns, std::uint64_t runnable_ns, std::uint64_t blocked_ns) {
    adaptyst::os_context context;
    context.wall_ns = on_ns + runnable_ns + blocked_ns;
    context.runnable_ns = runnable_ns;
    context.lock_ns = blocked_ns;
    return adaptyst::lib::make_parts(context);
  };
  using texts = adaptyst::lib::context_parts;
  CHECK(parts(333, 333, 334) == texts{"33%", "33%", "34%"});
  CHECK(parts(336, 336, 328) == texts{"34%", "33%", "33%"});
  CHECK(parts(997, 0, 3) == texts{"100%", "0%", "<1%"});
  CHECK(adaptyst::lib::make_parts(std::nullopt) == texts{"—", "—", "—"});
  adaptyst::os_context estimated;
  estimated.wall_ns = 1000;
  estimated.lock_ns = 3;
  estimated.voluntary_variance = 1;
  CHECK(adaptyst::lib::make_parts(estimated) == texts{"~100%", "~0%", "~<1%"});
}

TEST_CASE("a table says who, how, what, where and what it cost") {
  const std::string table = adaptyst::to_table(small());
  check_table(table);
  CHECK(contains(table, "solver, pid 42"));
  CHECK(contains(table, "engine ebpf: 11 events begun, 1 open, 0 lost; observing cost 2.50 us\n"));
  const std::string row = find_line(table, "solve");
  CHECK(contains(row, " host "));
  CHECK(contains(row, " 10 "));
  CHECK(contains(row, "250 ms"));
  CHECK(contains(row, "25.0%"));
  CHECK(contains(row, "25.0 ms"));
  CHECK(contains(find_line(table, "gpu3  H200"), "400 ms"));
  CHECK(contains(find_line(table, "host "), "50.0%"));
  const std::string all = verbose_table(small());
  check_table(all);
  CHECK(contains(all, "engine ebpf (uprobe_multi, nop5 optimised): permitted"));
  CHECK(contains(all, "11 events begun = 10 ended + 1 open + 0 lost"));
  CHECK(contains(all, "observing them cost about 2.50 us"));
}

namespace {

// The lines behind the last empty one.
std::vector<std::string> footer(const std::string& table) { return lines(table.substr(table.rfind("\n\n") + 2)); }

}  // namespace

TEST_CASE("legend and account are one line each at all widths, and the rest is there on request") {
  adaptyst::profile in = small();
  in.accounting = {9'999'999, 9'999'999, 0, {}, 0, 0, 30e6, std::nullopt, std::nullopt};
  in.regions[0].timed_events = 5;
  in.regions.push_back(region({"kernel"}, 10, 1000));
  in.regions.back().kind = adaptyst::region_kind::kernel;
  in.regions.back().device = 1;
  in.devices[1].clock = {adaptyst::clock_id::monotonic_raw, 4, 5, 1, 7};
  adaptyst::table_options how;
  for (const std::size_t across : {80U, 100U, 160U}) {
    how.columns = across;
    const std::vector<std::string> last = footer(adaptyst::to_table(in, how));
    REQUIRE(last.size() == 2);
    CHECK(contains(last[0], "SELF: without nested regions; ~: asynchronous device, or estimate; —: unknown"));
    CHECK(last[1] == "engine ebpf: 9,999,999 events begun, 0 lost; observing cost 3.0% of the run");
  }
  CHECK(contains(footer(adaptyst::to_table(in, how))[0], "more: --verbose, or verbose=yes"));
  CHECK_FALSE(contains(adaptyst::to_table(in), "clock monotonic_raw"));
  CHECK(contains(verbose_table(in), "clock monotonic_raw: 4 sync points"));
}

TEST_CASE("the footer has at most three lines at all widths, whatever was counted") {
  adaptyst::profile in = small();
  in.accounting = {9'999'999, 1'234'567, 1'234'567, {}, 1'234'567, 1'234'567, 30e6, std::nullopt, std::nullopt};
  in.accounting.unread = {1, 250'000'000};
  in.accounting.lost = {{adaptyst::loss_reason::not_read, 9'999'999}};
  adaptyst::table_options how;
  for (const std::size_t across : {80U, 100U, 120U}) {
    how.columns = across;
    const std::vector<std::string> last = footer(adaptyst::to_table(in, how));
    CHECK(last.size() <= 3);
    CHECK(contains(last.back(), "engine ebpf: ~9,999,999 events begun"));
    CHECK(contains(last.back(), ", ~9,999,999 lost, 1,234,567 unmatched"));
    CHECK(contains(last.back(), ", …"));  // the rest is there on request
    for (const std::string& line : last) CHECK(width(line) <= across);
  }
  in.accounting.unread.reset();
  in.accounting.open = 0;
  how.columns = 80;
  CHECK(contains(footer(adaptyst::to_table(in, how)).back(), "9,999,999 lost, 1,234,567 unmatched, …"));
  in.accounting.unmatched = in.accounting.unnamed = 0;
  in.accounting.lost[adaptyst::loss_reason::not_read] = 999;
  CHECK(contains(footer(adaptyst::to_table(in, how)).back(), "999 lost; observing cost 3.0% of the run"));
}

TEST_CASE("minimum, median and standard deviation are shown on request") {
  adaptyst::profile in = small();
  in.regions[0].durations = {};
  for (int at = 0; at != 5; ++at) {
    in.regions[0].durations.add(10'000'000);
    in.regions[0].durations.add(40'000'000);
  }
  in.regions[0].min_ns = 10'000'000;
  in.regions[0].max_ns = 40'000'000;
  CHECK_FALSE(contains(adaptyst::to_table(in), "median"));
  CHECK(contains(verbose_table(in), "    min 10.0 ms, median "));
  CHECK((contains(verbose_table(in), ", σ 14.") || contains(verbose_table(in), ", σ 15.")));  // of buckets
  in.regions.push_back(region({"once"}, 1, 1000));
  CHECK(count_text(verbose_table(in), "median") == 1);
}

TEST_CASE("what a device does asynchronously is marked, so that it may take longer than its parent") {
  adaptyst::profile in = small();
  in.regions.push_back(region({"solve", "kernel"}, 10, 40'000'000));
  in.regions.back().kind = adaptyst::region_kind::kernel;
  in.regions.back().device = 1;
  in.regions.push_back(region({"solve", "wait"}, 10, 1'000'000));
  in.regions.back().kind = adaptyst::region_kind::offload;  // a time of the host
  in.regions.back().device = 1;
  const std::string table = adaptyst::to_table(in);
  check_table(table);
  CHECK(contains(find_line(table, "  kernel"), " ~ gpu3 "));
  CHECK_FALSE(contains(find_line(table, "  wait"), "~"));
  CHECK(contains(table, "~: asynchronous device"));
  CHECK(contains(unwrapped(verbose_table(in)), "~ before a device: asynchronous, so it may take longer than"));
  CHECK(contains(adaptyst::to_markdown(in), "kernel | \\~ gpu3 |"));
  CHECK(contains(adaptyst::to_table(adaptyst::compare(in, small())), " ~ gpu3 "));
  CHECK(contains(adaptyst::to_csv(in), ",\"gpu3\","));
}

TEST_CASE("calls are of one form in a table") {
  adaptyst::profile in = small();
  in.regions.push_back(region({"often"}, 1'351'000, 10));
  CHECK(contains(find_line(adaptyst::to_table(in), "often"), " 1,351,000 "));
  CHECK(contains(find_line(adaptyst::to_table(in), "solve"), " 10 "));
  in.regions.push_back(region({"more"}, 23'800'000, 10));
  in.regions[0].count = 1351;
  check_table(adaptyst::to_table(in));
  CHECK(contains(find_line(adaptyst::to_table(in), "more"), " 23.8 M "));
  CHECK(contains(find_line(adaptyst::to_table(in), "often"), " 1.35 M "));
  CHECK(contains(find_line(adaptyst::to_table(in), "solve"), " 1.35 k "));
}

TEST_CASE("counts that are zero, and reasons for nothing, are left out") {
  adaptyst::profile in = small();
  adaptyst::os_context& context = in.devices[0].context.emplace();
  context.runnable_ns = 3'900'000'000;
  context.lock_ns = 3'170'000'000;
  context.io_ns = 886'000;
  context.voluntary_switches = 15'321;
  context.involuntary_switches = 9'068;
  context.minor_faults = 1'129;
  context.major_faults = 0;
  const std::string table = unwrapped(adaptyst::to_table(in));
  CHECK(contains(table, "and were blocked 3.17 s (futex); 24,389 switches, 9,068 involuntary; 1,129 page faults gpu3"));
}

TEST_CASE("an estimated number of page faults is marked and has an error") {
  adaptyst::profile in = small();
  in.context.emplace().faults_one_of = 16;
  adaptyst::os_context& context = in.devices[0].context.emplace();
  context.minor_faults = 340'000;
  context.major_faults = 0;
  context.faults_variance = 1'700.0 * 1'700.0;
  const std::string table = unwrapped(adaptyst::to_table(in));
  CHECK(contains(table, "~340,000 ± 1.0% page faults"));
  CHECK(
      contains(table, "overhead budget: page faults sampled (~), down to 1 of 16; overhead=none records every event"));
}

TEST_CASE("estimated switches and their waits are marked, have errors, and are named as sampled") {
  adaptyst::profile in = small();
  in.context.emplace().switches_one_of = 16;
  in.samples.emplace().waits_one_of = 64;
  adaptyst::os_context& context = in.devices[0].context.emplace();
  context.voluntary_switches = 300'000;
  context.involuntary_switches = 100'000;
  context.migrations = 10'000;
  context.runnable_ns = 400'000'000;
  context.lock_ns = 2'000'000'000;
  context.voluntary_variance = 9e6;
  context.involuntary_variance = 7e6;
  context.migrations_variance = 1e4;
  context.runnable_variance = 4e12;
  context.blocked_variance = 1e14;
  const std::string table = unwrapped(adaptyst::to_table(in));
  CHECK(contains(table, "its threads waited ~400 ms ± 1.0% for a core, and were blocked ~2.00 s ± 1.0% (futex)"));
  CHECK(contains(table, "~400,000 ± 2.0% switches, ~100,000 ± 5.3% involuntary; ~10,000 ± 2.0% migrations"));
  CHECK(contains(table,
                 "overhead budget: thread switches sampled (~), down to 1 of 16; stacks of waits sampled (~), "
                 "down to 1 of 64; overhead=none records every event"));
}

TEST_CASE("a host that never waited has no waits of 0 ns in its line") {
  adaptyst::profile in = small();
  adaptyst::os_context& context = in.devices[0].context.emplace();
  context.voluntary_switches = 5;
  context.runnable_ns = 2'000;
  const auto line = [&] {
    const std::string table = unwrapped(adaptyst::to_table(in));
    CHECK_FALSE(contains(table, " 0 ns"));
    return table;
  };
  CHECK(contains(line(), " its threads waited 2.00 us for a core; 5 switches gpu3"));
  context.runnable_ns = 0;
  CHECK(contains(line(), "— 5 switches gpu3"));
  context.lock_ns = 3'000;
  CHECK(contains(line(), " its threads were blocked 3.00 us (futex); 5 switches gpu3"));
  context = {};
  CHECK_FALSE(contains(line(), "its threads"));
  in.offload.waited_ns = 0;
  in.devices[1].host_waiting_ns = 0;
  line();
}

TEST_CASE("on a terminal rows have bars, a long tree its largest rows first, and findings a colour") {
  adaptyst::profile in = small();
  for (int at = 0; at != 30; ++at)
    in.regions.push_back(
        region({"solve", "part " + std::to_string(at)}, 1, 1'000'000 + static_cast<std::uint64_t>(at)));
  in.regions.back().kind = adaptyst::region_kind::kernel;
  in.regions.back().device = 1;
  adaptyst::table_options how;
  how.lines = 50;
  for (const std::size_t across : {80U, 100U, 160U}) {
    how.columns = across;
    const std::string table = adaptyst::to_table(in, how);
    for (const std::string& line : lines(table)) CHECK(width(line) <= across);
    CHECK(contains(find_line(table, "solve "), across == 80 ? "█" : "██"));  // a quarter of the run
    CHECK_FALSE(contains(table, "LARGEST BY SELF"));
    CHECK_FALSE(contains(table, "\033"));
  }
  how.lines = 24;
  const std::string table = adaptyst::to_table(in, how);
  CHECK(table.find("LARGEST BY SELF") < table.find("\nREGION"));
  CHECK(contains(find_line(table, "solve > part 29"), "~ gpu3"));
  CHECK(contains(find_line(table, "solve > part 21"), "0.1%"));
  CHECK_FALSE(contains(table, "solve > part 20 "));
  how.has_colour = true;
  CHECK(contains(adaptyst::to_table(in, how), "\033[36m██\033[0m\n"));
  CHECK_FALSE(contains(adaptyst::to_table(in), "█"));
  CHECK_FALSE(contains(adaptyst::to_table(in), "LARGEST"));
}

TEST_CASE("in a narrow terminal columns give way before bars, so that names have 24 columns") {
  adaptyst::profile in = small();
  in.regions.push_back(region({"solve", "a kernel of a long name that is cut"}, 1'351, 1'000'000));
  in.regions.back().kind = adaptyst::region_kind::kernel;
  in.regions.back().device = 1;
  in.regions[0].total_ns = 1'000'000'000;  // 100.0%
  adaptyst::table_options how;
  how.lines = 50;
  for (std::size_t across = 80; across != 140; ++across) {
    CAPTURE(across);
    how.columns = across;
    const std::string table = adaptyst::to_table(in, how);
    for (const std::string& line : lines(table)) CHECK(width(line) <= across);
    CHECK(find_line(table, "REGION").find(" ON ") >= 24);
    for (const char* const shown : {" CALLS ", " TIME ", " SELF ", " %RUN", " NOCORE "})
      CHECK(contains(find_line(table, "REGION"), shown));
    if (contains(find_line(table, "REGION"), " P99 ")) CHECK(contains(find_line(table, "REGION"), " MEAN "));
    if (across < 100) continue;
    CHECK(contains(find_line(table, "REGION"), " THR "));
    CHECK(contains(find_line(table, "solve"), "████"));
  }
  CHECK(contains(find_line(adaptyst::to_table(in, how), "solve"), "████████"));
  how.columns = 80;
  CHECK_FALSE(contains(adaptyst::to_table(in, how), "█"));
  in.regions.pop_back();  // short names leave room
  CHECK(contains(find_line(adaptyst::to_table(in, how), "solve"), "████"));
  CHECK(contains(find_line(adaptyst::to_table(in, how), "REGION"), " THR "));
}

TEST_CASE("what could not be had is a dash, not 0") {
  adaptyst::profile in = small();
  CHECK(count_text(find_line(adaptyst::to_table(in), "host "), "—") ==
        5);  // kernels, exposed, launching, starved, overlap
  in.devices[0].busy_ns.reset();
  CHECK(count_text(find_line(adaptyst::to_table(in), "host "), "—") == 8);
  in.devices[0].busy_ns = 0;
  in.devices[0].kernel_ns = 0;
  const std::string idle = find_line(adaptyst::to_table(in), "host ");
  CHECK(count_text(idle, "—") == 4);
  CHECK(contains(idle, "0 ns"));
  in.processes.clear();
  CHECK(contains(find_line(adaptyst::to_table(in), "solve"), "—"));  // no share without a duration
  in.regions[0].attributes["residual"] = {1, __builtin_nan(""), 0, 0};
  CHECK(contains(adaptyst::to_table(in), "residual —"));
}

TEST_CASE("nothing measured is said to be so") {
  adaptyst::profile in = small();
  in.regions.clear();
  const std::string table = adaptyst::to_table(in);
  check_table(table);
  CHECK(contains(table, "no marker"));
  check_table(adaptyst::to_table(adaptyst::profile{}));
}

TEST_CASE("a program without markers has no rows of zeros, but its functions, and what to try") {
  adaptyst::profile in;
  in.engine = "ebpf";
  in.processes = {{42, "/usr/bin/solver", "node", 1'000'000'000, {}}};
  in.devices.emplace_back();
  in.functions = {{"compute_flux", 30}, {"wild\x1b[31m", 10}};
  const std::string table = adaptyst::to_table(in);
  check_table(table);
  for (const char* const words : {"solver, pid 42", "no markers", "ADAPTYST_REGION", "--functions", "-o run.folded"})
    CHECK(contains(table, words));
  CHECK(contains(table, "30   75.0%  compute_flux\n"));
  CHECK(table.find("compute_flux") < table.find("wild?[31m"));
  for (const char* const zero : {"0 events", "cpu", " 0 ns", "0.0%"}) CHECK(!contains(table, zero));
  in.engine = "inline";
  in.functions.clear();
  CHECK(contains(adaptyst::to_table(in), "adaptyst doctor"));
  in.accounting.begun = 1;
  CHECK(!contains(adaptyst::to_table(in), "no markers"));
  in.accounting.begun = 0;
  in.options["functions"] = "mpi";
  in.functions = {{"compute_flux", 30}};
  CHECK(contains(adaptyst::to_table(in), "no functions: no requested function was called"));
  CHECK(contains(adaptyst::to_table(in), "compute_flux"));
}

TEST_CASE("functions without a probe stand below the regions that their time is counted in") {
  adaptyst::profile in = small();
  CHECK(!contains(adaptyst::to_table(in), "not probed"));
  in.not_probed = {{"MPI_Test", "its entry is slow"}, {"MPI_Wtime", "its entry is slow"}};
  CHECK(contains(adaptyst::to_table(in), "not probed, though the program imports them: MPI_Test, MPI_Wtime; "));
  for (int at = 0; at != 40; ++at) in.not_probed["F" + std::to_string(at)] = "odd";
  const std::string table = adaptyst::to_table(in);
  check_table(table);
  CHECK(contains(table, "and 22 others;"));
}

TEST_CASE("what is lost says where, and what to do") {
  adaptyst::profile in = small();
  in.regions.push_back(region({"step"}, 10, 50));
  for (int at = 0; at != 100; ++at) in.regions.push_back(region({"step", "cell " + std::to_string(at)}, 1, 5));
  in.accounting.lost = {{adaptyst::loss_reason::rows_full, 30}, {adaptyst::loss_reason::in_signal, 1}};
  check_table(adaptyst::to_table(in));
  const auto table = [&in] { return unwrapped(adaptyst::to_table(in)); };
  CHECK(contains(table(), "rows_full: a thread had no room for more call paths"));
  CHECK(contains(table(), "of 102 call paths, 100 are directly below step"));
  CHECK(contains(table(), "belongs in a payload"));
  CHECK(contains(table(), "in_signal: a signal handler"));
  in.accounting.lost = {{adaptyst::loss_reason::too_deep, 1}};
  CHECK(contains(table(), "the deepest is step > cell 0"));
  in.accounting.lost.clear();
  CHECK(!contains(table(), "too_deep"));
}

TEST_CASE("a count that is an estimate is marked, and the budget told") {
  adaptyst::profile made = small();
  CHECK(!contains(adaptyst::to_table(made), "~"));
  CHECK(!contains(adaptyst::to_table(made), "budget"));
  adaptyst::region sampled = region({"hot"}, 640000, 50);
  sampled.timed_events = 10000;
  sampled.count_variance = 64.0 * 63 * 10000;
  sampled.measured_on = {{{false, 1}, 1000}, {{false, 8}, 5}, {{false, 64}, 2000000}};
  made.regions.push_back(sampled);
  const std::string table = adaptyst::to_table(made);
  check_table(table);
  CHECK(contains(find_line(table, "hot"), " ~640,000 "));
  CHECK(contains(table, "engine ebpf: ~11 events begun, 1 open, 0 lost"));
  CHECK(contains(verbose_table(made), "~11 events begun = ~10 ended + 1 open + 0 lost"));
  CHECK(contains(table, "overhead budget: 1 region sampled (~), down to 1 event of 64, counts within 1.0%"));
}

TEST_CASE("children stand below their parents, the longest first") {
  adaptyst::profile in = small();
  in.regions = {region({"a"}, 1, 100), region({"a", "short"}, 1, 10), region({"a", "short", "deep"}, 1, 5),
                region({"a", "x long"}, 1, 60), region({"b"}, 1, 500)};
  const std::string table = adaptyst::to_table(in);
  const std::size_t order[] = {table.find("\nb "), table.find("\na "), table.find("\n  x long "),
                               table.find("\n  short "), table.find("\n    deep ")};
  for (const std::size_t at : order) REQUIRE(at != std::string::npos);
  for (std::size_t at = 1; at != 5; ++at) CHECK(order[at - 1] < order[at]);
}

TEST_CASE("siblings of one name have their own children below them, and their places in the source") {
  adaptyst::profile made;
  made.processes.push_back({1, "/bin/a", "host", 1000000000});
  const auto add = [&](std::vector<std::string> path, std::uint64_t id, std::uint64_t parent, std::uint64_t ns,
                       std::uint32_t line) {
    made.regions.push_back(region(std::move(path), 1, ns));
    made.regions.back().id = id;
    made.regions.back().parent = parent;
    made.regions.back().site = {"/src/m.c", line, "main"};
  };
  add({"reduce"}, 1, 0, 100'000'000, 6);
  add({"reduce"}, 2, 0, 2'000'000, 7);
  add({"reduce", "inner"}, 3, 1, 90'000'000, 4);
  add({"reduce", "inner"}, 4, 2, 1'000'000, 4);
  add({"open", "first"}, 5, 20, 1'000'000, 9);
  add({"open", "second"}, 6, 21, 2'000'000, 9);
  std::vector<std::string> found;
  const auto find = [&](const std::string& text) {
    found.clear();
    for (const std::string& line : lines(text))
      if (contains(line, "reduce") || contains(line, "inner") || contains(line, "open"))
        found.push_back(line.substr(0, line.find("  ", line.find_first_not_of(' '))));
  };
  for (const auto order : {adaptyst::region_order::time, adaptyst::region_order::p99}) {
    adaptyst::table_options how;
    how.sort = order;
    find(adaptyst::to_table(made, how));
    REQUIRE(found.size() >= 6);
    CHECK(contains(found[0], "reduce (m.c:6)"));
    CHECK(contains(found[1], "  inner"));
  }
  const std::string markdown = adaptyst::to_markdown(made);
  const std::size_t first = markdown.find("reduce (m.c\\:6)"), second = markdown.find("reduce (m.c\\:7)");
  CAPTURE(markdown);
  REQUIRE(first < second);
  REQUIRE(second != std::string::npos);
  CHECK(contains(markdown.substr(first, second - first), "90.0 ms"));
}

TEST_CASE("each row stands by its own figure among its siblings, whatever has the same name") {
  adaptyst::profile made = small();
  made.regions.clear();
  made.regions.push_back(region({"corrector"}, 1, 166'000'000));
  made.regions.push_back(region({"corrector"}, 1, 1'800'000'000));
  made.regions.back().kind = adaptyst::region_kind::kernel;
  made.regions.back().device = 1;
  made.regions.push_back(region({"predictor"}, 1, 1'650'000'000));
  for (std::size_t at = 0; at != 3; ++at) made.regions[at].id = at + 1;
  for (const auto order : {adaptyst::region_order::time, adaptyst::region_order::self}) {
    adaptyst::table_options how;
    how.sort = order;
    const std::string text = adaptyst::to_table(made, how);
    CAPTURE(text);
    CHECK(text.find("1.80 s") < text.find("1.65 s"));
    CHECK(text.find("1.65 s") < text.find("166.0 ms"));
  }
}

TEST_CASE("bytes and flops are shown as rates, other attributes with their spread") {
  adaptyst::profile in = small();
  in.regions[0].attributes["bytes"] = {10, 1e9, 1e8, 1e8};
  in.regions[0].attributes["flops"] = {10, 5e8, 5e7, 5e7};
  in.regions[0].attributes["cells"] = {10, 40, 1, 7};
  const std::string table = adaptyst::to_table(in);
  check_table(table);
  CHECK(contains(table, "1 GB at 4 GB/s"));
  CHECK(contains(table, "500 MFLOP at 2 GFLOP/s"));
  CHECK(contains(table, "cells mean 4 [1, 7], sum 40"));
}

TEST_CASE("what was not read is said to be an estimate") {
  adaptyst::profile in = small();
  in.accounting.begun += 30;
  in.accounting.lost = {{adaptyst::loss_reason::not_read, 30}};
  in.accounting.unread = {1, 250'000'000};
  CHECK(contains(verbose_table(in), "~41 events begun = 10 ended + 1 open + ~30 lost (~30 not_read)"));
  CHECK(contains(adaptyst::to_table(in), "~30 of ~41 events are not in the figures: ~30 not_read"));
  CHECK(contains(adaptyst::to_table(in), "~41 events begun, 1 open, ~30 lost"));
  CHECK(contains(adaptyst::to_table(in), "a program ended without telling: what it recorded in the last 250 ms"));
  in.accounting.lost[adaptyst::loss_reason::too_deep] = 2;
  CHECK(contains(adaptyst::to_table(in), "not in the figures: ~30 not_read, 2 too_deep"));
  in.accounting.lost.erase(adaptyst::loss_reason::too_deep);
  adaptyst::merge(in, in);
  CHECK(contains(adaptyst::to_table(in), "2 programs ended without telling: what they recorded in the last 250 ms"));
}

TEST_CASE("a number of events that is an estimate has the same mark in the table and in sentences") {
  adaptyst::profile in = small();
  in.accounting.lost = {{adaptyst::loss_reason::too_deep, 2}};
  in.regions[0].timed_events = 5;
  in.regions[0].count_variance = 4;
  CHECK(contains(find_line(adaptyst::to_table(in), "solve"), " ~10 "));
  CHECK(contains(adaptyst::to_table(in), "2 of ~11 events are not in the figures: 2 too_deep"));
  in.timeline.emplace().sampled_out = 7;
  CHECK(contains(adaptyst::to_table(in), "not in it: ~7 skipped by"));
}

TEST_CASE("what is no work in short regions is told, and in no others") {
  adaptyst::profile in = small();
  in.regions[0].total_ns = in.regions[0].count * 100;
  in.timer_floor_ns = 16;
  CHECK(contains(adaptyst::to_table(in), "an empty region takes 16 ns here"));
  in.timer_floor_ns = 9;
  CHECK_FALSE(contains(adaptyst::to_table(in), "an empty region takes"));
  in.timer_floor_ns.reset();
  CHECK_FALSE(contains(adaptyst::to_table(in), "an empty region takes"));
}

TEST_CASE("one legend explains the marks of the table, and only those that occur") {
  adaptyst::profile in = small();
  in.context.emplace();
  const auto count = [&in](const std::string& legend) {
    const std::string all = unwrapped(verbose_table(in));
    std::size_t found = 0;
    for (std::size_t at = all.find(legend); at != std::string::npos; at = all.find(legend, at + 1)) ++found;
    return found;
  };
  for (const char* const mark :
       {"~: an estimate", "±: the total", "…: a name is cut", "3>: nested", "(open): has not"}) {
    CAPTURE(mark);
    CHECK(count(mark) == 0);
  }
  CHECK(count("—: not known") == 1);
  in.regions.push_back(region({std::string(200, 'x')}, 0, 0));
  in.regions[0].timed_events = 5;
  in.regions[0].total_variance =
      static_cast<double>(in.regions[0].total_ns) * static_cast<double>(in.regions[0].total_ns);
  std::vector<std::string> path;
  for (int depth = 0; depth != 19; ++depth) path.push_back("level");
  in.regions.push_back(region(path, 1, 1000));
  for (const char* const mark :
       {"~: an estimate", "±: the total", "…: a name is cut", "3>: nested", "(open): has not", "—: not known"}) {
    CAPTURE(mark);
    CHECK(count(mark) == 1);
  }
}

TEST_CASE("a large error of a sampled region's total is shown") {
  adaptyst::profile in = small();
  adaptyst::region& row = in.regions[0];
  row.timed_events = 5;
  row.total_variance = 0.0;
  CHECK_FALSE(contains(adaptyst::to_table(in), "±"));
  row.total_variance = 0.01 * static_cast<double>(row.total_ns) * static_cast<double>(row.total_ns);
  CHECK(contains(adaptyst::to_table(in), "total ± "));
  check_table(adaptyst::to_table(in));
}

TEST_CASE("a program whose memory cannot be read is told of, in words that do no harm") {
  adaptyst::profile in = small();
  in.accounting.refused = {1, "Permission\x1b[31m denied (EACCES)"};
  CHECK(contains(adaptyst::to_table(in), "a program could not be looked into; what it did is missing"));
  CHECK(contains(adaptyst::to_table(in), "Permission?[31m"));
  adaptyst::merge(in, in);
  CHECK(contains(adaptyst::to_table(in), "2 programs could not be looked into; what they did"));
  in.mechanism = "trap\x1b]0;\u202e";
  CHECK(contains(verbose_table(in), "trap?]0;?"));
}

TEST_CASE("losses are named, late operations told") {
  adaptyst::profile in = small();
  in.accounting.lost = {{adaptyst::loss_reason::too_deep, 3}, {adaptyst::loss_reason::rows_full, 4}};
  in.devices[1].late = 2;
  const std::string table = adaptyst::to_table(in);
  check_table(table);
  CHECK(contains(table, "7 lost"));
  CHECK(contains(table, "3 too_deep"));
  CHECK(contains(table, "4 rows_full"));
  CHECK(contains(table, "2 operations came too late"));
  CHECK_FALSE(contains(table, "0 operations"));
}

TEST_CASE("names of any bytes and length keep the table within its columns") {
  for (const std::string& name : samples::nasty_names()) {
    CAPTURE(name);
    adaptyst::profile in = small();
    in.regions.push_back(region({name}, 10, 10));
    in.regions.push_back(region({name, name, name}, 10, 10));  // the one between is still open
    in.regions[1].attributes[name] = {1, 1, 1, 1};
    in.devices[1].name = name;
    in.processes[0].command = name;
    check_table(adaptyst::to_table(in));
  }
}

TEST_CASE("no byte of a name reaches the terminal as a control") {
  for (const std::string& name : samples::nasty_names()) {
    adaptyst::profile in = small();
    in.regions.push_back(region({name, "x", name}, 10, 10));
    in.regions[0].attributes[name] = {1, 1, 1, 1};
    in.devices[1].name = in.processes[0].command = in.reason = name;
    const std::string table = adaptyst::to_table(in);
    CAPTURE(name);
    for (const char c : table) CHECK((c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)));
    CHECK_FALSE(contains(table, "\xc2\x9b"));  // U+009B is ESC [ in one character
  }
}

TEST_CASE("deep nesting keeps the table within its columns, and is shown to the end") {
  adaptyst::profile in = small();
  std::vector<std::string> path;
  for (int depth = 0; depth != 1000; ++depth) {
    path.push_back("level " + std::to_string(depth));
    if (depth % 3 != 1) in.regions.push_back(region(path, 1, 1000));  // some are still open
  }
  adaptyst::table_options how;
  how.rows = how.depth = 0;
  const std::string table = adaptyst::to_table(in, how);
  check_table(table);
  CHECK(contains(table, "\n      999> level 999"));
}

TEST_CASE("huge numbers keep the table within its columns") {
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{9999999}, std::uint64_t{10000000}, ~std::uint64_t{0}})
    for (const std::uint64_t ns :
         {std::uint64_t{0}, std::uint64_t{999999}, std::uint64_t{3600000000000}, ~std::uint64_t{0}}) {
      adaptyst::profile in = small();
      adaptyst::region huge = region({std::string(40, 'n')}, count, 0);
      huge.total_ns = huge.self_ns = huge.min_ns = huge.max_ns = ns;
      huge.attributes["bytes"] = {count, 1e308, 1e308, 1e308};
      huge.attributes["cells"] = {count, -1.2345e-300, -1.2345e-300, 1e308};
      in.regions.push_back(huge);
      in.devices[1].busy_ns = in.devices[1].kernel_ns = in.devices[1].copy_ns = ns;
      in.devices[1].exposed_copy_ns = in.devices[1].launch_idle_ns = in.devices[1].observed_ns = ns;
      in.devices[1].host_waiting_ns = in.devices[1].work_ns = in.devices[1].operations = ns;
      in.devices[1].queue_wait = in.devices[1].launch_latency = adaptyst::wait_times{};
      in.devices[1].queue_wait->durations.add(ns);
      in.devices[1].to_device = in.devices[1].from_device = in.devices[1].flops = adaptyst::amount{1e308, ns};
      in.devices[1].clock = {adaptyst::clock_id::monotonic_raw, 4294967295U, -9223372036854775807LL - 1, 1e300,
                             ~std::uint64_t{0}};
      in.offload = {ns, ns, ns};
      in.devices[1].index = 4294967295U;
      in.devices[1].late = in.devices[1].skipped = count;
      in.accounting.begun = in.accounting.ended = in.accounting.open = in.accounting.unmatched = count;
      using why = adaptyst::loss_reason;
      for (const why reason :
           {why::too_deep, why::rows_full, why::tables_full, why::no_memory, why::in_signal, why::bad_times})
        in.accounting.lost[reason] = count;
      in.accounting.overhead_ns = static_cast<double>(ns) * 1e6;
      for (const std::uint64_t wall :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000000000}, ~std::uint64_t{0}}) {
        in.processes[0].duration_ns = wall;
        in.processes[0].pid = 4194304;
        CAPTURE(count, ns, wall);
        check_table(adaptyst::to_table(in));
      }
    }
}

TEST_CASE("the engine's line fits with every reason that a collector gives") {
  adaptyst::profile in = small();
  in.engine = "inline";
  for (const char* const mechanism : {"own recorder, cycle counter", "own recorder, CLOCK_MONOTONIC"})
    for (const char* const reason : {"cannot load the eBPF programs: Operation not permitted (EPERM)",
                                     "cannot use eBPF: this build of adaptyst is without it",
                                     "cannot attach to the probes of "
                                     "/home/somebody/projects/simulation/build/release/bin/solver: Permission denied "
                                     "(EACCES)"}) {
      in.mechanism = mechanism;
      in.reason = reason;
      const std::string table = verbose_table(in);
      check_table(table);
      CHECK(contains(table, "engine inline"));
    }
}

TEST_CASE("everything nasty at once") { check_table(adaptyst::to_table(samples::nasty_profile())); }

TEST_CASE("where the kernel was asked, a region shows on a core, waiting for one, blocked") {
  adaptyst::profile profile = small();
  profile.context.emplace();
  profile.processes = {{1, "solver", "host", 1'000'000}};
  adaptyst::region halo = region({"exchange_halo"}, 10, 50'000);
  halo.context.emplace();
  halo.context->wall_ns = halo.total_ns;
  halo.context->runnable_ns = 35'000;
  halo.context->lock_ns = 300'000;
  halo.context->io_ns = 115'000;
  halo.self_context = halo.context;
  profile.regions = {halo};
  profile.devices.front().context = halo.context;
  const std::string table = adaptyst::to_table(profile);
  check_table(table);
  CHECK(contains(find_line(table, "REGION"), " |  RUN NOCORE BLOCK"));
  CHECK(contains(find_line(table, "exchange_halo "), " |  10%     7%   83%"));
  CHECK(contains(table, "waited 35.0 us for a core, and were blocked 415 us (futex 300 us, I/O 115 us)"));
  profile.regions.front().context->open = 1;
  CHECK(contains(find_line(adaptyst::to_table(profile), "exchange_halo "), " |    —      —     —"));
}

TEST_CASE("random profiles") {
  for (std::uint64_t seed = 0; seed != 100; ++seed) {
    CAPTURE(seed);
    check_table(adaptyst::to_table(samples::generator(seed).profile()));
  }
}

TEST_CASE("a share is of the total, whatever is nested; devices that worked at once say how long") {
  adaptyst::profile in = small();
  in.regions[0].self_ns = 100'000'000;
  in.devices.push_back(in.devices[1]);
  in.devices[2].index = 4;
  in.devices[2].busy_ns = 450'000'000;
  in.offload.busy_ns = 700'000'000;
  const std::string table = adaptyst::to_table(in);
  check_table(table);
  const std::string row = find_line(table, "solve");
  CHECK(contains(row, "  250 ms  100 ms  25.0%"));
  CHECK(contains(table, "devices: 250 ms of their work went on at once"));
}

TEST_CASE("of several estimates the worst error is told") {
  adaptyst::profile in = small();
  for (const char* const name : {"rough", "fine"}) {
    in.regions.push_back(region({name}, 1000, 10));
    in.regions.back().timed_events = 500;
    in.regions.back().count_variance = name[0] == 'r' ? 400 : 4;
  }
  CHECK(contains(adaptyst::to_table(in), "overhead budget: 2 regions sampled (~), counts within 2.0%"));
}

TEST_CASE("what readers look for comes first: the regions, then devices, and last how it was measured") {
  const std::string table = adaptyst::to_table(small());
  const std::size_t order[] = {table.find("solver, pid 42"), table.find("REGION"), table.find("DEVICE"),
                               table.find("engine ebpf"), table.find("events begun")};
  for (const std::size_t at : order) REQUIRE(at != std::string::npos);
  for (std::size_t at = 1; at != 5; ++at) CHECK(order[at - 1] < order[at]);
}

TEST_CASE("time outside all regions has a row, so that rows add up to the run") {
  adaptyst::profile in = small();
  in.regions.push_back(region({"solve", "nested"}, 1, 1000));
  in.accounting.open = 0;
  for (adaptyst::region& row : in.regions) row.threads = 1;
  in.processes[0].threads = 1;
  const auto row = [&in] { return find_line(adaptyst::to_table(in), "(unmarked) "); };
  CHECK(contains(row(), "  750 ms  750 ms  75.0%"));
  CHECK(contains(unwrapped(verbose_table(in)), "together with the outermost regions: 100 %"));
  in.regions.push_back(region({"kernel"}, 1, 500'000'000));  // which a device runs meanwhile
  in.regions.back().kind = adaptyst::region_kind::kernel;
  CHECK(contains(row(), "  75.0%"));
}

TEST_CASE("time outside all regions is a dash where it cannot be known, and it is said why") {
  adaptyst::profile profile = small();
  profile.accounting.open = 0;
  profile.regions[0].threads = 1;
  profile.processes[0].threads = 1;
  const auto check = [](const adaptyst::profile& in, const char* why) {
    CAPTURE(why);
    const std::string table = adaptyst::to_table(in);
    CHECK(count_text(find_line(table, "(unmarked) "), "—") == 10);
    CHECK(contains(unwrapped(verbose_table(in)), std::string("not known: ") + why));
  };
  adaptyst::profile in = profile;
  in.processes[0].threads = 2;
  check(in, "several threads");
  in.processes[0].threads.reset();
  check(in, "which threads");
  in = profile;
  in.regions[0].threads = 0;
  check(in, "which threads");
  in = profile;
  in.accounting.open = 1;
  check(in, "regions are still open");
  in = profile;
  in.accounting.lost = {{adaptyst::loss_reason::too_deep, 1}};
  check(in, "events were lost");
  in = profile;
  in.processes[0].duration_ns = 1000;
  check(in, "regions of one thread overlap");
  in.regions[0].timed_events = 1;
  check(in, "the times of regions are estimates");
  in = profile;
  in.regions[0].timed_events = 1;
  CHECK(contains(find_line(adaptyst::to_table(in), "(unmarked) "), " ~750 ms ~750 ms  75.0%"));
  in.regions[0].timed_events.reset();
  in.processes[0].duration_ns = 0;
  check(in, "the run's duration is not known");
}

TEST_CASE("a region that is open stands where what is nested in it would") {
  for (const adaptyst::region_order sort : {adaptyst::region_order::time, adaptyst::region_order::mean}) {
    adaptyst::profile in = small();
    in.regions.clear();
    in.regions.push_back(region({"short"}, 1, 1000));
    in.regions.push_back(region({"open"}, 0, 0));  // has a row: of another thread's events, say
    in.regions.push_back(region({"open", "long"}, 1, 1'000'000));
    adaptyst::table_options how;
    how.sort = sort;
    const std::string table = adaptyst::to_table(in, how);
    CAPTURE(table);
    CHECK(table.find("\nopen") < table.find("\nshort"));
  }
}

TEST_CASE("figures that are wider than usual take room from the names, and cut no column") {
  adaptyst::profile in = small();
  in.regions[0].threads = 1'234'567;
  in.context.emplace();
  for (const std::size_t across : std::vector<std::size_t>{80, 100, 120}) {
    adaptyst::table_options how;
    how.columns = across;
    const std::string table = adaptyst::to_table(in, how);
    CAPTURE(table);
    CHECK(contains(find_line(table, "solve "), " 1,234,567 "));
    CHECK(!contains(find_line(table, "solve "), "…"));
    CHECK(find_line(table, "solve ").size() <= across + 6);  // dashes are three bytes
    CHECK(find_line(table, "REGION").find('|') == find_line(table, "solve ").find('|'));
  }
}

TEST_CASE("both engines have the same columns at all widths, and the legend says why some are dashes") {
  adaptyst::profile in = small();
  adaptyst::profile with_context = in;
  with_context.context.emplace();
  adaptyst::table_options how;
  how.verbose = true;
  for (const std::size_t across : {100U, 130U}) {
    how.columns = across;
    const std::string with = adaptyst::to_table(with_context, how), without = adaptyst::to_table(in, how);
    CHECK(find_line(with, "REGION") == find_line(without, "REGION"));
    CHECK(
        contains(find_line(with, "REGION"), "THR   CALLS    TIME    SELF   %RUN    MEAN     P99 |  RUN NOCORE BLOCK"));
    CHECK(contains(unwrapped(with), "RUN, NOCORE, BLOCK: parts of TIME on a core"));
    CHECK(contains(unwrapped(without), "RUN, NOCORE, BLOCK: not recorded: context=cpu records"));
  }
  in.options["context"] = "none";
  CHECK(contains(unwrapped(verbose_table(in)), "RUN, NOCORE, BLOCK: not recorded: context=none"));
}

TEST_CASE("a table is as wide as is asked, and keeps both ends of long names") {
  adaptyst::profile in = small();
  const std::string begin = "Kokkos::View::initialization of a field called ", end = " [in its layout]";
  for (const char* const field : {"u", "v", "w"}) in.regions.push_back(region({begin + field + end + field}, 1, 1000));
  for (const std::size_t across : {80U, 93U, 100U, 112U, 200U}) {
    CAPTURE(across);
    adaptyst::table_options how;
    how.columns = across;
    const std::string table = adaptyst::to_table(in, how);
    for (const std::string& line : lines(table)) CHECK(width(line) <= across);
    CHECK(width(find_line(table, "REGION")) == across);
    for (const char* const field : {"u", "v", "w"})
      CHECK(contains(table, across == 200 ? begin + field + end + field : std::string("]") + field));
    CHECK(contains(table, "\nKokkos:"));
  }
  adaptyst::table_options narrow;
  narrow.columns = 10;
  CHECK(width(find_line(adaptyst::to_table(in, narrow), "REGION")) == 80);
}

TEST_CASE("names that differ in the middle alone are shown from there") {
  adaptyst::profile in = small();
  for (const char* const field : {"pressure", "velocity", "tracers", "tracer \u03b1", "tracer \u03b2"})
    in.regions.push_back(
        region({std::string("Kokkos::View::initialization [") + field + "] of a long thing"}, 1, 1000));
  adaptyst::table_options how;
  for (const std::size_t across : {80U, 100U, 112U}) {
    how.columns = across;
    const std::string table = adaptyst::to_table(in, how);
    for (const std::string& line : lines(table)) CHECK(width(line) <= across);
    std::vector<std::string> names;
    for (const std::string& line : lines(table))
      if (line.rfind("Kokko", 0) == 0) names.push_back(line.substr(0, line.find(" host ")));
    REQUIRE(names.size() == 5);
    std::sort(names.begin(), names.end());
    CHECK(std::unique(names.begin(), names.end()) == names.end());
  }
}

TEST_CASE("a metric may be a level and has no sum; what ends in a unit of time is a time") {
  adaptyst::profile in = small();
  in.regions[0].attributes["bytes in use"] = {10, 4e9, 1e8, 9e8, 10};
  in.regions[0].attributes["residual"] = {4, 2, 0.25, 1, 4};
  in.regions[0].attributes["imbalance_ns"] = {2, 3000, 1000, 2000, 2};
  in.regions[0].attributes["waited_ns"] = {2, 3'000'000, 1'000'000, 2'000'000};
  in.regions[0].attributes["lead_ms"] = {2, -3, -2, -1};
  const std::string table = adaptyst::to_table(in);
  CHECK(contains(table, "bytes in use mean 400 MB [100 MB, 900 MB]"));
  CHECK(contains(table, "residual mean 0.5 [0.25, 1]"));
  CHECK(contains(table, "imbalance_ns mean 1.50 us [1.00 us, 2.00 us], sum 3.00 us"));
  CHECK(count_text(table, ", sum ") == 3);
  CHECK(contains(table, "waited_ns mean 1.50 ms [1.00 ms, 2.00 ms], sum 3.00 ms"));
  CHECK(contains(table, "lead_ms mean -1.50 ms [-2.00 ms, -1.00 ms], sum -3.00 ms"));
}

namespace {

// 30 levels of recursion, and 300 others side by side.
adaptyst::profile large() {
  adaptyst::profile in = small();
  in.regions.clear();
  std::vector<std::string> path;
  for (std::uint64_t depth = 0; depth != 30; ++depth) {
    path.emplace_back("fib");
    in.regions.push_back(region(path, 1, 500'000'000 - depth * 10'000'000));
    in.regions.back().self_ns = 10'000'000;
  }
  for (int at = 0; at != 300; ++at) in.regions.push_back(region({"leaf " + std::to_string(at)}, 1, 1000));
  return in;
}

}  // namespace

TEST_CASE("a table ends somewhere, and says what it leaves out") {
  const std::string table = adaptyst::to_table(large());
  CHECK(count_text(table, " fib ") + count_text(table, "\nfib ") == 20);
  CHECK(count_text(table, "\nleaf ") == 180);
  CHECK(contains(table, "… 130 more rows, 10.0% of the run"));
  adaptyst::table_options all;
  all.rows = all.depth = 0;
  const std::string whole = adaptyst::to_table(large(), all);
  CHECK(count_text(whole, "\nleaf ") == 300);
  CHECK(contains(whole, "29> fib "));
  CHECK_FALSE(contains(whole, "more row"));
}

TEST_CASE("rows are chosen by their share, their depth and their number, with what they are nested in") {
  adaptyst::profile in = small();
  in.regions = {region({"a"}, 1, 600'000'000), region({"a", "b"}, 1000, 500'000), region({"a", "b", "c"}, 3, 5'000'000),
                region({"d"}, 2, 100'000'000)};
  in.regions[0].self_ns = 100'000'000;
  adaptyst::table_options how;
  const auto shows = [&] {
    std::string names;
    for (const std::string& line : lines(adaptyst::to_table(in, how)))
      for (const char* const name : {"a", "b", "c", "d"})
        if (line.substr(0, 6).find_first_not_of(' ') < 6 &&
            line.find(std::string(name) + "  ") == line.find_first_not_of(' '))
          names += name;
    return names;
  };
  CHECK(shows() == "abcd");
  how.least_share = 0.1;
  CHECK(shows() == "abd");
  how.least_share = 0;
  how.depth = 1;
  CHECK(shows() == "ad");
  how.depth = 0;
  how.rows = 1;
  CHECK(shows() == "a");
  how.sort = adaptyst::region_order::calls;
  CHECK(shows() == "ab");
  how.rows = 0;
  CHECK(shows() == "dabc");
  how.sort = adaptyst::region_order::name;
  CHECK(shows() == "abcd");
  how.sort = adaptyst::region_order::self;
  in.regions[3].self_ns = 150'000'000;
  CHECK(shows() == "dabc");
  how.sort = adaptyst::region_order::mean;
  CHECK(shows() == "abcd");
  how.sort = adaptyst::region_order::p99;
  CHECK(shows() == "abcd");
}

namespace {

// The fields of a line as RFC 4180 has them.
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all(1);
  bool quoted = false;
  for (std::size_t at = 0; at != line.size(); ++at) {
    if (quoted && line[at] == '"' && at + 1 != line.size() && line[at + 1] == '"') all.back() += line[at++];
    else if (line[at] == '"') quoted = !quoted;
    else if (line[at] == ',' && !quoted) all.emplace_back();
    else all.back() += line[at];
  }
  return all;
}

}  // namespace

TEST_CASE("CSV has a line a row in raw units, and no name in it is a formula or ends a line") {
  adaptyst::profile in = large();
  in.accounting.open = 0;
  in.processes[0].threads = 1;
  for (adaptyst::region& row : in.regions) row.threads = 1;
  in.regions.push_back(region({"=SUM(A1), \"or\"\nnot"}, 2, 1500));
  in.regions.back().threads = 1;
  const std::string csv = adaptyst::to_csv(in);
  CHECK(count_text(csv, "\r\n") == 333);
  CHECK(count_text(csv, "\n") == 333);
  std::istringstream all(csv);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(all, line);) rows.push_back(fields(line.substr(0, line.size() - 1)));
  for (const auto& row : rows) CHECK(row.size() == rows[0].size());
  const auto value = [&](const std::vector<std::string>& row, const char* name) {
    return row.at(static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin()));
  };
  const auto& formula = *std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row[0][0] == '\''; });
  CHECK(value(formula, "name") == "'=SUM(A1), \"or\"?not");
  CHECK(value(formula, "calls") == "2");
  CHECK(value(formula, "time_ns") == "3000");
  CHECK(value(formula, "mean_ns") == "1500");
  CHECK(value(formula, "device") == "host");
  CHECK(value(formula, "running_ns").empty());
  CHECK(value(rows.at(2), "path") == "fib > fib");
  CHECK(value(rows.at(2), "level") == "2");
  CHECK(value(rows.back(), "kind") == "unmarked");
  CHECK(value(rows.back(), "time_ns") == std::to_string(500'000'000 - 303'000));
  CHECK(value(rows.back(), "run_fraction") == "0.499697");
}

TEST_CASE("a CSV is whole unless less of it is asked for") {
  adaptyst::profile in = small();
  in.regions.clear();
  for (int at = 0; at != 300; ++at) in.regions.push_back(region({"region " + std::to_string(at)}, 1, 1000));
  const auto split_lines = [&](const adaptyst::table_options& how) { return lines(adaptyst::to_csv(in, how)).size(); };
  adaptyst::table_options how;
  const std::size_t heading = 1;
  CHECK(split_lines(how) == heading + 300);
  how.rows = 10;
  CHECK(split_lines(how) == heading + 10);
  in.regions.resize(1);
  in.regions[0].count = 3;
  in.regions[0].total_ns = 10'000'001;
  CHECK(contains(adaptyst::to_csv(in), ",3333333.6666666665,"));
}

TEST_CASE("Markdown has the columns of the table, and a name is no mark-up") {
  adaptyst::profile in = small();
  in.regions.push_back(region({"solve", "a|b <c>"}, 2, 1500));
  const std::string page = adaptyst::to_markdown(in);
  CHECK(contains(page, "| REGION | ON | THR | CALLS | TIME | SELF | %RUN | MEAN | P99 | RUN | NOCORE | BLOCK |\n"));
  CHECK(contains(page, "\n| &nbsp;&nbsp;a\\|b \\<c\\> | host | — | 2 | 3.00 us | 3.00 us |"));
  CHECK(contains(page, "\n| (unmarked) | host |"));
  in.regions.push_back(region({"solve", "@ping $x$ :tada:"}, 1, 0));
  in.regions.back().kind = adaptyst::region_kind::instant_event;
  in.regions.back().durations = {};
  in.regions.back().threads = 1;
  CHECK(contains(adaptyst::to_markdown(in),
                 "\n| &nbsp;&nbsp;\\@ping \\$x\\$ \\:tada\\: | host | 1 | 1 | — | — | — | — | — | — | — | — |\n"));
}

TEST_CASE("Markdown says what is missing before all else") {
  adaptyst::profile in = small();
  CHECK(adaptyst::to_markdown(in).rfind("| REGION", 0) == 0);
  in.accounting.begun += 7;
  in.accounting.lost[adaptyst::loss_reason::rows_full] = 7;
  const std::string page = adaptyst::to_markdown(in);
  CHECK(page.rfind("> 7 of ", 0) == 0);
  CHECK(contains(page, "\n\n| REGION"));
}

TEST_CASE("Markdown has the findings and the ten largest rows") {
  adaptyst::profile in = small();
  for (int at = 0; at != 30; ++at)
    in.regions.push_back(region({"solve", "part" + std::to_string(at)}, 1, 100 + static_cast<std::uint64_t>(at)));
  CHECK_FALSE(contains(adaptyst::to_markdown(in), "**Findings**"));
  in.regions.back().durations = {};
  in.regions.back().count = 0;
  for (int event = 0; event != 400; ++event) in.regions.back().durations.add(event % 20 == 0 ? 3'000'000 : 1000);
  in.regions.back().count = 400;
  in.regions.back().total_ns = in.regions.back().self_ns = 20 * 3'000'000 + 380 * 1000;
  in.regions.back().max_ns = 3'000'000;
  const std::string page = adaptyst::to_markdown(in);
  REQUIRE_FALSE(adaptyst::analyse(in).empty());
  CHECK(page.rfind("**Findings**\n\n1. solve \\> part29\\: some events took", 0) == 0);
  CHECK(contains(page, " Try: find the slow events"));
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = page.find("\n| ", at)) != std::string::npos; ++at) ++rows;
  CHECK(rows == 1 + 10 + 1);  // heading, regions, unmarked
  adaptyst::table_options all;
  all.rows = 0;
  CHECK(contains(adaptyst::to_markdown(in, all), "part3 |"));
  CHECK_FALSE(contains(page, "part3 |"));
}

TEST_CASE("a device is called the same in every table, and the host is no other CPU") {
  adaptyst::profile in = small();
  in.devices[1].kind = adaptyst::device_kind::cpu;
  in.devices[1].index = 0;
  in.devices[1].name = "pocl";
  in.regions.push_back(region({"kernel"}, 10, 1000));
  in.regions.back().device = 1;
  in.regions.back().id = 2;
  adaptyst::activity_meter meter;
  (void)meter.next({}, 0);
  adaptyst::profile later = in;
  ++later.regions[0].count;
  for (const std::string& table : {adaptyst::to_table(in), adaptyst::to_table(adaptyst::compare(in, later)),
                                   adaptyst::to_table(meter.next(in, 1e9))}) {
    CAPTURE(table);
    CHECK(contains(find_line(table, "solve "), " host "));
    CHECK(contains(find_line(table, "kernel "), " ocl0 "));
  }
  for (const std::string& table : {adaptyst::to_table(in), adaptyst::to_table(meter.next(in, 1e9))}) {
    CHECK(contains(table, "\nhost  "));
    CHECK(contains(table, "\nocl0  pocl "));
  }
}

TEST_CASE("a rate is no time, though its name ends in a unit of time") {
  adaptyst::profile in = small();
  in.regions[0].attributes["cells_per_s"] = {1, 2e6, 2e6, 2e6, 1};
  CHECK(contains(adaptyst::to_table(in), "cells_per_s mean 2e+06 [2e+06, 2e+06]"));
}

namespace {

adaptyst::lib::text_table make_text_table() {
  using adaptyst::lib::column_kind;
  adaptyst::lib::text_table table({{"REGION", column_kind::name, 8},
                                   {"ON", column_kind::text, 0, 6},
                                   {"TIME", column_kind::number, 0, 0, "ns"},
                                   {"LAYER", column_kind::text}});
  table.add({std::vector<std::string>{"main", "advect", "flux"}, "gpu0", adaptyst::lib::time_cell(1500000), "conv"});
  table.add({"=sum(\"a\",1)", "an accelerator", adaptyst::lib::time_cell(std::nullopt), "a|b"});
  table.add_below("    below\n");
  return table;
}

}  // namespace

TEST_CASE("names take what the screen leaves, other columns are as wide as their cells") {
  CHECK(make_text_table().text(60) ==
        "REGION               ON        TIME  LAYER\n"
        "main > advect > flux gpu0   1.50 ms  conv\n"
        "=sum(\"a\",1)          an …or       —  a|b\n"
        "    below\n");
  const std::string narrow = make_text_table().text(38, 2);
  CHECK(narrow.find("  … > flux ") != std::string::npos);  // a path loses its outer names first
  for (std::size_t begin = 0; begin < narrow.size(); begin = narrow.find('\n', begin) + 1)
    CHECK(adaptyst::lib::width(narrow.substr(begin, narrow.find('\n', begin) - begin)) <= 38);
}

TEST_CASE("different names stay different when they are cut, wherever they differ") {
  using adaptyst::lib::cut_distinctly;
  const std::string fill(60, 'x');
  const auto named = [&](auto&& make) {
    std::vector<std::string> made;
    for (int number = 0; number != 20; ++number) made.push_back(make(std::to_string(100 + number)));
    return made;
  };
  const std::vector<std::vector<std::string>> all = {
      named([&](const std::string& text) { return fill + text; }),
      named([&](const std::string& text) { return text + fill; }),
      named([&](const std::string& text) { return fill + text + fill; }),
      named([&](const std::string& text) { return "€" + fill + text + "ü" + fill + "€"; }),
      named([&](const std::string& text) { return fill + text + fill + fill + text + fill; }),
      // Each digit is at another place.
      named([&](const std::string& text) { return fill + text[1] + fill + fill + text[2] + fill + fill; }),
      {fill + fill, fill + "y" + fill, fill + "yy" + fill, fill + fill},
      {std::string(30, 'x') + "…" + std::string(29, 'x'), std::string(6, 'x') + "…" + std::string(5, 'x'), fill + fill},
      {"aten::conv2d shape=1x64x56x56,64x64x3x3,,,,,", "aten::conv2d shape=1x64x28x28,64x64x3x3,,,,,", "aten::relu"}};
  for (const std::vector<std::string>& names : all)
    for (const std::size_t most : {12U, 20U, 30U, 41U}) {
      const std::vector<std::string> cut = cut_distinctly(names, most);
      REQUIRE(cut.size() == names.size());
      for (std::size_t a = 0; a != names.size(); ++a) {
        CAPTURE(most, cut[a]);
        CHECK(width(cut[a]) <= most);
        CHECK(samples::spell(cut[a]).broken == 0);
        if (width(names[a]) <= most) CHECK(cut[a] == names[a]);
        for (std::size_t b = 0; b != a; ++b) CHECK((cut[a] == cut[b]) == (names[a] == names[b]));
      }
    }
  const std::vector<std::string> cut = cut_distinctly(all.back(), 30);
  CHECK(cut[0].find("56x56") != std::string::npos);
  CHECK(cut[1].find("28x28") != std::string::npos);
  // Without equal names, a name is cut as before.
  CHECK(cut_distinctly({fill + "y"}, 9) == std::vector<std::string>{"xxxx…xxxy"});
}

TEST_CASE("rows of a table with different names have different names on the screen") {
  using adaptyst::lib::column_kind;
  adaptyst::lib::text_table table({{"LAYER", column_kind::name, 25}, {"TIME"}, {"IN", column_kind::text, 0, 20}});
  const std::string fill(60, 'x');
  for (const char* const part : {"1", "2", "3"}) table.add({fill + part + fill, "1 ms", fill + part + fill});
  const std::vector<std::string> made = lines(table.text(60));
  REQUIRE(made.size() == 4);
  for (std::size_t at = 1; at != 4; ++at) {
    CHECK(width(made[at]) <= 60);
    const std::string digit = std::to_string(at);
    CHECK(made[at].find(digit) < made[at].find("1 ms"));
    CHECK(made[at].rfind(digit) > made[at].find("1 ms") + 3);
  }
}

TEST_CASE("CSV has numbers in the unit of the heading, and no formulas; Markdown has the words") {
  CHECK(make_text_table().csv() ==
        "\"region\",\"on\",\"time_ns\",\"layer\"\r\n"
        "\"main > advect > flux\",\"gpu0\",1500000,\"conv\"\r\n"
        "\"'=sum(\"\"a\"\",1)\",\"an accelerator\",,\"a|b\"\r\n");
  CHECK(make_text_table().markdown() ==
        "| REGION | ON | TIME | LAYER |\n"
        "|---|---|---:|---|\n"
        "| main \\> advect \\> flux | gpu0 | 1.50 ms | conv |\n"
        "| =sum(\"a\",1) | an accelerator | — | a\\|b |\n");
}

TEST_CASE("on a terminal headings are bold, and cells have their colours") {
  adaptyst::lib::text_table table(
      {{"NAME", adaptyst::lib::column_kind::name, 4}, {"N"}, {"VERDICT", adaptyst::lib::column_kind::text}});
  adaptyst::lib::table_cell slower("slower");
  slower.style = adaptyst::lib::text_style::red;
  table.add({"été", "1", slower});
  table.add({"b", "2", "new"});
  CHECK(table.text(80) == "NAME N  VERDICT\nété  1  slower\nb    2  new\n");
  CHECK(table.text({80, true}, 2) ==
        "\033[1m  NAME N  VERDICT\033[0m\n  été  1  \033[31mslower\033[0m\n  b    2  new\n");
  CHECK(table.text({12, true}) == "\033[1mNAME N  VER…\033[0m\nété  1  \033[31mslo…\033[0m\nb    2  new\n");
  CHECK_FALSE(contains(table.csv() + table.markdown(), "\033"));
}

TEST_CASE("a change has a sign, and none is 0.0 %") {
  using adaptyst::lib::signed_percent;
  CHECK(signed_percent(0.123) == "+12.3%");
  CHECK(signed_percent(-0.123) == "-12.3%");
  CHECK(signed_percent(0) == "0%");
  CHECK(signed_percent(0.0002) == "+<0.1%");
  CHECK(signed_percent(-0.0002) == "-<0.1%");
  CHECK(signed_percent(1000) == ">+9999%");
}

TEST_CASE("on request, threads that waited for a core have a line, others none") {
  adaptyst::profile made = small();
  made.processes[0].threads = 4;
  made.processes[0].thread_list = {{7, "main", 1'000'000'000, 990'000'000, 9'000'000, {}},
                                   {8, "worker", 2'000'000'000, 980'000'000, 1'010'000'000, {}}};
  const std::string table = unwrapped(verbose_table(made));
  CHECK(contains(table, "threads waiting for a core: worker (8) 1.01 s of 2.00 s (50.5%)"));
  CHECK(contains(table, "; times of at least 2 threads are unknown"));
  CHECK_FALSE(contains(table, "main (7)"));
  made.processes.push_back({9, "other", "n01"});
  CHECK(contains(unwrapped(verbose_table(made)), "worker (8, process 42) 1.01 s"));
  made.processes[0].rank = 3;
  CHECK(contains(unwrapped(verbose_table(made)), "worker (8, rank 3 on host) 1.01 s"));
  made.processes.pop_back();
  made.processes[0].thread_list.pop_back();
  CHECK_FALSE(contains(verbose_table(made), "waiting for a core:"));
  CHECK_FALSE(contains(adaptyst::to_table(made), "waiting for a core:"));
  // Long lists and names end somewhere.
  made.processes[0].thread_list.assign(64, {9, std::string(15, '\n'), 100'000'000, 1, 90'000'000, {}});
  const std::string many = verbose_table(made);
  check_table(many);
  CHECK(contains(unwrapped(many), "60 more threads"));
}

TEST_CASE("memory spaces show what is in use at most and at the end, and unknown bytes are not 0") {
  adaptyst::profile made = small();
  made.accounting.lost.clear();
  made.regions = {region({"setup"}, 1, 1000), region({"step"}, 10, 1000)};
  made.regions[0].id = 1;
  made.regions[1].id = 2;
  const auto add = [](adaptyst::region& to, const std::string& name, double sum, double max) {
    to.attributes[name] = {1, sum, max, max, 1};
  };
  add(made.regions[0], "bytes already in use in Cuda", 500, 500);
  add(made.regions[0], "bytes allocated in Cuda", 3000, 2000);
  add(made.regions[0], "bytes in use in Cuda", 5000, 3500);
  add(made.regions[1], "bytes allocated in Cuda", 1000, 100);
  add(made.regions[1], "bytes in use in Cuda", 9000, 3600);
  add(made.regions[1], "bytes freed in Cuda", 2500, 100);
  add(made.regions[1], "bytes in use in Own", 7, 7);  // a level of the program: never allocated
  const auto list = adaptyst::lib::list_memory_spaces(made);
  REQUIRE(list.size() == 1);
  CHECK(list[0].allocated_bytes == 4000);
  CHECK(list[0].freed_bytes == 2500);
  CHECK(list[0].live_bytes == std::uint64_t{2000});
  CHECK(list[0].high_water_bytes == 3600);
  CHECK(list[0].high_water_region == 2);
  CHECK(contains(unwrapped(adaptyst::to_table(made)),
                 "memory: Cuda: high-water mark 3.6 kB in step, 2 kB live at the end"));
  made.regions.push_back(region({"bytes freed in Cuda"}, 1, 0));  // outside all regions: in the line alone
  add(made.regions[2], "bytes freed in Cuda", 500, 500);
  made.regions.push_back(region({"bytes freed in Own"}, 1, 0));
  add(made.regions[3], "bytes freed in Own", 500, 500);
  CHECK_FALSE(contains(adaptyst::to_table(made), "\nbytes freed in Cuda"));
  CHECK(contains(adaptyst::to_table(made), "\nbytes freed in Own"));
  CHECK(contains(unwrapped(adaptyst::to_table(made)), "3.6 kB in step, 1.5 kB live at the end"));
  adaptyst::profile several = made;
  several.processes.push_back({43, "/bin/solver", "host", 1000000000});
  CHECK(contains(unwrapped(adaptyst::to_table(several)),
                 "memory: Cuda: high-water mark 3.6 kB of a process in step, 1.5 kB live at the end in 2 processes"));
  several.ranks = 8;  // with one entry for all
  CHECK(contains(unwrapped(adaptyst::to_table(several)), "1.5 kB live at the end in 8 processes"));
  const auto is_live_known = [&](const std::string& name, double sum, double max) {
    adaptyst::profile changed = made;
    add(changed.regions[0], name, sum, max);
    const std::string text = unwrapped(adaptyst::to_table(changed));
    CHECK_FALSE(contains(text, "\nunknown changes"));
    return adaptyst::lib::list_memory_spaces(changed).at(0).live_bytes.has_value();
  };
  CHECK(is_live_known("unknown changes in Own", 1, 1));
  CHECK_FALSE(is_live_known("unknown changes in Cuda", 1, 1));
  CHECK_FALSE(is_live_known("bytes in use in Cuda", 4501, 4501));  // more than 500 + 4,000
  CHECK_FALSE(is_live_known("bytes allocated in Cuda", 0x1p60, 0x1p60));
  adaptyst::profile uncertain = made;
  add(uncertain.regions[0], "unknown changes in Cuda", 1, 1);
  CHECK(contains(unwrapped(adaptyst::to_table(uncertain)),
                 "high-water mark about 3.6 kB in step, unknown bytes live at the end"));
  uncertain = made;
  uncertain.regions[0].attributes["bytes already in use in Cuda"] = {2, 500, 100, 400, 2};  // of one process
  CHECK_FALSE(adaptyst::lib::list_memory_spaces(uncertain)[0].live_bytes);
  made.accounting.lost[adaptyst::loss_reason::too_deep] = 1;
  CHECK_FALSE(adaptyst::lib::list_memory_spaces(made)[0].live_bytes);
  CHECK(contains(unwrapped(adaptyst::to_table(made)), "unknown bytes live at the end"));
  made.accounting.lost.clear();
  add(made.regions[1], "bytes freed in Cuda", 9000, 100);  // more than observed
  CHECK_FALSE(adaptyst::lib::list_memory_spaces(made)[0].live_bytes);
  add(made.regions[1], "bytes in use in Cuda", -1, 1e300);
  CHECK(adaptyst::lib::list_memory_spaces(made).empty());
}
