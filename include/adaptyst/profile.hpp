// What a collector has found: plain data to walk, to merge and to write.
//
//   adaptyst::profile p = collector.stop();
//   for (const adaptyst::region& r : p.regions)
//     std::cout << r.path.back() << ' ' << r.count << " times, " << r.total_ns << " ns\n";
//
// Both engines make the same profile. A quantity that could not be had is empty, never 0. Times are nanoseconds. The
// structs own all that they refer to and have no tie to the collector; like any plain data, they may be read by several
// threads at once.
#ifndef ADAPTYST_PROFILE_HPP
#define ADAPTYST_PROFILE_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "error.hpp"
#include "level.hpp"

namespace adaptyst { inline namespace v1 {

enum class region_kind {
  region,
  offload,  // the host waits for what a device does
  wait,     // the host waits for devices
  kernel,   // from here on to other: an operation of a device
  copy_to,
  copy_from,
  fill,
  other,
  mark,
  function,  // without a marker
  metric,    // of markers alone: in a profile it is an attribute of the region around it
};

// Why something is not in the figures. Files call them by these names.
enum class loss_reason {
  // Of events: docs/design.md, The account.
  too_deep,
  rows_full,
  tables_full,
  no_memory,
  in_signal,
  bad_times,
  no_times,
  unknown_clock,
  device_lost,
  unmatched,
  kernel_rows_full,
  kernel_no_memory,
  kernel_busy,
  not_delivered,
  not_read,
  function_too_deep,
  // Of context and samples: docs/context.md, docs/samples.md.
  unreadable,
  other_layout,
  no_wakeup,
  counter_interrupts,
  stacks_full,
  truncated,
  clock_stopped,
  processors,
  not_announced,
  other,  // read from a file of a later version, which has more reasons
};
using losses = std::map<loss_reason, std::uint64_t>;  // those that did not occur are absent

// How a marker's events were recorded while an overhead budget was kept; the later, the cheaper.
struct budget_step {
  bool in_kernel = false;    // with a trap an event; otherwise by the program's own recorder
  std::uint64_t one_of = 1;  // how many events one was recorded of

  friend bool operator==(const budget_step& a, const budget_step& b) {
    return a.in_kernel == b.in_kernel && a.one_of == b.one_of;
  }
  friend bool operator<(const budget_step& a, const budget_step& b) {
    return a.in_kernel != b.in_kernel ? a.in_kernel : a.one_of < b.one_of;
  }
};

// Of the numbers that a machine computes with, and what limits a region there: docs/ceilings.md.
enum class flop_precision { double_precision, single_precision };
enum class roofline_bound { memory, compute };

// As files and tables have them: "copy_to", "gpu", "monotonic_raw", "too_deep"; "kernel", "recorder" or "1 of 64".
const char* to_string(region_kind kind);
const char* to_string(device_kind kind);
const char* to_string(clock_id clock);
const char* to_string(loss_reason reason);
const char* to_string(level which);
const char* to_string(flop_precision precision);
const char* to_string(roofline_bound bound);
std::string to_string(const budget_step& step);

// Counts of durations in log-linear buckets: any quantile to within 3 %, up to 19 hours.
class histogram {
 public:
  void add(std::uint64_t value_ns, std::uint64_t times = 1);
  // Adds to one bucket as docs/profile-schema.json numbers them.
  void add_bucket(unsigned bucket, std::uint64_t times);
  void merge(const histogram& other);

  std::uint64_t count() const noexcept { return count_; }
  // The value below which the fraction `q`, 0 … 1, of all values lies; empty when there are none.
  std::optional<std::uint64_t> quantile(double q) const;
  // Indexed by bucket; shorter than the number of buckets when the upper ones are empty.
  const std::vector<std::uint64_t>& buckets() const noexcept { return buckets_; }

  friend bool operator==(const histogram& a, const histogram& b) { return a.buckets_ == b.buckets_; }

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
};

// What became of a payload's member, or of a metric, over all events that had it.
struct attribute {
  std::uint64_t count = 0;
  double sum = 0, min = 0, max = 0;
  std::uint64_t metrics = 0;  // of count: from ADAPTYST_METRIC. A metric may be a level, whose sum means nothing

  void merge(const attribute& other);
};

struct source_location {
  std::string file;
  std::uint32_t line = 0;
  std::string function;
};

// What the kernel did with the threads that were in a region: times off the core are exact, as a thread stays in its
// region meanwhile; the time on it is what is left. Nanoseconds, summed over threads.
struct kernel_context {
  std::uint64_t wall_ns = 0;      // of the regions that have ended; 0: none has, or it is the context of a device
  std::uint64_t open = 0;         // regions that have not, and are part of what follows
  std::uint64_t runnable_ns = 0;  // waiting for a core
  std::uint64_t sleep_ns = 0, lock_ns = 0, io_ns = 0, other_ns = 0;  // blocked: until a time, on a futex, on files
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;    // to wait; while it could have run on
  std::uint64_t migrations = 0;                                      // to another core
  std::optional<std::uint64_t> minor_faults, major_faults;           // of pages; major: read from a disk
  // Of the processor, on its cores: estimates from some 1000 interrupts a second; absent where the machine does not
  // tell.
  std::optional<std::uint64_t> cycles, instructions, cache_misses;

  std::uint64_t blocked_ns() const { return sleep_ns + lock_ns + io_ns + other_ns; }
  // wall - runnable - blocked; empty while regions are open, and where wall_ns is 0.
  std::optional<std::uint64_t> on_cpu_ns() const;
  void merge(const kernel_context& other);
};

// How much of that there is to know.
struct context_account {
  std::uint64_t threads = 0;        // that have announced themselves to the kernel; 0: not known
  losses lost;                      // stretches off the core, page faults, or threads
  std::optional<double> cost_ns{};  // CPU time that it took, as the programs in the kernel saw it
};

// Samples of threads on their cores, taken by a clock on each.
struct sample_usage {
  std::uint64_t samples = 0;      // in regions and outside
  std::uint64_t observed_ns = 0;  // what they stand for, nanoseconds: of each, the time since its clock went off before
  losses lost;                    // samples, stretches off the core, or stacks
  std::optional<double> cost_ns{};  // CPU time that they took, as the programs in the kernel saw it

  std::optional<std::uint64_t> period_ns() const;  // what one stands for; empty when there are none
};

// A function that was met in stacks (docs/samples.md), with the time of the stacks that end in it.
struct sampled_frame {
  std::string name;
  std::uint32_t depth = 0;       // of the one that called it, and stands before it, one less; 0: the outermost
  std::uint64_t on_cpu_ns = 0;   // samples times what each stands for
  std::uint64_t blocked_ns = 0;  // these two are exact
  std::uint64_t waiting_ns = 0;  // for a core
};

// Stacks that were taken in a region, and not in one that is nested in it: callers before what they call.
struct region_stacks {
  std::uint64_t region = 0;  // its id; 0: outside all regions
  std::vector<sampled_frame> frames;
};

// How the threads of a region differ: of each, its own time in it, without nested regions.
struct thread_spread {
  std::uint64_t count = 0;  // threads whose time is known by itself
  std::uint64_t sum_ns = 0, min_ns = 0, max_ns = 0;

  void merge(const thread_spread& other);
};

// A sum of 128 bits, which stays at its greatest value where more would not fit.
struct wide_sum {
  std::uint64_t high = 0, low = 0;

  void add(const wide_sum& more);
  void add_square(std::uint64_t value);

  friend bool operator==(const wide_sum& a, const wide_sum& b) { return a.high == b.high && a.low == b.low; }
};

// A figure of each rank, over all ranks that have it: integers alone, so that neither the number of ranks nor the order
// of adding leaves a trace. Of equal extremes the lowest rank's is named.
struct rank_totals {
  std::uint64_t min = 0, max = 0;
  std::uint32_t min_rank = 0, max_rank = 0;
  std::string min_host, max_host;
  wide_sum sum, squares;
  histogram values;

  void add(std::uint64_t value, std::uint32_t rank, const std::string& host);
  void merge(const rank_totals& other);

  // Empty where no rank has it. The standard deviation is that of these ranks, not an estimate for others; it is empty
  // where the squares do not fit.
  std::optional<double> mean() const;
  std::optional<double> stddev() const;
  std::optional<std::uint64_t> quantile(double q) const;
};

// How the ranks of an MPI program differ in a region.
struct rank_spread {
  std::uint64_t ranks = 0;  // that have it
  rank_totals total_ns;

  void merge(const rank_spread& other);
  std::optional<double> imbalance() const;  // the greatest over the mean, less 1; empty: no time
};

// Calls that no rank leaves before all have come: how long ranks waited in them for the last one.
struct joint_waits {
  std::uint64_t calls = 0;      // that were looked at: each once, whatever the number of its ranks
  std::uint64_t step = 1;       // one call of so many was
  std::uint64_t time_ns = 0;    // in these, a sum over ranks
  std::uint64_t waited_ns = 0;  // of it: waiting for the last one
  // For whom that was waited longest: the rank, how often it was the last, and how long the others waited then.
  std::uint32_t last_rank = 0;
  std::string last_host;  // empty: not known
  std::uint64_t last_calls = 0;
  std::uint64_t last_waited_ns = 0;
};

// What a machine can do at most, as `adaptyst doctor --ceilings` measured it there: docs/ceilings.md.
struct machine_ceilings {
  std::string host, cpu;   // the machine's name, and the model of its processor
  std::string measured;    // when: ISO 8601 in UTC
  std::uint32_t cpus = 0;  // that took part in the figures of all
  flop_precision precision = flop_precision::double_precision;
  // Of one thread, and of one on each of these CPUs together.
  double one_gflops = 0, one_gbytes_per_s = 0, all_gflops = 0, all_gbytes_per_s = 0;
};

// How near a region of the host came to what its machine can do. Rates are those of one thread while it was in the
// region, and so are the ceilings: the least of what one thread attains alone, and its part of what all attain together.
struct roofline {
  double flops_per_byte = 0;     // the arithmetic intensity
  double gflops = 0;             // attained: 10^9 operations in a second
  double gbytes_per_s = 0;       // attained: 10^9 bytes in a second
  double attainable_gflops = 0;  // with this intensity
  double share = 0;              // of that, attained
  roofline_bound bound = roofline_bound::memory;
  std::uint32_t threads = 1;  // that were taken to have worked at once
};

// One call path on one device.
struct region {
  std::vector<std::string> path;  // names from the root of the thread; a payload's texts in brackets behind the name
  std::uint64_t id = 0;           // of the path and device, equal in all processes that run the same code
  std::uint64_t parent = 0;       // the id of the path above, 0 at the root
  source_location site;
  region_kind kind = region_kind::region;
  std::optional<adaptyst::level> level;  // that its marker gives itself; absent: none
  std::uint32_t device = 0;              // an index into profile::devices
  std::uint32_t threads = 0;             // how many ran it; 0: not known
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;  // without nested regions of the same thread
  // Absent where no thread's time is known by itself: the kernel adds them up, and threads that run one after another
  // share a recorder.
  std::optional<thread_spread> per_thread;
  std::uint64_t min_ns = 0, max_ns = 0;
  histogram durations;
  std::map<std::string, attribute> attributes;
  std::optional<double> overhead_ns;  // what observing it cost: events × what one costs
  // Of a row on which an overhead budget has left events out, so that count, total_ns, self_ns, durations and
  // attributes are estimates: how many were timed, and the variances of count and total_ns. Absent where all were.
  std::optional<std::uint64_t> timed_events;
  std::optional<double> count_variance, total_variance;
  // How long its marker was recorded how, in ns of each process. Empty without an overhead budget.
  std::map<budget_step, std::uint64_t> measured_on;
  // Absent for what is bound to no scope, and where the kernel was not asked. With nested regions; without.
  std::optional<kernel_context> context, self_context;
  std::optional<std::uint64_t> samples;        // on a core, without nested regions; absent: none were asked for
  std::optional<rank_spread> across_ranks;     // absent: of one rank, or of none
  std::optional<joint_waits> joint;            // absent: it is no such call, or it was not looked at
  std::optional<adaptyst::roofline> roofline;  // absent: flops, bytes or ceilings are not known

  // A quantile of the durations, within [min_ns, max_ns]; empty when nothing was counted.
  std::optional<std::uint64_t> quantile_ns(double q) const;
  // Standard errors of count and total_ns; empty where neither is an estimate.
  std::optional<double> count_error() const;
  std::optional<double> total_error_ns() const;
};

// What clock a device's times were taken in, and how it was converted to CLOCK_MONOTONIC.
struct device_clock_usage {
  clock_id clock = clock_id::unknown;
  std::uint32_t sync_points = 0;
  std::int64_t offset_ns = 0;     // CLOCK_MONOTONIC less this clock
  double drift_ppm = 0;           // by how much faster CLOCK_MONOTONIC runs
  std::uint64_t residual_ns = 0;  // by how much the last sync point was off
};

// Waits of operations: their sum and their distribution.
struct latencies {
  std::uint64_t total_ns = 0;
  histogram durations;
};

// How much was moved or computed, and in what time.
struct amount {
  double sum = 0;
  std::uint64_t time_ns = 0;

  std::optional<double> per_second() const;
};

// A processor. Its times are unions: what it did at once counts once. They add up:
//   observed = busy + idle,  busy = kernel + exposed copy + other,  idle = launch idle + starved
struct device_usage {
  device_kind kind = device_kind::other;
  std::uint32_t index = 0;
  std::string name;
  std::uint64_t observed_ns = 0;         // how long it was looked at
  std::optional<std::uint64_t> busy_ns;  // for the host: CPU time of the process over the CPUs that it may use
  std::optional<std::uint64_t> kernel_ns;
  std::optional<std::uint64_t> copy_ns;          // copies in either direction, and fills
  std::optional<std::uint64_t> exposed_copy_ns;  // copying while no kernel ran
  std::optional<std::uint64_t> launch_idle_ns;   // idle although something had been submitted
  std::optional<std::uint64_t> awaited_ns;       // busy while the host waited for a device
  std::optional<std::uint64_t> work_ns;          // a sum over operations of their durations
  std::uint64_t operations = 0;                  // also offloads, for which the host waited
  std::uint32_t queues = 0;                      // 64: at least that many
  std::optional<latencies> queue_wait;           // submitted to started
  std::optional<latencies> launch_latency;       // of that, with nothing before it in its queue
  std::optional<amount> to_device, from_device;  // bytes, over the sum of the copies' durations
  std::optional<amount> flops;                   // over the time in which kernels ran
  std::optional<device_clock_usage> clock;       // absent: times came in CLOCK_MONOTONIC
  std::uint64_t late = 0;                        // operations that came too late to be placed exactly
  std::uint64_t skipped = 0;                     // operations and waits of the process that could not be booked
  // Only the host has it: all threads that announced themselves, in and out of regions; absent: none did.
  std::optional<kernel_context> context;

  std::optional<std::uint64_t> idle_ns() const;
  std::optional<std::uint64_t> other_ns() const;    // busy with neither kernels nor copies
  std::optional<std::uint64_t> starved_ns() const;  // idle, and nothing had been submitted
  std::optional<double> utilisation() const;        // busy over observed, 0 … 1
  std::optional<double> concurrency() const;        // operations at a time, while busy
  std::optional<double> overlap() const;            // the part of its busy time in which the host did not wait, 0 … 1
};

// How the host and its devices went together.
struct offload_usage {
  std::uint64_t observed_ns = 0;           // sum over processes
  std::optional<std::uint64_t> waited_ns;  // in which a thread of the host waited for a device; absent: none said so
  std::optional<std::uint64_t> busy_ns;    // in which any device was busy
};

// What went into the file of a timeline.
struct timeline_usage {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;  // for which there was no room in a thread's ring, or in the file
  // Left out: values of metrics that had not changed since the first; events of regions that the overhead budget thinned
  // (an estimate); events that came when the file had the size of options::timeline_limit.
  std::uint64_t unchanged = 0, thinned = 0, beyond_limit = 0;
};

// Of programs that ended without telling, and took with them what was in their recorders.
struct unread_programs {
  std::uint64_t programs = 0;
  std::uint64_t up_to_ns = 0;  // between the last reading and the end, at most
};

// Programs that could not be looked into: their memory is not to be read, or markers in them were built with other
// headers.
struct refused_programs {
  std::uint64_t programs = 0;
  std::string why;  // a reason; of a merged profile all, joined by " | "
};

// Of an overhead budget, nanoseconds of CPU time: what the processes used while they were observed, how much of it
// observing might cost, and what it has cost: events, by what one costs where nothing else is done, context and
// samples.
struct budget_usage {
  double cpu_ns = 0;
  double allowed_ns = 0;
  double cost_ns = 0;

  // By more than a third.
  bool is_missed() const;
};

// begun = ended + open + the sum of lost, always.
struct account {
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t open = 0;
  losses lost;
  std::uint64_t unmatched = 0;  // begins without an end (they are among the lost), and ends without a begin
  std::uint64_t unnamed = 0;    // call paths that were counted, but could not be named at the time
  std::optional<double> overhead_ns;
  std::optional<unread_programs> unread;  // what they lost is among the lost as "not_read", estimated; so is begun then
  // What they lost is unknown: one event each is among the lost as "not_read".
  std::optional<refused_programs> refused;
};

// A region in which threads of a process were when it ended.
struct last_region {
  std::vector<std::string> path;
  std::uint64_t threads = 0;
  std::uint64_t age_ns = 0;  // of the oldest
};

// A thread since its start, as far as that was seen. What is missing of the time that it existed, it was blocked.
struct thread_info {
  std::int64_t tid = 0;
  std::string name;
  std::uint64_t alive_ns = 0;
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t runnable_ns = 0;            // waiting for a core
  std::optional<std::uint32_t> last_cpu{};  // where it was last
};

struct process_info {
  std::int64_t pid = 0;
  std::string command;
  std::string host;
  std::uint64_t duration_ns = 0;         // 0: not known
  std::vector<last_region> ended_in{};   // the innermost of each thread, of a process that has ended in the middle
  std::vector<std::string> arguments{};  // its name first; empty: not known
  std::string started{};                 // when it began to be observed, ISO 8601 in UTC; empty: not known
  // That ran markers at a time, at most: a short-lived thread may hand its place to the next. Empty: not known.
  std::optional<std::uint32_t> threads{};
  std::optional<std::uint32_t> rank{};    // in its MPI program; empty: it has none
  bool killed = false;                    // it left what it had recorded, and no report
  std::optional<std::uint32_t> signal{};  // that ended it; empty: none did, or that is not known
  std::optional<std::int64_t> parent{};   // the process that has started it; empty: not known
  std::optional<std::uint64_t> cpu_ns{};  // of all its threads, while it was observed
  static constexpr std::size_t max_threads = 64;
  std::vector<thread_info> thread_list{};  // those that were longest on a core, also without markers; empty: not known
};

// Memory, and the processors that are next to it.
struct machine_node {
  std::uint64_t node = 0;  // the system's number of it
  std::optional<std::uint64_t> socket{};
  std::string cpus;  // as the system lists them: "0-7,16-23"
  std::optional<std::uint64_t> memory_bytes{};
};

struct machine_device {
  std::string kind;                     // gpu, accelerator or network, by its class
  std::string address;                  // on the PCI bus
  std::string id;                       // of vendor and device, in hexadecimal
  std::optional<std::uint64_t> node{};  // the memory that it is next to; empty: not known
};

// A machine on which something was observed, as /sys describes it.
struct machine {
  static constexpr std::size_t max_devices = 64;
  std::string host;
  std::optional<std::uint64_t> sockets{}, cores{};
  std::optional<std::uint64_t> cpus{};  // logical processors that are online
  std::vector<machine_node> nodes{};
  std::vector<machine_device> devices{};
};

// Processes that are counted, and not among profile::processes.
struct unlisted_processes {
  std::uint64_t processes = 0;
  std::uint64_t duration_ns = 0;
};

struct rank_place {
  std::uint32_t rank = 0;
  std::string host;
};

// Ranks of which something is to be said: how many, and the lowest of them.
struct rank_list {
  static constexpr std::size_t max_first = 16;
  std::uint64_t count = 0;
  std::vector<rank_place> first{};

  void add(std::uint32_t rank, const std::string& host);
  void merge(const rank_list& other);
};

struct program_ranks {
  std::string program;
  rank_list ranks;
};

// What is known of the ranks of a merged profile, in addition to their figures.
// Ranks of one host, and a time of all of them.
struct node_time {
  std::string host;
  std::uint64_t ranks = 0;
  std::uint64_t time_ns = 0;
};

// Standard errors of a time of each rank, in whole nanoseconds.
struct rank_errors {
  wide_sum squares;               // of all ranks
  std::uint64_t greatest_ns = 0;  // of one rank

  void merge(const rank_errors& other);
};

// How long the ranks of an MPI program were in MPI and outside, and POP's efficiencies: the parallel one is the product of
// load balance and communication, load balance that of its parts within nodes and between nodes (docs/mpi.md). Empty where
// there is no time, or where the nodes are not known.
// Where an overhead budget has thinned calls of MPI, the efficiencies are estimates: each has a standard error, and is
// empty where that is greater than the efficiency.
struct mpi_usage {
  std::uint64_t longest_ns = 0;               // the run of the rank that took longest, from the end of MPI_Init on
  std::uint64_t ranks_without = 0;            // in which no call of MPI was seen: they are in no other figure
  rank_spread outside;                        // of each rank: of that run, the time outside MPI
  std::optional<rank_errors> outside_errors;  // empty: all of these times are exact
  std::optional<node_time> busiest;  // the node whose ranks were outside it longest on average; empty: not known

  void merge(const mpi_usage& other);
  std::optional<double> parallel_efficiency() const;
  std::optional<double> load_balance() const;
  std::optional<double> load_balance_in() const;   // within nodes
  std::optional<double> load_balance_out() const;  // between nodes
  std::optional<double> communication_efficiency() const;
  // Their standard errors; empty where they are exact, or there is no such efficiency.
  std::optional<double> parallel_error() const;
  std::optional<double> load_balance_error() const;
  std::optional<double> load_balance_in_error() const;
  std::optional<double> load_balance_out_error() const;
  std::optional<double> communication_error() const;
};

struct rank_account {
  std::uint64_t end = 0;  // one more than the greatest rank
  // All hosts where there are fewer than max_hosts; otherwise those whose hashes are the lowest, from which their number
  // is estimated.
  static constexpr std::size_t max_hosts = 256;
  std::vector<std::string> hosts;
  static constexpr std::size_t max_programs = 32;
  std::vector<program_ranks> programs;  // the first by the alphabet
  rank_list without_regions;
  rank_list killed;   // see process_info
  rank_list missing;  // nothing came of them

  void merge(const rank_account& other);
  std::uint64_t count_hosts() const;  // within 7 % where there are max_hosts or more
};

// The time of the largest rows by rank: bin b holds the ranks from b * ranks_per_bin on. Empty: none of them has the row.
struct heat_row {
  using times = std::vector<std::optional<std::uint64_t>>;
  std::uint64_t region = 0;
  std::uint32_t device = 0;
  times mean_ns;
  times min_ns, max_ns;  // no elements where a bin holds one rank
};
struct heat_map {
  static constexpr std::size_t max_rows = 64, max_bins = 1024;
  std::uint64_t ranks = 0;  // they are numbered from 0 to below this
  std::uint64_t ranks_per_bin = 1;
  std::vector<heat_row> rows;
};

struct profile {
  std::string engine;                           // ebpf, inline or off
  std::string mechanism;                        // how events were caught, e.g. "uprobe_multi, nop5 optimised"
  std::string reason;                           // why this engine
  std::string version;                          // of the adaptyst that has collected it
  std::map<std::string, std::string> metadata;  // adaptyst::metadata()
  std::optional<std::uint64_t> metadata_lost;   // calls of that for which there was no room; absent: none
  std::map<std::string, std::string> options;   // that were asked for, by name: what differs from the defaults
  std::vector<device_usage> devices;            // the first is the host's CPU
  offload_usage offload;
  std::vector<region> regions;  // parents before children
  account accounting;
  std::optional<budget_usage> budget;  // absent: none was kept
  // What a region that holds nothing lasts here, by the recorder's own timestamps: so much of each duration is no work.
  std::optional<double> timer_floor_ns;
  // What such a region lasts under a thinned marker, by which the durations of timed events were shortened, and the
  // uncertainty of that, which is part of their totals' errors. Absent: there was no budget.
  std::optional<double> thinned_floor_ns, thinned_floor_error_ns;
  std::optional<timeline_usage> timeline;  // absent: none was asked for
  std::optional<context_account> context;  // absent: the kernel was not asked
  std::optional<sample_usage> samples;     // absent: none were asked for
  // By region, the frames with most time, up to max_frames; what is below them is added up as "(others)".
  static constexpr std::size_t max_frames = 2048;
  std::vector<region_stacks> stacks;
  // Where no marker ran, and the kernel let us sample: how often threads were in which functions, of the most frequent;
  // in all others together: "(others)".
  std::map<std::string, std::uint64_t> functions;
  // Functions that were to be regions, that the program imports, and that can have no probe, with the reason: their
  // time is that of what calls them.
  std::map<std::string, std::string> not_probed;
  // Of a profile of many ranks, up to max_processes of them; of more, those that are extremes somewhere.
  static constexpr std::size_t max_processes = 1024;
  std::vector<process_info> processes;
  std::optional<unlisted_processes> unlisted;
  // Those of the hosts that come first by the alphabet, up to max_machines; empty: not known.
  static constexpr std::size_t max_machines = 64;
  std::vector<machine> machines;
  std::optional<std::uint64_t> ranks;  // of an MPI program that were merged
  std::optional<rank_account> about_ranks;
  std::optional<mpi_usage> mpi;              // absent: no calls of MPI were seen, or ranks were not merged
  std::optional<heat_map> heat;              // absent also where merged profiles were merged again
  std::optional<machine_ceilings> ceilings;  // by which regions have a roofline; absent: none has

  // The rank whose profile it is; empty: of none, or of several.
  std::optional<std::uint32_t> rank() const;
  // When the first of the processes began to be observed, ISO 8601 in UTC; empty: not known.
  std::optional<std::string> date() const;
  // Whether there is anything to tell of markers, be it that something was lost.
  bool has_markers() const;
  // Whether a device's number is that of the host's CPU, and not of a device that is a CPU as well.
  bool is_host(std::uint32_t device) const;
};

// What a process has recorded into a file (options::keep) that was killed, or has not ended yet. Throws
// adaptyst::error, which says whose file it is not.
profile read_kept(const std::string& file);
// Whether it is such a file.
bool is_kept(const std::string& file);

// Adds `from` to `into`; of two ranks, rows say from then on how ranks differ. What several processes of a rank did is to
// be added up first. Associative and commutative but for the order of regions, devices and processes, which is made
// canonical, and for the rounding of floating-point sums.
void merge(profile& into, const profile& from);

// The efficiencies of POP and TALP, 0 … 1; what cannot be told is absent. For D devices with useful time U (kernels)
// and active time A (kernels and exposed copies), observed for T:
//
//   device parallel efficiency   sum U / (D T), the product of the three that follow
//     load balance               (sum U / D) / max U
//     communication              max U / max A
//     orchestration              max A / T
//   device offload efficiency    of the host: 1 - waited / T. Time in MPI is not taken out.
//
// A thread that waits counts as the whole process. Definitions: BSC's DLB/TALP, https://pop-coe.eu.
struct efficiencies {
  std::optional<double> device_parallel, device_load_balance, device_communication, device_orchestration;
  std::optional<double> device_offload;
};
efficiencies compute_efficiencies(const profile& profile);

// What regions are listed by below their parents, the greatest first; names by the alphabet.
enum class region_order { time, self, calls, mean, p99, name };

// How much of a profile a table shows, in what order, and how wide it is. What is left out is given in one line.
//
//   adaptyst::table_options how;
//   how.sort = adaptyst::region_order::self;
//   how.rows = 20;
//   std::cout << adaptyst::to_table(profile, how);
struct table_options {
  std::size_t columns = 100;  // of the terminal; at least 80
  region_order sort = region_order::time;
  static constexpr std::size_t usual_rows = 200, usual_depth = 20;  // unless it is a CSV, which is whole
  static constexpr std::size_t usual_rows_of_markdown = 10;
  std::optional<std::size_t> rows;   // those that are greatest, and what they are nested in; 0: all; empty: as usual
  std::optional<std::size_t> depth;  // levels of nesting; the same
  double least_share = 0;            // rows whose time is a smaller part of the run are left out
};

// The profile as JSON (docs/profile-schema.json), or as the table that a collector prints (docs/report.md).
std::string to_json(const profile& profile);
std::string to_table(const profile& profile, const table_options& how = {});
// A page in HTML that shows the whole profile in any browser, offline (docs/page.md).
std::string to_html(const profile& profile);
// Its regions: a line for each, in raw units (RFC 4180), by default all of them; in Markdown the findings
// and the largest of them, for an issue, a review or a mail.
std::string to_csv(const profile& profile, const table_options& how = {});
std::string to_markdown(const profile& profile, const table_options& how = {});

// What to_json() has written: to_json(from_json(text)) is `text` again. Throws error, which says what is wrong and
// where, for anything that is no profile of schema 1.
profile from_json(std::string_view text);

// The same from and to a file; what is written appears there in one step, or not at all. Both throw error.
profile read_profile(const std::string& file);
void write_profile(const std::string& file, const profile& profile);

}}  // namespace adaptyst::v1

#endif
