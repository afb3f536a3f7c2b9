// Findings: for each kind a profile in which it stands, and ones in which it nearly does.
#include <adaptyst/profile/findings.hpp>

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "catch.hpp"
#include "samples.hpp"

namespace {

using adaptyst::finding;
using adaptyst::finding_kind;
using adaptyst::next_step;
using adaptyst::profile;
using adaptyst::region_kind;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t run_ns = 1000 * ms;

// Two threads of which each passes through it 50 times, for half the run in all.
adaptyst::region region(std::vector<std::string> path) {
  adaptyst::region made;
  made.path = std::move(path);
  made.id = made.path.size();
  made.threads = 2;
  made.count = 100;
  made.total_ns = made.self_ns = 500 * ms;
  made.min_ns = made.max_ns = 5 * ms;
  made.durations.add(5 * ms, 100);
  made.overhead_ns = 3000;
  made.context.emplace();
  made.context->wall_ns = made.total_ns;
  made.context->voluntary_switches = 200;
  made.context->involuntary_switches = 30;
  made.context->minor_faults = 100;
  made.context->major_faults = 0;
  made.self_context = made.context;
  made.per_thread = {2, 500 * ms, 240 * ms, 260 * ms};
  return made;
}

// A device that is busy nine tenths of the run.
adaptyst::device_usage device() {
  adaptyst::device_usage made;
  made.kind = adaptyst::device_kind::gpu;
  made.observed_ns = run_ns;
  made.busy_ns = made.work_ns = 900 * ms;
  made.kernel_ns = 850 * ms;
  made.copy_ns = made.exposed_copy_ns = 50 * ms;
  made.launch_idle_ns = 50 * ms;
  made.operations = 1100;
  made.launch_latency.emplace();
  made.launch_latency->durations.add(10'000, 1000);
  return made;
}

adaptyst::region operation(const char* name, region_kind kind, std::uint64_t count, std::uint64_t each_ns) {
  adaptyst::region made;
  made.path = {"step", name};
  made.kind = kind;
  made.device = 1;
  made.count = count;
  made.total_ns = count * each_ns;
  made.min_ns = made.max_ns = each_ns;
  made.durations.add(each_ns, count);
  return made;
}

// Of one second: nothing to complain of.
profile clean() {
  profile made;
  made.engine = "ebpf";
  made.processes = {{42, "/bin/solver", "host", run_ns, {}}};
  made.devices.resize(1);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[0].observed_ns = run_ns;
  made.devices[0].busy_ns = 950 * ms;
  made.devices.push_back(device());
  made.context.emplace();
  made.timer_floor_ns = 20;
  made.regions = {region({"step"}), region({"step", "flux"}), operation("kernel", region_kind::kernel, 1000, 850'000),
                  operation("copy", region_kind::copy_to, 100, 500'000)};
  return made;
}

adaptyst::region& flux(profile& profile) { return profile.regions[1]; }
adaptyst::os_context& own(profile& profile) { return *flux(profile).self_context; }

std::vector<finding_kind> kinds(const profile& profile) {
  std::vector<finding_kind> all;
  for (const finding& finding : adaptyst::analyse(profile)) all.push_back(finding.kind);
  return all;
}

bool is_clean(const profile& profile) {
  const std::vector<finding_kind> found = kinds(profile);
  for (const finding_kind kind : found) UNSCOPED_INFO(adaptyst::to_string(kind));
  return found.empty();
}

// What is found, which must be one thing.
finding only(const profile& profile, finding_kind kind) {
  const std::vector<finding> all = adaptyst::analyse(profile);
  REQUIRE(all.size() == 1);
  CHECK(std::string(adaptyst::to_string(all[0].kind)) == adaptyst::to_string(kind));
  CHECK(all[0].share == Approx(all[0].time_ns / static_cast<double>(run_ns)));
  return all[0];
}

void check_in_flux(const finding& finding) {
  CHECK(finding.path == std::vector<std::string>{"step", "flux"});
  CHECK(finding.region == 2);
  CHECK(finding.device == 0);
}

// Numbers in durations, and what follows from them.
void set_durations(adaptyst::region& region, const std::vector<std::uint64_t>& all) {
  region.durations = {};
  region.count = region.total_ns = 0;
  region.min_ns = ~std::uint64_t{0};
  region.max_ns = 0;
  for (const std::uint64_t duration : all) {
    region.durations.add(duration);
    region.total_ns += duration;
    region.min_ns = std::min(region.min_ns, duration);
    region.max_ns = std::max(region.max_ns, duration);
    ++region.count;
  }
  region.self_ns = region.total_ns;
  region.per_thread.reset();
  region.context.reset();
  region.self_context.reset();
}

std::string unwrapped(const std::string& table) {
  std::istringstream words(table);
  std::string all;
  for (std::string word; words >> word;) all += word + ' ';
  return all;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("of a clean profile, and of an empty one, nothing is found") {
  CHECK(is_clean(clean()));
  CHECK(is_clean({}));
  profile without = clean();
  without.processes.clear();
  own(without).lock_ns = 400 * ms;
  CHECK(is_clean(without));  // of no run there is no share
}

TEST_CASE("a lock for which threads are blocked") {
  profile in = clean();
  own(in).lock_ns = 150 * ms;
  const finding found = only(in, finding_kind::lock_wait);
  check_in_flux(found);
  CHECK(found.time_ns == 150e6);
  CHECK(found.value == Approx(0.3));
  CHECK(found.against == Approx(0.2));
  CHECK(found.count == 200);
  CHECK(found.next == next_step::hold_locks_shorter);
  CHECK_FALSE(found.error_ns.has_value());
}

TEST_CASE("what is blocked on a futex, and is no lock that is in the way") {
  profile in = clean();
  own(in).lock_ns = 99 * ms;  // less than a fifth
  CHECK(is_clean(in));
  own(in).lock_ns = 150 * ms;
  flux(in).kind = region_kind::wait;  // the host waits for a device on purpose
  CHECK(is_clean(in));
  flux(in).kind = region_kind::offload;
  CHECK(is_clean(in));
  flux(in).kind = region_kind::region;
  own(in).open = 1;  // not all is known
  CHECK(is_clean(in));
  own(in).open = 0;
  in.processes[0].duration_ns = 10'000 * ms;  // little of the run
  CHECK(is_clean(in));
  in = clean();
  flux(in).threads = 1;  // it waits for others to end, ten times
  own(in).voluntary_switches = 10;
  own(in).lock_ns = 150 * ms;
  CHECK(is_clean(in));
  own(in).voluntary_switches = 100;
  only(in, finding_kind::lock_wait);
}

TEST_CASE("a little of a short run is not worth a word") {
  profile in = clean();
  in.processes[0].duration_ns = 20 * ms;
  own(in).wall_ns = 20 * ms;
  own(in).lock_ns = 9 * ms;
  in.regions.erase(in.regions.begin() + 2, in.regions.end());
  CHECK(is_clean(in));
}

TEST_CASE("threads that could run, and have no core") {
  profile in = clean();
  own(in).runnable_ns = 200 * ms;
  own(in).sleep_ns = 100 * ms;  // in which it could not have run
  in.regions[0].self_context->runnable_ns = 150 * ms;
  const finding found = only(in, finding_kind::core_wait);
  check_in_flux(found);
  CHECK(found.time_ns == 350e6);  // in both regions
  CHECK(found.value == Approx(350.0 / 900));
  CHECK(found.count == 60);
  CHECK(found.next == next_step::use_fewer_threads);
  in.devices[0].busy_ns = 500 * ms;
  CHECK(only(in, finding_kind::core_wait).next == next_step::free_the_cores);
  own(in).runnable_ns = 75 * ms;
  in.regions[0].self_context->runnable_ns = 99 * ms;
  CHECK(is_clean(in));
}

namespace {

// "step" with its own 500 ms, with "flux", which is sampled, and "pack", which is not.
profile sampled_profile() {
  profile in = clean();
  in.regions.resize(2);
  in.devices.resize(1);
  in.regions.push_back(region({"step", "pack"}));
  in.regions[2].id = 3;
  in.regions[1].parent = in.regions[2].parent = in.regions[0].id;
  in.regions[0].total_ns = 1500 * ms;
  in.regions[0].context->wall_ns = 1500 * ms;
  in.regions[0].self_context.reset();
  in.regions[1].context.reset();
  in.regions[1].self_context.reset();
  in.regions[1].timed_events = 10;
  return in;
}

adaptyst::os_context& around(profile& in) { return *in.regions[0].context; }

}  // namespace

TEST_CASE(
    "waits of the whole process count where a nested region is sampled, and the region that waits longest is named") {
  profile in = sampled_profile();
  in.processes[0].cpu_ns = 1000 * ms;
  in.devices[0].context.emplace();
  in.devices[0].context->runnable_ns = 800 * ms;
  in.devices[0].context->involuntary_switches = 70;
  around(in).runnable_ns = 700 * ms;
  in.regions[2].context->runnable_ns = in.regions[2].self_context->runnable_ns = 120 * ms;  // 24 % of a short time
  const finding found = only(in, finding_kind::core_wait);
  CHECK(found.path == std::vector<std::string>{"step"});  // 580 ms, with what is sampled in it
  CHECK(found.time_ns == 800e6);
  CHECK(found.value == Approx(800.0 / 1800));
  CHECK(found.count == 70);
  CHECK_FALSE(found.known_part);
  in.devices[0].context->runnable_ns = 200 * ms;  // a sixth, and no region waits for a fifth of its time
  around(in).runnable_ns = 160 * ms;
  in.regions[2].self_context->runnable_ns = in.regions[2].context->runnable_ns = 90 * ms;
  CHECK(is_clean(in));
}

TEST_CASE("where the sums of the process are not known, the part that is known is stated") {
  profile in = sampled_profile();
  in.regions[0].context.reset();
  in.regions[2].self_context->runnable_ns = 200 * ms;
  const finding found = only(in, finding_kind::core_wait);
  CHECK(found.path == std::vector<std::string>{"step", "pack"});
  REQUIRE(found.known_part);
  CHECK(*found.known_part == Approx(1.0 / 3));
  CHECK(contains(unwrapped(adaptyst::to_table(in)), "; known for 33.3% of the time in regions)"));
}

TEST_CASE("waits in a region of which a nested one is sampled are found") {
  profile in = sampled_profile();
  in.regions[2].context->lock_ns = in.regions[2].self_context->lock_ns = 99 * ms;
  around(in).lock_ns = 400 * ms;
  finding found = only(in, finding_kind::lock_wait);
  CHECK(found.path == std::vector<std::string>{"step"});
  CHECK(found.time_ns == 301e6);
  CHECK(found.value == Approx(0.301));  // of 1500 ms without those of "pack"
  CHECK_FALSE(found.known_part);
  in = sampled_profile();
  around(in).io_ns = 400 * ms;
  CHECK(only(in, finding_kind::io_wait).time_ns == 400e6);
  in = sampled_profile();
  around(in).minor_faults = 500'000;
  CHECK(only(in, finding_kind::page_faults).count == 499'900);
  in = sampled_profile();
  around(in).lock_ns = 199 * ms;  // below a fifth
  around(in).io_ns = 199 * ms;
  CHECK(is_clean(in));
  in = sampled_profile();  // of half of the ranks
  around(in).wall_ns = 1000 * ms;
  around(in).lock_ns = 400 * ms;
  found = only(in, finding_kind::lock_wait);
  REQUIRE(found.known_part);
  CHECK(*found.known_part == Approx(0.5));
}

TEST_CASE("threads that wait in a region of which a nested one is sampled are not unequal") {
  profile in = sampled_profile();
  in.regions[0].per_thread = {2, 500 * ms, 100 * ms, 400 * ms};
  only(in, finding_kind::thread_imbalance);
  around(in).sleep_ns = 160 * ms;
  CHECK(is_clean(in));
}

TEST_CASE("what observing cost is the sum of all regions, and the one with most of it is named") {
  profile in = clean();
  in.regions[0].overhead_ns = 90e6;  // less than a fifth of its time
  flux(in).total_ns = flux(in).self_ns = 200 * ms;
  flux(in).self_context->wall_ns = 200 * ms;
  flux(in).per_thread.reset();
  flux(in).overhead_ns = 60e6;
  const finding found = only(in, finding_kind::fine_markers);
  CHECK(found.path == std::vector<std::string>{"step"});
  CHECK(found.time_ns == 150e6);
  flux(in).overhead_ns = 30e6;
  CHECK(is_clean(in));
}

TEST_CASE("files or sockets for which threads are blocked") {
  profile in = clean();
  own(in).io_ns = 300 * ms;
  const finding found = only(in, finding_kind::io_wait);
  check_in_flux(found);
  CHECK(found.value == Approx(0.6));
  CHECK(found.next == next_step::do_larger_io);
  own(in).io_ns = 90 * ms;
  CHECK(is_clean(in));
}

TEST_CASE("memory that is touched for the first time again and again") {
  profile in = clean();
  own(in).minor_faults = 200'000;
  const finding found = only(in, finding_kind::page_faults);
  check_in_flux(found);
  CHECK(found.value == Approx(400'000));  // a second
  CHECK(found.time_ns == 100e6);          // at least
  CHECK(found.count == 200'000);
  CHECK(found.unit == adaptyst::finding_unit::per_second);
  CHECK(found.next == next_step::reuse_memory);
  flux(in).count = 1;  // it has to be done once
  CHECK(is_clean(in));
  in = clean();
  own(in).minor_faults = 90'000;
  CHECK(is_clean(in));
  own(in).minor_faults.reset();  // not asked for
  CHECK(is_clean(in));
}

TEST_CASE("memory that has to be read back from a disk is no I/O of the program") {
  profile in = clean();
  own(in).io_ns = 300 * ms;
  own(in).major_faults = 150;
  const finding found = only(in, finding_kind::page_faults);
  CHECK(found.value == Approx(0.6));
  CHECK(found.next == next_step::need_less_memory);
  own(in).major_faults = 50;  // of 200 waits
  only(in, finding_kind::io_wait);
  own(in).major_faults = own(in).voluntary_switches = 9;  // too few to be sure
  only(in, finding_kind::io_wait);
}

TEST_CASE("threads of which one has more to do") {
  profile in = clean();
  flux(in).threads = 4;
  flux(in).per_thread = {4, 500 * ms, 50 * ms, 200 * ms};
  const finding found = only(in, finding_kind::thread_imbalance);
  check_in_flux(found);
  CHECK(found.value == 200e6);
  CHECK(found.against == 125e6);
  CHECK(found.time_ns == 300e6);  // 3 x 200 that the others could have had, less 300 that they had
  CHECK(found.count == 4);
  CHECK(found.next == next_step::even_out_work);
  flux(in).per_thread->max_ns = 150 * ms;
  CHECK(is_clean(in));
  flux(in).per_thread = {4, 500 * ms, 50 * ms, 200 * ms};
  flux(in).across_ranks.emplace().ranks = 4;  // with one thread each
  CHECK(is_clean(in));
  flux(in).across_ranks->ranks = 2;
  only(in, finding_kind::thread_imbalance);
  flux(in).across_ranks.reset();
  flux(in).threads = 5;  // one of them is not known
  CHECK(is_clean(in));
  flux(in).threads = 4;
  own(in).sleep_ns = 151 * ms;  // in which they did nothing
  CHECK(is_clean(in));
  own(in).sleep_ns = 0;
  flux(in).self_ns = 600 * ms;  // nor of all that they did
  CHECK(is_clean(in));
}

TEST_CASE("teams of which the runtime says how long they waited for their last thread") {
  profile in = clean();
  flux(in).attributes["threads"] = {100, 400, 4, 4};
  flux(in).attributes["imbalance_ns"] = {100, 500e6, 0, 1e7};  // of 4 x 500 ms
  const finding found = only(in, finding_kind::thread_imbalance);
  check_in_flux(found);
  CHECK(found.value == Approx(0.25));
  CHECK(found.time_ns == 500e6);
  CHECK(found.count == 100);
  CHECK(contains(unwrapped(adaptyst::to_table(in)),
                 "1. step > flux: threads spent 25.0% of the time waiting for the slowest thread (500 ms, 50.0% of the "
                 "run; 100 events) try: give threads equal"));
  flux(in).attributes["imbalance_ns"].sum = 390e6;
  CHECK(is_clean(in));
  flux(in).attributes["imbalance_ns"] = {9, 500e6, 0, 1e7};
  CHECK(is_clean(in));
  flux(in).attributes["imbalance_ns"] = {100, __builtin_huge_val(), 0, 1e7};
  CHECK(is_clean(in));
}

TEST_CASE("a region that is slower than its own median, often enough to be no chance") {
  profile in = clean();
  std::vector<std::uint64_t> durations(1000, 400'000);
  for (std::size_t at = 0; at != 20; ++at) durations[at * 50] = 8 * ms;
  set_durations(flux(in), durations);
  const finding found = only(in, finding_kind::long_tail);
  check_in_flux(found);
  CHECK(found.count == 20);
  CHECK(found.time_ns == Approx(20 * 7.6e6).epsilon(0.06));
  REQUIRE(found.error_ns.has_value());
  CHECK(*found.error_ns == Approx(found.time_ns / std::sqrt(20)));
  CHECK(found.value == Approx(8e6).epsilon(0.06));
  CHECK(found.against == Approx(4e5).epsilon(0.03));
  CHECK(found.next == next_step::inspect_slow_events);
  durations.assign(1000, 400'000);
  for (std::size_t at = 0; at != 9; ++at) durations[at] = 16 * ms;  // too few to be sure
  set_durations(flux(in), durations);
  CHECK(is_clean(in));
  for (std::size_t at = 0; at != 110; ++at) durations[at] = 4 * ms;  // it does two things
  set_durations(flux(in), durations);
  CHECK(is_clean(in));
  durations.assign(200'000, 900);  // what an interrupt makes longer
  for (std::size_t at = 0; at != 10'000; ++at) durations[at * 20] = 9000;
  set_durations(flux(in), durations);
  CHECK(is_clean(in));
}

TEST_CASE("a tail of an estimate is as sure as the events that were seen") {
  profile in = clean();
  std::vector<std::uint64_t> durations(1000, 400'000);
  for (std::size_t at = 0; at != 20; ++at) durations[at * 50] = 8 * ms;
  set_durations(flux(in), durations);
  flux(in).timed_events = 600;
  CHECK(only(in, finding_kind::long_tail).count == 12);
  flux(in).timed_events = 400;
  CHECK(is_clean(in));
}

TEST_CASE("ordinary scatter is no tail") {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> waiting(1.0);
  std::lognormal_distribution<double> scattered(0.0, 0.5);
  for (int round = 0; round != 20; ++round) {
    profile in = clean();
    std::vector<std::uint64_t> durations;
    for (int event = 0; event != 2000; ++event)
      durations.push_back(static_cast<std::uint64_t>(250'000 * (round % 2 == 0 ? waiting(random) : scattered(random))));
    set_durations(flux(in), durations);
    CHECK(is_clean(in));
  }
}

TEST_CASE("a tail that the kernel or a nested region explains is told once") {
  profile in = clean();
  std::vector<std::uint64_t> durations(1000, 400'000);
  for (std::size_t at = 0; at != 20; ++at) durations[at * 50] = 8 * ms;
  set_durations(flux(in), durations);
  set_durations(in.regions[0], durations);
  check_in_flux(only(in, finding_kind::long_tail));
  flux(in).path.back() = "flux, next to it";
  flux(in).path.front() = "another";
  CHECK(kinds(in) == std::vector<finding_kind>(2, finding_kind::long_tail));
  flux(in).context.emplace();
  flux(in).context->sleep_ns = 100 * ms;
  CHECK(only(in, finding_kind::long_tail).path == std::vector<std::string>{"step"});
}

TEST_CASE("a region so short that measuring it is much of what is seen") {
  profile in = clean();
  flux(in).count = 5'000'000;  // of 100 ns, where an empty one takes 20
  const finding found = only(in, finding_kind::fine_markers);
  check_in_flux(found);
  CHECK(found.value == Approx(100));
  CHECK(found.against == 20);
  CHECK(found.time_ns == 100e6);
  CHECK(found.next == next_step::mark_larger_regions);
  flux(in).timed_events = 10'000;  // and shortened by what an empty one takes
  CHECK(is_clean(in));
  flux(in).timed_events.reset();
  flux(in).count = 4'000'000;
  CHECK(is_clean(in));
  flux(in).count = 5'000'000;
  in.timer_floor_ns.reset();
  CHECK(is_clean(in));
}

TEST_CASE("regions that cost what no budget would allow") {
  profile in = clean();
  in.regions[0].overhead_ns = 0;
  flux(in).overhead_ns = 120e6;
  const finding found = only(in, finding_kind::fine_markers);
  check_in_flux(found);
  CHECK(found.value == Approx(0.12));
  CHECK(found.against == Approx(0.05));
  flux(in).total_ns = 200 * ms;
  flux(in).overhead_ns = 45e6;
  CHECK(is_clean(in));
  flux(in).total_ns = 500 * ms;
  flux(in).overhead_ns = 90e6;  // less than a fifth of its own time
  CHECK(is_clean(in));
}

TEST_CASE("a budget that was missed, and by which regions") {
  profile in = clean();
  in.budget = {1e9, 20e6, 160e6};
  in.accounting.ended = 7000;
  flux(in).overhead_ns = 150e6;
  const finding found = only(in, finding_kind::fine_markers);
  check_in_flux(found);
  CHECK(found.value == Approx(0.16));
  CHECK(found.against == Approx(0.02));
  CHECK(found.time_ns == 160e6);
  CHECK(found.count == 7000);
  flux(in).overhead_ns = 2e6;  // many cost a little
  const finding all = only(in, finding_kind::fine_markers);
  CHECK(all.path.empty());
  CHECK(all.value == Approx(0.16));
  CHECK(all.next == next_step::mark_larger_regions);
  in.context = adaptyst::context_account{4, {}, 30e6};
  in.samples = adaptyst::sample_usage{1000, 1000, {}, 60e6};
  CHECK(only(in, finding_kind::fine_markers).next == next_step::reduce_kernel_data);
  in.budget->cost_ns = 26e6;  // by less than a third
  CHECK(is_clean(in));
}

TEST_CASE("a device that has nothing to do") {
  profile in = clean();
  in.devices[1].busy_ns = 700 * ms;
  const finding found = only(in, finding_kind::starved_device);
  CHECK(found.device == 1);
  CHECK(found.path.empty());
  CHECK(found.value == Approx(0.25));
  CHECK(found.count == 1100);
  CHECK(found.next == next_step::submit_earlier);
  in.devices[1].busy_ns = 760 * ms;
  CHECK(is_clean(in));
  in.devices[1].busy_ns = 700 * ms;
  in.devices[1].operations = 9;  // it was tried, and not used
  CHECK(is_clean(in));
  in.devices[1].operations = 1100;
  in.devices[1].launch_idle_ns.reset();
  CHECK(is_clean(in));
}

TEST_CASE("the time before the first submission starves no device") {
  profile in = clean();
  in.devices[1].busy_ns = 400 * ms;
  REQUIRE(only(in, finding_kind::starved_device).value == Approx(0.55));
  in.devices[1].unused_ns = 500 * ms;
  CHECK(is_clean(in));  // 50 ms of 500 ms
  in.devices[1].unused_ns = 400 * ms;
  const finding found = only(in, finding_kind::starved_device);
  CHECK(found.time_ns == Approx(150e6));
  CHECK(found.share == Approx(0.15));
  CHECK(found.value == Approx(0.25));
  in.devices[1].unused_ns = 5000 * ms;  // in a damaged file
  CHECK(is_clean(in));
}

TEST_CASE("a device that copies, and does nothing else") {
  profile in = clean();
  in.devices[1].exposed_copy_ns = in.devices[1].copy_ns = 300 * ms;
  const finding found = only(in, finding_kind::exposed_copies);
  CHECK(found.device == 1);
  CHECK(found.path == std::vector<std::string>{"step", "copy"});
  CHECK(found.value == Approx(1.0 / 3));
  CHECK(found.count == 100);
  CHECK(found.next == next_step::overlap_copies);
  in.devices[1].exposed_copy_ns = 170 * ms;  // the rest of them while kernels ran
  CHECK(is_clean(in));
}

TEST_CASE("kernels that are as short as their launches") {
  profile in = clean();
  in.devices[1].launch_idle_ns = 600 * ms;
  in.devices[1].busy_ns = in.devices[1].kernel_ns = 300 * ms;
  in.devices[1].exposed_copy_ns = 0;
  in.regions[2] = operation("kernel", region_kind::kernel, 20'000, 15'000);
  const finding found = only(in, finding_kind::launch_bound);
  CHECK(found.device == 1);
  CHECK(found.path == std::vector<std::string>{"step", "kernel"});
  CHECK(found.value == Approx(15'000));
  CHECK(found.against == Approx(10'000).epsilon(0.03));
  CHECK(found.count == 20'000);
  CHECK(found.next == next_step::launch_fewer_kernels);
  in.regions[2] = operation("kernel", region_kind::kernel, 2'000, 150'000);  // idle for another reason
  CHECK(is_clean(in));
  in.regions[2] = operation("kernel", region_kind::kernel, 99, 15'000);
  CHECK(is_clean(in));
}

TEST_CASE("findings stand in the order of their share, also where profiles are merged and read again") {
  profile in = clean();
  own(in).lock_ns = 150 * ms;
  in.regions[0].self_context->io_ns = 300 * ms;
  in.devices[1].busy_ns = 700 * ms;
  const std::vector<finding_kind> expected = {finding_kind::io_wait, finding_kind::starved_device,
                                              finding_kind::lock_wait};
  CHECK(kinds(in) == expected);
  const std::string text = adaptyst::to_json(in);
  CHECK(kinds(adaptyst::from_json(text)) == expected);
  CHECK(adaptyst::to_json(adaptyst::from_json(text)) == text);
  adaptyst::merge(in, profile(in));
  CHECK(kinds(in) == expected);
  CHECK(adaptyst::analyse(in)[0].share == Approx(0.3));
}

TEST_CASE("findings as data: one for each, and where there is none an empty list") {
  profile in = clean();
  CHECK(nlohmann::json::parse(adaptyst::to_json(in))["findings"] == nlohmann::json::array());
  own(in).lock_ns = 150 * ms;
  in.devices[1].busy_ns = 700 * ms;
  const nlohmann::json all = nlohmann::json::parse(adaptyst::to_json(in))["findings"];
  REQUIRE(all.size() == 2);
  CHECK(all[0]["kind"] == "starved_device");
  CHECK_FALSE(all[0].contains("path"));
  CHECK(all[0]["region"].is_null());
  CHECK(all[0]["device"] == 1);
  CHECK(all[1]["kind"] == "lock_wait");
  CHECK(all[1]["path"] == nlohmann::json({"step", "flux"}));
  CHECK(all[1]["region"] == "0000000000000002");
  CHECK(all[1]["share"].get<double>() == Approx(0.15));
  CHECK(all[1]["error_ns"].is_null());
  CHECK(all[1]["unit"] == "fraction");
  CHECK(all[1]["next"] == "hold_locks_shorter");
}

TEST_CASE("what a file says of findings is not believed") {
  nlohmann::json all = nlohmann::json::parse(adaptyst::to_json(clean()));
  all["findings"] = {{{"kind", "of a later version"}}};
  CHECK(is_clean(adaptyst::from_json(all.dump())));
  all["findings"] = nlohmann::json::array();
  CHECK(is_clean(adaptyst::from_json(all.dump())));
  all["findings"] = 7;
  CHECK_THROWS_AS(adaptyst::from_json(all.dump()), adaptyst::error);
}

TEST_CASE("the report begins with what was found, and has no word of it where nothing was") {
  profile in = clean();
  CHECK_FALSE(contains(adaptyst::to_table(in), "findings:"));
  own(in).lock_ns = 150 * ms;
  own(in).minor_faults = 200'000;
  in.devices[0].busy_ns = 500 * ms;
  in.regions[0].self_context->runnable_ns = 200 * ms;
  in.devices[1].exposed_copy_ns = in.devices[1].copy_ns = 300 * ms;
  const std::string table = adaptyst::to_table(in);
  CHECK(table.find("findings:\n") < table.find("REGION "));
  const std::string printed = unwrapped(table);
  CHECK(
      contains(printed,
               "1. gpu0: copied for 33.3% of its busy time while no kernel ran (300 ms, 30.0% of the run; 100 copies), "
               "above all in step > copy try: copy in a separate queue"));
  CHECK(contains(printed,
                 "2. threads had no core for 40.0% of the time in which they could run (200 ms, 20.0% of the run; 30 "
                 "involuntary switches), above all in step try: find what else uses"));
  CHECK(contains(
      printed,
      "3. step > flux: threads spent 30.0% of the time blocked on locks, barriers or other threads (150 ms, 15.0% "
      "of the run; 200 waits) try: hold locks"));
  CHECK(contains(
      printed, "4. step > flux: 571,000 page faults per second on a core (100 ms, 10.0% of the run; 200,000 faults)"));
  CHECK_FALSE(contains(printed, "more; "));
}

TEST_CASE("the share of the run is left out by its number, and not by a name with the same text") {
  profile in = clean();
  own(in).lock_ns = 150 * ms;
  CHECK(contains(unwrapped(adaptyst::to_table(in)), "30.0% of the time blocked on locks"));
  in.regions[1].path.back() = "flux 15.0% of it";
  CHECK(contains(unwrapped(adaptyst::to_table(in)), "(150 ms, 15.0% of the run; 200 waits)"));
}

TEST_CASE("each kind has a sentence") {
  profile in = clean();
  in.regions.resize(1);
  in.devices.resize(1);
  const auto table = [&](const adaptyst::region& region) {
    profile with = in;
    with.regions.push_back(region);
    return unwrapped(adaptyst::to_table(with));
  };
  adaptyst::region flux = region({"step", "flux"});
  flux.self_context->io_ns = 300 * ms;
  CHECK(contains(table(flux),
                 "step > flux: threads spent 60.0% of the time blocked on files, sockets or their events (300 ms"));
  flux.self_context->major_faults = 150;
  CHECK(contains(table(flux),
                 "step > flux: threads spent 60.0% of the time blocked until pages were read from a disk (300 ms"));
  flux = region({"step", "flux"});
  flux.per_thread = {2, 500 * ms, 100 * ms, 400 * ms};
  CHECK(contains(table(flux),
                 "step > flux: the slowest thread took 400 ms; the mean of all threads is 250 ms (300 ms, "));
  flux = region({"step", "flux"});
  flux.count = 5'000'000;
  CHECK(contains(table(flux), "step > flux: takes 100 ns on average; an empty region takes 20 ns (100 ms, "));
  flux.durations = {};
  for (int at = 0; at != 10; ++at) flux.durations.add(15);
  flux.total_ns = flux.self_ns = 15 * 5'000'000;
  CHECK(contains(table(flux), "step > flux: takes no longer than an empty region (20 ns)"));
  flux = region({"step", "flux"});
  flux.overhead_ns = 120e6;
  CHECK(
      contains(table(flux),
               "1. observation cost 12.0% of the run, and no limit is set; above 5.0%, the times include much overhead "
               "(120 ms; "));
  CHECK(contains(table(flux), "or set an overhead budget"));
  CHECK_FALSE(contains(table(flux), "observing them cost"));  // not twice
  CHECK(contains(table(flux), "), above all in step > flux try:"));
  in.budget = {1e9, 20e6, 160e6};
  CHECK(contains(table(flux), "1. observation cost 16.0% of the CPU time; the limit is 2.0% (160 ms; "));
  CHECK(contains(table(flux), "), above all in step > flux try:"));
  flux.overhead_ns = 0;
  CHECK(contains(table(flux), "1. observation cost 16.0% of the CPU time; the limit is 2.0% (160 ms; "));
  in.budget.reset();
  std::vector<std::uint64_t> durations(1000, 400'000);
  for (std::size_t at = 0; at != 20; ++at) durations[at * 50] = 8 * ms;
  set_durations(flux, durations);
  const std::string printed = table(flux);
  CHECK(contains(printed, "step > flux: some events took "));
  CHECK(contains(printed, " (95 %), "));
  in.devices.push_back(device());
  in.devices[1].busy_ns = 700 * ms;
  CHECK(contains(unwrapped(adaptyst::to_table(in)), "gpu0: idle 25.0% of the time, with nothing submitted (250 ms; "));
  in.devices[1].kind = adaptyst::device_kind::cpu;  // that is not the host
  CHECK(contains(unwrapped(adaptyst::to_table(in)), "ocl0: idle 25.0% of the time, with nothing submitted (250 ms; "));
  in.devices[1].kind = adaptyst::device_kind::accelerator;
  in.devices[1].busy_ns = in.devices[1].kernel_ns = 300 * ms;
  in.devices[1].exposed_copy_ns = 0;
  in.devices[1].launch_idle_ns = 600 * ms;
  in.regions.push_back(operation("kernel", region_kind::kernel, 20'000, 15'000));
  CHECK(contains(unwrapped(adaptyst::to_table(in)),
                 "acc0: kernels took 15.0 us on average; the median launch latency is "));
}

TEST_CASE("of many findings the first five are reported, and how many others there are") {
  profile in = clean();
  in.regions.clear();
  for (int at = 0; at != 12; ++at) {
    in.regions.push_back(region({"step " + std::to_string(at)}));
    in.regions.back().self_context->lock_ns = (150 + static_cast<std::uint64_t>(at)) * ms;
  }
  const std::string table = adaptyst::to_table(in);
  CHECK(contains(table, "1. step 11: "));
  CHECK(contains(table, "5. step 7: "));
  CHECK_FALSE(contains(table, "6. "));
  CHECK(contains(table, "(7 more; output=FILE.json has them all)\n"));
}

TEST_CASE("random and nasty profiles have findings that can be written") {
  for (std::uint64_t seed = 0; seed != 200; ++seed) {
    profile in = samples::generator(seed).profile();
    for (adaptyst::process_info& process : in.processes) process.duration_ns *= 1'000'000;
    adaptyst::to_table(in);
    const std::string text = adaptyst::to_json(in);
    CHECK(adaptyst::to_json(adaptyst::from_json(text)) == text);
  }
  adaptyst::to_table(samples::nasty_profile());
}

TEST_CASE("a region that allocates and frees all the time") {
  profile in = clean();
  adaptyst::heap_usage& heap = flux(in).heap.emplace();
  heap.frees = heap.allocations = 3'000'000;  // in half a second
  const finding found = only(in, finding_kind::heap_churn);
  check_in_flux(found);
  CHECK(found.value == Approx(6e6));
  CHECK(found.count == 3'000'000);
  CHECK(found.next == next_step::reuse_memory);
  CHECK(contains(unwrapped(adaptyst::to_table(in)),
                 "6,000,000 allocations per second, at least 90 % of them freed here (60.0 ms"));
  heap.allocations_variance = 4e12;  // an estimate from two samples
  CHECK(is_clean(in));
  heap.allocations_variance.reset();
  heap.frees = 2'000'000;  // it builds something
  CHECK(is_clean(in));
  heap.frees = heap.allocations = 2'400'000;
  CHECK(is_clean(in));
}

TEST_CASE("a region whose calls leave live blocks") {
  constexpr std::uint64_t mib = 1 << 20;
  profile in = clean();
  adaptyst::heap_usage& heap = flux(in).heap.emplace();  // 50 calls on each of two threads
  heap.allocated_bytes = 40 * mib;
  heap.allocations = 4000;
  heap.live_bytes = 20 * mib;
  heap.live_blocks = 2000;
  heap.live_byte_calls = 24.5 * 20 * mib;
  heap.high_water_bytes = 40 * mib;
  const std::vector<finding> all = adaptyst::analyse(in);
  REQUIRE(all.size() == 1);
  CHECK(all[0].kind == finding_kind::heap_growth);
  check_in_flux(all[0]);
  CHECK(all[0].share == Approx(0.5));
  CHECK(all[0].value == Approx(0.2 * mib));
  CHECK(all[0].count == 2000);
  CHECK(all[0].next == next_step::free_memory);
  CHECK(contains(unwrapped(adaptyst::to_table(in)), "50.0% of the high-water mark; 2,000 blocks"));
  heap.live_byte_calls = 0.5 * 20 * mib;  // a cache that the first calls have filled
  CHECK(is_clean(in));
  heap.live_byte_calls = 48.0 * 20 * mib;  // what the last calls hold
  CHECK(is_clean(in));
  heap.live_byte_calls = 24.5 * 20 * mib;
  heap.high_water_bytes = 300 * mib;
  CHECK(is_clean(in));
  heap.high_water_bytes = 40 * mib;
  heap.live_blocks = 9;
  CHECK(is_clean(in));
  heap.live_blocks = 2000;
  heap.live_variance = 100.0 * mib * mib;
  CHECK(is_clean(in));
  heap.live_variance = 2.0 * mib * mib;
  CHECK(adaptyst::analyse(in).size() == 1);
  flux(in).count = 20;  // ten for each thread
  CHECK(is_clean(in));
}
