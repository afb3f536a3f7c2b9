// Lists of the members of a profile's structs. Merging (profile.cpp), JSON both ways (lib/report) and
// docs/profile-schema.json follow them. Their order is that of the keys in a file; their descriptions are in the
// schema.
#ifndef ADAPTYST_LIB_MODEL_FIELDS_HPP
#define ADAPTYST_LIB_MODEL_FIELDS_HPP

#include <adaptyst/profile.hpp>
#include <adaptyst/profile/findings.hpp>
#include <type_traits>

#include "heap_usage.hpp"
#include "listed.hpp"
#include "memory_spaces.hpp"

namespace adaptyst::lib::listed {

constexpr auto fields(type<attribute>) {
  return list(
      "attribute", "Statistics of a payload member, or of a metric.",
      field("count", &attribute::count, sum, always, "Events with this attribute."),
      field("sum", &attribute::sum, sum, always, "Sum of the values, in the unit of the member."),
      field("min", &attribute::min, least, always, "Smallest value, in the unit of the member."),
      field("max", &attribute::max, greatest, always, "Greatest value, in the unit of the member."),
      field("metrics", &attribute::metrics, sum, always,
            "Part of count from ADAPTYST_METRIC; the rest is from payloads. A sum of metrics may have no "
            "meaning."),
      extra<double>{"per_second", sometimes,
                    "sum over total_ns, for \"bytes\" and \"flops\" only. Absent without a known time, and for calls "
                    "that return before their transfer ends, such as MPI_Isend."});
}

constexpr auto fields(type<heap_usage>) {
  using of = heap_usage;
  return list(
      "heap", "Allocations and frees of the C heap, without nested regions: docs/memory.md.",
      field("sampling_interval_bytes", &of::sampling_interval_bytes, greatest, always,
            "Mean distance of sampled bytes; 0: all allocations were counted."),
      field("allocated_bytes", &of::allocated_bytes, sum, always, "Requested bytes."),
      field("allocations", &of::allocations, sum, always, "Calls that allocated a block."),
      field("freed_bytes", &of::freed_bytes, sum_if_complete, sometimes,
            "Requested bytes of the blocks that were freed. Absent: unknown, because blocks were untracked."),
      field("frees", &of::frees, sum_if_complete, sometimes,
            "Calls that freed a block. Absent: unknown, because blocks were untracked."),
      field("allocated_bytes_error", &of::bytes_variance, sum, sometimes,
            "Standard error of allocated_bytes. Absent: all allocations were counted.", root),
      field("allocations_error", &of::allocations_variance, sum, sometimes,
            "Standard error of allocations. Absent: all allocations were counted.", root),
      field("freed_bytes_error", &of::freed_variance, sum, sometimes,
            "Standard error of freed_bytes. Absent: exact, or unknown.", root),
      field("frees_error", &of::frees_variance, sum, sometimes, "Standard error of frees. Absent: exact, or unknown.",
            root),
      field("live_bytes", &of::live_bytes, sum, always,
            "Allocated here, and freed nowhere until the end. Without untracked blocks."),
      field("live_blocks", &of::live_blocks, sum, always, "Number of these blocks."),
      field("live_bytes_error", &of::live_variance, sum, sometimes,
            "Standard error of live_bytes. Absent: all allocations were counted.", root),
      field("live_byte_calls", &of::live_byte_calls, sum, always,
            "Sum over live_bytes of the number of calls of the region that had ended before the allocation: half "
            "of live_bytes times the calls of a thread if all calls leave equal amounts."),
      field("high_water_bytes", &of::high_water_bytes, greatest, sometimes,
            "Live bytes of the process when they last reached a maximum in this region. Absent: none was "
            "reached here, or blocks were untracked."),
      field("high_water_error", &of::high_water_variance, greatest, sometimes,
            "Upper limit of the standard error of high_water_bytes. Absent: exact, or unknown.", root),
      field("untracked_bytes", &of::untracked_bytes, sum, sometimes,
            "Part of allocated_bytes for which the table of blocks had no room: the frees are not counted. "
            "Absent: none."),
      field("nested_calls", &of::nested_calls, sum, sometimes,
            "Sampled allocations during an event of the recorder, for example in a signal handler; in no other "
            "figure. Absent: none."),
      field("unseen_frees", &of::unseen_frees, sum, sometimes,
            "Frees of recorded blocks that frees and freed_bytes omit. Absent: none."));
}

constexpr auto fields(type<heap_totals>) {
  using of = heap_totals;
  return list("heap_totals", "The C heap of all regions and processes, with memory=heap: docs/memory.md.",
              field("all", &of::sums, same, always,
                    "Sums of all regions; high_water_bytes is the high-water mark, absent if blocks were untracked."),
              field("live_bytes", &of::live_bytes, same, always,
                    "Allocated and not freed at the end; null: unknown, because blocks were untracked."),
              field("high_water_region", &of::high_water_region, same, always,
                    "Id of the region in which a process reached the high-water mark; null: unknown.", id_or_none));
}

constexpr auto fields(type<memory_space>) {
  using of = memory_space;
  return list(
      "memory_space", "Memory of a device, or another space, as an adapter counted it.",
      field("name", &of::name, same, always, "Name given by the interface, such as Cuda."),
      field("allocated_bytes", &of::allocated_bytes, same, always, "Allocated while observed."),
      field("freed_bytes", &of::freed_bytes, same, always, "Freed while observed."),
      field("live_bytes", &of::live_bytes, same, sometimes,
            "Allocated and not freed at the end, in all processes. Absent: unknown, for example because events were "
            "lost."),
      field("high_water_bytes", &of::high_water_bytes, same, always,
            "Most bytes in use in a process, also from before the observation."),
      field("high_water_region", &of::high_water_region, same, always,
            "Id of the region with the high-water mark; without a region, id of the metric's row.", id),
      field("has_unknown_changes", &of::has_unknown_changes, same, always,
            "The adapter missed changes, for example a free of unobserved memory: high_water_bytes is an "
            "estimate."));
}

constexpr auto fields(type<source_location>) {
  return list("site", "A place in the source.",
              field("file", &source_location::file, same, always, "The path that the compiler was given."),
              field("line", &source_location::line, same, always, "Line number, from 1; 0: unknown."),
              field("function", &source_location::function, same, always, "The enclosing function."));
}

constexpr auto fields(type<os_context>) {
  using of = os_context;
  return list(
      "context",
      "Threads as the kernel observed them. Times off the core are exact, or estimates with an error; time on the core "
      "is the rest.",
      field("wall_ns", &of::wall_ns, sum, always,
            "Time of ended regions; null: none has ended, or the context is that of a device.", not_zero),
      field("open", &of::open, sum, always, "Regions that have not ended; their waits are included."),
      follows("on_cpu_ns", &of::on_cpu_ns, always,
              "wall_ns less runnable and blocked time; null while regions are open."),
      field("runnable_ns", &of::runnable_ns, sum, always, "Time waiting for a core."),
      field("sleep_ns", &of::sleep_ns, sum, always, "Time blocked on a timer."),
      field("lock_ns", &of::lock_ns, sum, always, "Time blocked on a futex."),
      field("io_ns", &of::io_ns, sum, always, "Time blocked on files, sockets or their events."),
      field("other_ns", &of::other_ns, sum, always, "Time blocked for other reasons."),
      field("voluntary_switches", &of::voluntary_switches, sum, always, "Switches to wait."),
      field("involuntary_switches", &of::involuntary_switches, sum, always,
            "Switches of a thread that was still runnable."),
      field("migrations", &of::migrations, sum, always, "Moves to another core."),
      field("minor_faults", &of::minor_faults, sum_if_complete, always, "Page faults served from memory."),
      field("major_faults", &of::major_faults, sum_if_complete, always, "Page faults served from a disk."),
      field("minor_faults_error", &of::faults_variance, sum, sometimes,
            "Standard error of minor_faults, then an estimate. Absent: all page faults were counted.", root),
      field("voluntary_switches_error", &of::voluntary_variance, sum, sometimes,
            "Standard error of voluntary_switches. Absent: all thread switches were recorded.", root),
      field("involuntary_switches_error", &of::involuntary_variance, sum, sometimes,
            "Standard error of involuntary_switches. Absent: all thread switches were recorded.", root),
      field("migrations_error", &of::migrations_variance, sum, sometimes,
            "Standard error of migrations. Absent: all thread switches were recorded.", root),
      field(
          "runnable_error_ns", &of::runnable_variance, sum, sometimes,
          "Standard error of runnable_ns. Absent: all thread switches were recorded; with voluntary_switches_error: none "
          "was drawn, and the error is unknown.",
          root),
      field("blocked_error_ns", &of::blocked_variance, sum, sometimes,
            "Standard error of the sum of all blocked times, and at most of each. Absent: as runnable_error_ns.", root),
      field("cycles", &of::cycles, sum_if_complete, always, "Processor cycles, an estimate; null: not reported."),
      field("instructions", &of::instructions, sum_if_complete, always,
            "Instructions, an estimate; null: not reported."),
      field("cache_misses", &of::cache_misses, sum_if_complete, always,
            "Misses of the last-level cache, an estimate; null: not reported."));
}

constexpr auto fields(type<thread_spread>) {
  using of = thread_spread;
  return list("thread_spread", "Spread of the threads' own time in a region.",
              field("threads", &of::count, sum, always, "Threads with a known time."),
              field("sum_ns", &of::sum_ns, sum, always, "Time of all these threads."),
              field("min_ns", &of::min_ns, least, always, "The shortest time of a thread."),
              field("max_ns", &of::max_ns, greatest, always, "The longest time of a thread."));
}

constexpr auto fields(type<rank_totals>) {
  using of = rank_totals;
  return list("rank_totals", "Statistics of one value per rank.",
              field("min", &of::min, whole, always, "The smallest value."),
              field("min_rank", &of::min_rank, whole, always,
                    "The rank with the smallest value; the lowest if several have it."),
              field("min_host", &of::min_host, whole, always, "The host of min_rank."),
              follows("mean", &of::mean, always, "Mean over the ranks; null: no ranks."),
              field("max", &of::max, whole, always, "The greatest value."),
              field("max_rank", &of::max_rank, whole, always,
                    "The rank with the greatest value; the lowest if several have it."),
              field("max_host", &of::max_host, whole, always, "The host of max_rank."),
              follows("stddev", &of::stddev, always, "Standard deviation of these ranks; null: no ranks."),
              follows(
                  "p50", [](const of& all) { return all.quantile(0.5); }, always, "The median, to within 3 %."),
              follows(
                  "p95", [](const of& all) { return all.quantile(0.95); }, always, "Upper bound of 19 in 20 ranks."),
              field("sum", &of::sum, whole, always, "Sum over the ranks: 128 bits in hexadecimal.", unshown),
              field("sum_of_squares", &of::squares, whole, always,
                    "Sum of squares: 128 bits in hexadecimal. All digits f: overflow, and stddev is unknown.", unshown),
              field("histogram", &of::values, separate, always, "Number of ranks by value.", unshown));
}

constexpr auto fields(type<rank_spread>) {
  using of = rank_spread;
  return list(
      "across_ranks", "Spread of a region over the ranks of an MPI program.",
      field("ranks", &of::ranks, whole, always, "Ranks with this region."),
      field("total_ns", &of::total_ns, whole, always, "Time of each rank in the region."),
      follows("imbalance", &of::imbalance, always, "Longest time of a rank over the mean, less 1; null: no time."));
}

constexpr auto fields(type<collective_waits>) {
  using of = collective_waits;
  return list(
      "joint", "An N-to-N collective, such as a barrier: waits of the ranks for the last rank.",
      field("calls", &of::calls, separate, always, "Analysed calls; each counts once, whatever the number of ranks."),
      field("step", &of::step, separate, always, "One of this many calls was analysed."),
      field("time_ns", &of::time_ns, separate, always, "Time of all ranks in the analysed calls, ns."),
      field("waited_ns", &of::waited_ns, separate, always, "Part of time_ns spent waiting for the last rank."),
      field("last_rank", &of::last_rank, separate, always, "The rank for which the others waited longest."),
      field("last_host", &of::last_host, separate, always, "The host of last_rank; empty: unknown."),
      field("last_calls", &of::last_calls, separate, always, "Calls in which last_rank arrived last."),
      field("last_waited_ns", &of::last_waited_ns, separate, always, "Waits of the other ranks in last_calls."));
}

constexpr auto fields(type<machine_ceilings>) {
  using of = machine_ceilings;
  return list("ceilings", "Ceilings of the machine, measured by adaptyst doctor --measure-ceilings: docs/ceilings.md.",
              field("host", &of::host, same, always, "The name of the machine."),
              field("cpu", &of::cpu, same, always, "The model of its processor."),
              field("measured", &of::measured, same, always, "Time of the measurement: ISO 8601, UTC."),
              field("cpus", &of::cpus, same, always, "CPUs used for the rates of all CPUs."),
              field("precision", &of::precision, same, always, "Floating-point precision of the operations."),
              field("one_gflops", &of::one_gflops, same, always, "One thread, 10^9 operations per second."),
              field("one_gbytes_per_s", &of::one_gbytes_per_s, same, always, "One thread, 10^9 bytes per second."),
              field("all_gflops", &of::all_gflops, same, always,
                    "One thread on each CPU, together, 10^9 operations per second."),
              field("all_gbytes_per_s", &of::all_gbytes_per_s, same, always,
                    "One thread on each CPU, together, 10^9 bytes per second."));
}

constexpr auto fields(type<roofline>) {
  using of = roofline;
  return list(
      "roofline",
      "How close a region of the host is to its machine's ceilings. All rates are per thread in the "
      "region.",
      field("ai", &of::flops_per_byte, same, always, "Arithmetic intensity: flops over bytes."),
      field("gflops", &of::gflops, same, always, "Attained, 10^9 operations per second."),
      field("gbytes_per_s", &of::gbytes_per_s, same, always, "Attained, 10^9 bytes per second."),
      field("attainable_gflops", &of::attainable_gflops, same, always,
            "Ceiling at this intensity: the lower of the peak, and intensity times bandwidth."),
      field("share", &of::share, same, always, "Attained over attainable."),
      field("bound", &of::bound, same, always, "memory if the intensity is below peak over bandwidth, else compute."),
      field("threads", &of::threads, same, always,
            "Threads assumed to work concurrently. A ceiling is the lower of one thread's alone and its share "
            "of all threads' together."));
}

constexpr auto fields(type<region>) {
  using of = region;
  return list(
      "region", "A call path on a device.",
      extra<std::string>{"name", always,
                         "The last name of the path, with a payload's texts in brackets. The path is that of the row "
                         "\"parent\", which precedes this row, and this name."},
      extra<std::vector<std::string>>{"path", sometimes,
                                      "Names from the root of the thread, if no earlier row has them."},
      field("id", &of::id, same, always,
            "Id of path and device, equal in all processes with the same code: 64 bits in hexadecimal.", id),
      field("parent", &of::parent, same, always, "Id of the parent path; null at the root.", id_or_none),
      field("site", &of::site, same, always, "Place of the marker in the source."),
      field("kind", &of::kind, same, always, "Kind of the region: docs/design.md."),
      field("level", &of::level, same, sometimes, "Level given by the marker; absent: none."),
      field("device", &of::device, same, always, "Index into \"devices\"."),
      field("threads", &of::threads, sum, always, "Threads that ran it; null: unknown.", not_zero),
      field("count", &of::count, sum, always, "Ended events."),
      field("total_ns", &of::total_ns, sum, always, "Time of all events over all threads, ns; null: not timed.", timed),
      field("self_ns", &of::self_ns, sum, always, "Time without nested regions of the same thread, ns.", timed),
      field("per_thread", &of::per_thread, sum, sometimes,
            "Spread of self_ns over threads; absent: unknown per thread."),
      field("min_ns", &of::min_ns, least, always, "The shortest duration, ns.", timed),
      field("max_ns", &of::max_ns, greatest, always, "The longest.", timed),
      follows(
          "p50_ns", [](const region& row) { return row.quantile_ns(0.5); }, always, "The median duration."),
      follows(
          "p90_ns", [](const region& row) { return row.quantile_ns(0.9); }, always,
          "Upper bound of 9 in 10 durations."),
      follows(
          "p99_ns", [](const region& row) { return row.quantile_ns(0.99); }, always,
          "Upper bound of 99 in 100 durations."),
      field("histogram", &of::durations, sum, always, "Histogram of the durations."),
      field("attributes", &of::attributes, sum, always, "Statistics of payload members and metrics, by name."),
      field("heap", &of::heap, sum, sometimes, "Allocations and frees; absent: none was recorded."),
      field("overhead_ns", &of::overhead_ns, sum_if_complete, always, "Cost of observing the region; null: unknown."),
      field("context", &of::context, sum, always,
            "Threads as the kernel observed them, with nested regions of the same thread; null: unknown."),
      field("self_context", &of::self_context, sum, always, "The same without nested regions; null: unknown."),
      field("samples", &of::samples, sum_if_complete, always,
            "Stack samples on a core, without nested regions; null: not requested."),
      field("sampled", &of::timed_events, part, sometimes,
            "Recorded events out of count. Present if an overhead budget skipped events: all figures of the "
            "region except min_ns and max_ns are then estimates."),
      field("count_error", &of::count_variance, sum, sometimes, "Standard error of count; only with sampled.", root),
      field("total_error_ns", &of::total_variance, sum, sometimes, "Standard error of total_ns; only with sampled.",
            root),
      field("measured_on", &of::measured_on, sum, sometimes,
            "Duration of each way of recording the marker, ns summed over processes. Absent without an "
            "overhead budget."),
      field("across_ranks", &of::across_ranks, separate, sometimes, "Spread over ranks; absent with one rank."),
      field("joint", &of::collective, separate, sometimes,
            "For a collective call of MPI: waits of the ranks for the last rank. Absent: unknown."),
      field("roofline", &of::roofline, separate, sometimes,
            "How close the region is to the machine's ceilings. Absent if flops, bytes, time or ceilings are "
            "unknown."));
}

constexpr auto fields(type<device_clock_sync>) {
  using of = device_clock_sync;
  return list("clock", "The clock of a device's times, and its conversion to CLOCK_MONOTONIC.",
              field("name", &of::clock, same, always, "Name of the clock."),
              field("sync_points", &of::sync_points, same, always, "Number of comparisons of the clocks."),
              field("offset_ns", &of::offset_ns, same, always, "CLOCK_MONOTONIC less this clock."),
              field("drift_ppm", &of::drift_ppm, same, always, "How much faster CLOCK_MONOTONIC runs."),
              field("residual_ns", &of::residual_ns, same, always, "Error of the last sync point."));
}

constexpr auto fields(type<wait_times>) {
  using of = wait_times;
  return list("latencies", "Waits of operations.",
              field("total_ns", &of::total_ns, sum, always, "Sum over all operations, ns."),
              follows(
                  "p50_ns", [](const of& all) { return all.durations.quantile(0.5); }, always, "The median wait."),
              follows(
                  "p99_ns", [](const of& all) { return all.durations.quantile(0.99); }, always,
                  "Upper bound of 99 in 100 waits."),
              field("histogram", &of::durations, sum, always, "Histogram of the waits.", unshown));
}

constexpr auto fields(type<amount>) {
  return list("amount", "An amount, and its time.", field("sum", &amount::sum, sum, always, "Bytes, or operations."),
              field("time_ns", &amount::time_ns, sum, always, "Time, ns."),
              follows("per_second", &amount::per_second, always, "sum over time_ns; null: no time."));
}

constexpr auto fields(type<device_usage>) {
  using of = device_usage;
  return list(
      "device", "A processor. Its times are unions: overlapping operations count once.",
      extra<std::uint64_t>{"id", always, "Index in this list, to which \"device\" of a region refers."},
      field("kind", &of::kind, same, always, "Kind of processor."),
      field("index", &of::index, same, always, "Number given by the program, within its kind."),
      field("name", &of::name, same, always, "Name given by the program or an adapter."),
      field("observed_ns", &of::observed_ns, sum, always, "Duration of the observation."),
      field("busy_ns", &of::busy_ns, sum_if_complete, always,
            "Time with any operation. For the host: CPU time of the process over its allowed CPUs."),
      field("kernel_ns", &of::kernel_ns, sum_if_complete, always, "Time with kernels."),
      field("copy_ns", &of::copy_ns, sum_if_complete, always, "Time with copies in either direction, or fills."),
      field("exposed_copy_ns", &of::exposed_copy_ns, sum_if_complete, always, "Time with copies and no kernel."),
      follows("other_ns", &of::other_ns, always, "Busy time with neither kernels nor copies."),
      follows("idle_ns", &of::idle_ns, always, "Observed time that is not busy."),
      field("launch_idle_ns", &of::launch_idle_ns, sum_if_complete, always,
            "Idle time although an operation was submitted."),
      follows("starved_ns", &of::starved_ns, always, "Idle time with nothing submitted."),
      field("unused_ns", &of::unused_ns, sum_if_complete, always,
            "The part of starved_ns before the first submission."),
      field("awaited_ns", &of::host_waiting_ns, sum_if_complete, always,
            "Busy time while the host waited for a device."),
      follows("overlap", &of::overlap, always, "Share of busy time in which the host did not wait.", fraction),
      field("work_ns", &of::work_ns, sum_if_complete, always, "Sum of the durations of all operations."),
      follows("concurrency", &of::concurrency, always, "Mean number of operations while busy."),
      field("operations", &of::operations, sum, always,
            "Number of operations, with offloads, for which the host waited."),
      field("queues", &of::queues, greatest, always, "Number of queues; 64: at least 64."),
      follows(
          "queue_wait_ns",
          [](const device_usage& usage) {
            return usage.queue_wait ? std::optional(usage.queue_wait->total_ns) : std::nullopt;
          },
          always, "Time from submitted to started, summed over operations."),
      field("queue_wait", &of::queue_wait, sum, always, "Waits from submitted to started."),
      field("launch_latency", &of::launch_latency, sum, always,
            "The part of queue_wait during which the queue of the operation was free."),
      field("bytes_to", &of::to_device, sum, always,
            "Bytes copied to the device, over the sum of the copies' durations."),
      field("bytes_from", &of::from_device, sum, always,
            "Bytes copied from the device, over the sum of the copies' durations."),
      field("flops", &of::flops, sum, always, "Operations in kernels, over the time with kernels."),
      field("clock", &of::clock, worst, always, "The clock of the device's times; null: CLOCK_MONOTONIC."),
      follows("utilisation", &of::utilisation, always, "Busy over observed.", fraction),
      field("late", &of::late, sum, always, "Operations that completed too late for exact times."),
      field("skipped", &of::skipped, sum, always, "Operations and waits of the process that could not be recorded."),
      field("context", &of::context, sum, always,
            "Host only: all announced threads as the kernel observed them, in regions and outside."));
}

constexpr auto fields(type<offload_usage>) {
  using of = offload_usage;
  return list("offload", "Overlap of the host and its devices.",
              field("observed_ns", &of::observed_ns, sum, always, "Sum over processes."),
              field("waited_ns", &of::waited_ns, sum, always,
                    "Time in which a host thread waited for a device; null: not reported."),
              field("busy_ns", &of::busy_ns, sum, always, "Time in which any device was busy."));
}

constexpr auto fields(type<efficiencies>) {
  using of = efficiencies;
  return list("efficiency", "The efficiencies of POP and TALP; device_parallel is the product of the next three.",
              field("device_parallel", &of::device_parallel, separate, always,
                    "Time in kernels over observed time, all devices."),
              field("device_load_balance", &of::device_load_balance, separate, always,
                    "Mean time in kernels over the longest of a device."),
              field("device_communication", &of::device_communication, separate, always,
                    "The longest time in kernels over the longest time in kernels and exposed copies."),
              field("device_orchestration", &of::device_orchestration, separate, always,
                    "The longest time in kernels and exposed copies over observed time."),
              field("device_offload", &of::device_offload, separate, always,
                    "Share of the host's time without waits for devices."));
}

constexpr auto fields(type<unread_programs>) {
  using of = unread_programs;
  return list("unread", "Programs that ended without notice. Unread contents of their recorders are lost.",
              field("programs", &of::programs, sum, always, "Number of programs."),
              field("up_to_ns", &of::up_to_ns, greatest, always, "Upper bound of the time between last read and end."));
}

constexpr auto fields(type<refused_programs>) {
  using of = refused_programs;
  return list("refused",
              "Programs that could not be read: no permission to read their memory, or markers built with other "
              "headers.",
              field("programs", &of::programs, sum, always, "Number of programs."),
              field("why", &of::why, joined, always, "A reason; in a merged profile all, joined by \" | \"."));
}

constexpr auto fields(type<account>) {
  using of = account;
  return list(
      "accounting", "Always: begun = ended + open + sum of lost.",
      field("begun", &of::begun, sum, always, "Begun events."),
      field("ended", &of::ended, sum, always, "Ended events: the events in the rows."),
      field("open", &of::open, sum, always, "Begun events that have not ended."),
      field("lost", &of::lost, sum, always, "Lost events by reason; other reasons are absent."),
      field("unmatched", &of::unmatched, sum, always,
            "Begins without an end (also in lost), and ends without a begin."),
      field("unnamed", &of::unnamed, sum, always, "Counted call paths without an available name."),
      field("overhead_ns", &of::overhead_ns, sum_if_complete, always, "Total cost of observing; null: unknown."),
      field("unread", &of::unread, sum, sometimes,
            "Absent: none. Their losses are estimated as \"not_read\" in lost; begun is then an estimate."),
      field("refused", &of::refused, sum, sometimes,
            "Absent: none. For each, lost contains one \"not_read\", because the losses are unknown."));
}

constexpr auto fields(type<context_account>) {
  using of = context_account;
  return list(
      "context_account", "Completeness of the kernel's data on threads in regions.",
      field("threads", &of::threads, sum, always, "Threads announced to the kernel; null: none.", not_zero),
      field("lost", &of::lost, sum, always, "Lost periods off the core, page faults or threads, by reason."),
      field("cost_ns", &of::cost_ns, sum_if_complete, sometimes, "CPU time of the kernel programs."),
      field("faults_one_of", &of::faults_one_of, greatest, sometimes,
            "An overhead budget recorded one of this many page faults, at the coarsest. Absent: all were "
            "counted."),
      field(
          "switches_one_of", &of::switches_one_of, greatest, sometimes,
          "An overhead budget recorded one of this many thread switches, at the coarsest. Absent: all were recorded."));
}

constexpr auto fields(type<sample_usage>) {
  using of = sample_usage;
  return list(
      "samples", "Stack samples of threads on their cores. Each core has a clock, or each thread has one on each core.",
      field("samples", &of::samples, sum, always, "Number of samples, in regions and outside."),
      field("observed_ns", &of::observed_ns, sum, always,
            "Time that the samples represent: the time since the previous tick of a core's clock, or the sampling "
            "interval of a thread."),
      field("lost", &of::lost, sum, always, "Lost samples, periods off the core, or stacks, by reason."),
      field("cost_ns", &of::cost_ns, sum_if_complete, sometimes, "CPU time, measured in the kernel programs."),
      field(
          "observer_ns", &of::observer_ns, sum_if_complete, sometimes,
          "CPU time of the observer in another process, with all that it does. Absent if the kernel adds up samples."),
      field("unwinding_ns", &of::unwinding_ns, sum_if_complete, sometimes,
            "Part of observer_ns for finding callers in copies of stacks. Absent: stacks were not copied."),
      field("waits_one_of", &of::waits_one_of, greatest, sometimes,
            "An overhead budget recorded one of this many waits, at the coarsest; their stacks are estimates. Absent: "
            "all were recorded."));
}

constexpr auto fields(type<sampled_frame>) {
  using of = sampled_frame;
  return list(
      "frame", "A function in sampled stacks, with the time of the stacks that end in it.",
      field("name", &of::name, same, always, "Name of the function; \"(others)\": all unlisted functions called here."),
      field("depth", &of::depth, same, always, "Depth; 0: outermost. Its caller precedes it, at depth - 1."),
      field("on_cpu_ns", &of::on_cpu_ns, sum, always, "Sum of the times of its samples."),
      field("blocked_ns", &of::blocked_ns, sum, always, "Time blocked; an estimate if the samples have waits_one_of."),
      field("waiting_ns", &of::waiting_ns, sum, always, "Time runnable without a core."));
}

constexpr auto fields(type<region_stacks>) {
  using of = region_stacks;
  return list("stacks", "Stacks in a region, without nested regions.",
              field("region", &of::region, same, always, "Id of the region; null: outside all regions.", id_or_none),
              field("frames", &of::frames, separate, always, "Callers precede callees."));
}

constexpr auto fields(type<timeline_usage>) {
  return list(
      "timeline", "The file of a timeline.", field("events", &timeline_usage::events, sum, always, "Written events."),
      field("lost", &timeline_usage::lost, sum, always, "Events without room in a thread's ring or in the file."),
      field("unchanged", &timeline_usage::unchanged, sum, always,
            "Metric values equal to the metric's first value, before its first change; not in the file."),
      field("sampled_out", &timeline_usage::sampled_out, sum, always,
            "Events of regions with event sampling; not in the file. An estimate."),
      field("beyond_limit", &timeline_usage::beyond_limit, sum, always,
            "Events after the file reached `timeline_limit`."));
}

constexpr auto fields(type<last_region>) {
  using of = last_region;
  return list("last_region", "A region that was open on threads of a process when it ended.",
              field("path", &of::path, same, always, "Names from the root of the thread."),
              field("threads", &of::threads, same, always, "Threads in it."),
              field("age_ns", &of::age_ns, same, always, "Time since its oldest begin."));
}

constexpr auto fields(type<thread_info>) {
  using of = thread_info;
  return list("thread", "A thread, from its start to the last read. For the rest of alive_ns it was blocked.",
              field("tid", &of::tid, same, always, "Thread id."),
              field("name", &of::name, same, always, "Name given by the system; up to 15 bytes."),
              field("alive_ns", &of::alive_ns, same, always, "Lifetime, to within 10 ms."),
              field("on_cpu_ns", &of::on_cpu_ns, same, always, "Time on a core."),
              field("runnable_ns", &of::runnable_ns, same, always, "Time waiting for a core."),
              field("last_cpu", &of::last_cpu, same, sometimes, "The last processor on which it ran."));
}

constexpr auto fields(type<machine_node>) {
  using of = machine_node;
  return list("machine_node", "A NUMA node: memory, and its nearest processors.",
              field("node", &of::node, same, always, "Number of the node."),
              field("socket", &of::socket, same, sometimes, "Socket of its processors. Absent: unknown."),
              field("cpus", &of::cpus, same, always, "Its processors, as a list of numbers and ranges."),
              field("memory_bytes", &of::memory_bytes, same, sometimes, "Size of its memory. Absent: unknown."));
}

constexpr auto fields(type<machine_device>) {
  using of = machine_device;
  return list("machine_device", "A computing or network device on the PCI bus, used or not.",
              field("kind", &of::kind, same, always, "gpu, accelerator or network, by PCI class."),
              field("address", &of::address, same, always, "Address on the bus."),
              field("id", &of::id, same, sometimes, "Vendor and device, hexadecimal."),
              field("node", &of::node, same, sometimes, "The nearest NUMA node. Absent: unknown."));
}

constexpr auto fields(type<machine>) {
  using of = machine;
  return list("machine", "Parts of a machine, from its /sys.",
              field("host", &of::host, same, always, "Name of the machine."),
              field("sockets", &of::sockets, same, sometimes, "Number of sockets. Absent: unknown."),
              field("cores", &of::cores, same, sometimes, "Number of physical cores. Absent: unknown."),
              field("cpus", &of::cpus, same, sometimes, "Online logical processors. Absent: unknown."),
              field("nodes", &of::nodes, same, sometimes, "NUMA nodes."),
              field("devices", &of::devices, same, sometimes, "The first 64 by address."));
}

constexpr auto fields(type<resident_point>) {
  using of = resident_point;
  return list(
      "resident_point", "Resident memory of a process at a time.",
      field("after_ns", &of::after_ns, same, always, "Time since the start of the observation of this process."),
      field("rss_bytes", &of::rss_bytes, same, always, "Resident memory (VmRSS)."));
}

constexpr auto fields(type<process_info>) {
  using of = process_info;
  return list(
      "process", "An observed process.", field("pid", &of::pid, same, always, "Process id."),
      field("command", &of::command, same, always, "Its executable."),
      field("host", &of::host, same, always, "The name of its machine."),
      field("duration_ns", &of::duration_ns, same, always, "Duration of the observation; null: unknown.", not_zero),
      field("arguments", &of::arguments, same, sometimes,
            "Command line with the program name, cut off at 4,096 bytes. Absent: unknown."),
      field("started", &of::started, same, sometimes, "Start of the observation: ISO 8601, UTC. Absent: unknown."),
      field("ended_in", &of::ended_in, same, sometimes,
            "The innermost region of each thread, if the process ended inside regions."),
      field("threads", &of::threads, same, always,
            "Most concurrent threads with markers; a new thread may take the place of an ended thread. null: "
            "unknown."),
      field("rank", &of::rank, same, sometimes, "Rank in its MPI program; absent: none."),
      field("killed", &of::killed, same, sometimes,
            "true: it left its recorded data, and no report. Absent otherwise."),
      field("signal", &of::signal, same, sometimes, "Number of the signal that ended it. Absent: none, or unknown."),
      field("parent", &of::parent, same, sometimes, "Process id of its parent. Absent: unknown."),
      field("cpu_ns", &of::cpu_ns, same, sometimes, "CPU time of all its threads while observed. Absent: unknown."),
      field("peak_rss_bytes", &of::peak_rss_bytes, same, sometimes,
            "Most resident memory since its start (VmHWM). Absent: not requested, or unknown."),
      field("rss_bytes", &of::rss_bytes, same, sometimes,
            "Resident memory (VmRSS) when it was last read. Absent: not requested, or unknown."),
      field("thread_list", &of::thread_list, same, sometimes,
            "The 64 threads that were longest on a core, with or without markers. Absent: unknown."),
      field("resident", &of::resident, same, sometimes,
            "Resident memory over time, 128 points at most. Absent: not requested, or unknown."));
}

constexpr auto fields(type<unlisted_processes>) {
  using of = unlisted_processes;
  return list(
      "unlisted", "Processes that are counted, but not listed.",
      field("processes", &of::processes, sum, always, "Number of processes."),
      field("duration_ns", &of::duration_ns, sum, always, "Sum of their observed durations; null: unknown.", not_zero));
}

constexpr auto fields(type<rank_place>) {
  return list("rank_place", "A rank and its host.",
              field("rank", &rank_place::rank, same, always, "Rank in its MPI program."),
              field("host", &rank_place::host, same, always, "The name of its machine."));
}

constexpr auto fields(type<rank_list>) {
  return list("rank_list", "A group of ranks.", field("count", &rank_list::count, whole, always, "Number of ranks."),
              field("first", &rank_list::first, whole, always, "The lowest ranks, up to 16."));
}

constexpr auto fields(type<program_ranks>) {
  return list("program_ranks", "A program, and its ranks.",
              field("program", &program_ranks::program, same, always, "Its executable."),
              field("ranks", &program_ranks::ranks, whole, always, "Ranks that run it."));
}

constexpr auto fields(type<rank_account>) {
  using of = rank_account;
  return list("about_ranks", "Facts about the ranks of a merged profile.",
              field("end", &of::end, whole, always, "Greatest rank + 1."),
              follows("host_count", &of::count_hosts, always, "Number of hosts; from 256 on an estimate, within 7 %."),
              field("hosts", &of::hosts, whole, sometimes, "Host names with the lowest hashes, up to 256."),
              field("programs", &of::programs, whole, sometimes, "Programs, the alphabetically first 32."),
              field("without_regions", &of::without_regions, whole, always, "Ranks in which no region ended."),
              field("killed", &of::killed, whole, always, "Ranks that left their recorded data, and no report."),
              field("missing", &of::missing, whole, always, "Ranks without data; they are in no figure."));
}

constexpr auto fields(type<node_time>) {
  using of = node_time;
  return list("node", "Ranks of one host, and their total time.",
              field("host", &of::host, same, always, "Name of the host."),
              field("ranks", &of::ranks, same, always, "Number of ranks."),
              field("time_ns", &of::time_ns, same, always, "Time of these ranks."));
}

constexpr auto fields(type<rank_errors>) {
  using of = rank_errors;
  return list(
      "rank_errors", "Standard errors of one time per rank, in whole ns.",
      field("sum_of_squares", &of::squares, whole, always, "Sum of squares over all ranks: 128 bits in hexadecimal."),
      field("greatest_ns", &of::greatest_ns, whole, always, "The greatest error of a rank."));
}

constexpr auto fields(type<mpi_usage>) {
  using of = mpi_usage;
  return list(
      "mpi",
      "Time in and outside MPI, and POP's efficiencies. Parallel efficiency is load balance times "
      "communication efficiency. Load balance is the product of the balances within and between nodes.",
      field("longest_ns", &of::longest_ns, whole, always, "Run of the slowest rank, from the end of MPI_Init."),
      field("ranks_without", &of::ranks_without, whole, always,
            "Ranks without observed MPI calls; they are in no other figure."),
      field("outside", &of::outside, separate, always, "Time outside MPI, per rank."),
      field("outside_errors", &of::outside_errors, whole, sometimes,
            "Standard errors of these times, if an overhead budget sampled MPI calls. Absent: all are exact."),
      field("busiest_node", &of::busiest, separate, sometimes,
            "The node with the longest mean time outside MPI; absent: unknown."),
      follows("parallel_efficiency", &of::parallel_efficiency, always, "Mean time outside MPI over the longest run.",
              fraction),
      follows("load_balance", &of::load_balance, always, "Mean time outside MPI over the longest of a rank.", fraction),
      follows("load_balance_in", &of::load_balance_in, always,
              "Within nodes: the longest mean of a node over the longest of a rank.", fraction),
      follows("load_balance_out", &of::load_balance_out, always,
              "Between nodes: the mean over the longest mean of a node.", fraction),
      follows("communication_efficiency", &of::communication_efficiency, always,
              "The longest time outside MPI over the longest run.", fraction),
      follows("parallel_error", &of::parallel_error, always,
              "Standard error of parallel_efficiency; null: the efficiency is exact or unknown. An efficiency "
              "below its error is null."),
      follows("load_balance_error", &of::load_balance_error, always, "Standard error of load_balance."),
      follows("load_balance_in_error", &of::load_balance_in_error, always, "Standard error of load_balance_in."),
      follows("load_balance_out_error", &of::load_balance_out_error, always, "Standard error of load_balance_out."),
      follows("communication_error", &of::communication_error, always, "Standard error of communication_efficiency."),
      follows(
          "serialisation_efficiency", [](const of&) { return std::optional<double>(); }, always,
          "Always null: it requires a replay of the run on an ideal network."),
      follows(
          "transfer_efficiency", [](const of&) { return std::optional<double>(); }, always,
          "Always null: it requires a replay of the run on an ideal network."));
}

constexpr auto fields(type<heat_row>) {
  using of = heat_row;
  return list("heat_row", "Time of a region by rank. null: no rank of the bin has it.",
              field("region", &of::region, same, always, "Id of the region.", id),
              field("device", &of::device, same, always, "Index into \"devices\"."),
              field("mean_ns", &of::mean_ns, same, always, "Mean of the ranks of each bin."),
              field("min_ns", &of::min_ns, same, sometimes,
                    "Minimum of the ranks of each bin; absent if a bin holds one rank."),
              field("max_ns", &of::max_ns, same, sometimes,
                    "Maximum of the ranks of each bin; absent if a bin holds one rank."));
}

constexpr auto fields(type<heat_map>) {
  using of = heat_map;
  return list("heat_map",
              "Time of the largest regions by rank. Element b holds the ranks from b * ranks_per_bin. Times are "
              "rounded to a millionth of the region's longest.",
              field("ranks", &of::ranks, same, always, "Number of ranks, numbered from 0."),
              field("ranks_per_bin", &of::ranks_per_bin, same, always, "Ranks of an element."),
              field("rows", &of::rows, same, always, "Up to 64 regions, largest first."));
}

constexpr auto fields(type<budget_usage>) {
  using of = budget_usage;
  return list("budget", "The overhead budget, in ns of CPU time of all processes.",
              field("cpu_ns", &of::cpu_ns, sum, always, "CPU time of the processes while observed."),
              field("allowed_ns", &of::allowed_ns, sum, always, "Part of \"cpu_ns\" allowed for observing."),
              field("cost_ns", &of::cost_ns, sum, always,
                    "Cost of observing: events, as in \"accounting\", context and samples."));
}

constexpr auto fields(type<finding>) {
  using of = finding;
  return list(
      "finding", "One slow thing in one place: docs/findings.md.",
      field("kind", &of::kind, same, always, "Kind of the finding: docs/findings.md."),
      field("path", &of::path, same, sometimes, "Path of the worst region; absent for a device, or the whole run."),
      field("region", &of::region, same, always, "Id of the region; null: none.", id_or_none),
      field("device", &of::device, same, always, "Index into \"devices\"."),
      field("rank", &of::rank, same, sometimes,
            "The slowest rank; absent for a node, and for findings that are not about ranks."),
      field("host", &of::host, same, sometimes, "Host of the rank, or the node."),
      field("late_in", &of::late_in, same, sometimes,
            "For a late rank: path of the region with the longest time above the ranks' mean."),
      field("share", &of::share, same, always,
            "time_ns over the run's duration, for all threads together; for a device, over its observed time."),
      field("time_ns", &of::time_ns, same, always, "Affected time."),
      field("error_ns", &of::error_ns, same, always, "Standard error of time_ns; null: exact."),
      field("known_part", &of::known_part, same, sometimes, "Known share of the threads' time. Absent: all is known."),
      field("count", &of::count, same, always, "Number of waits, faults, threads, events, operations or ranks."),
      field("unit", &of::unit, same, always, "Unit of value and against."),
      field("value", &of::value, same, always, "Measured value."),
      field("against", &of::against, same, always, "Threshold, or the usual value in this place."),
      field("next", &of::next, same, always, "What to try."));
}

constexpr auto fields(type<profile>) {
  using of = profile;
  return list(
      "profile",
      "The result of a collector. Times are in ns. An unknown quantity is null, never 0. A sum over "
      "processes is null if a part is unknown. Objects get new keys only with a new number in "
      "\"schema\".",
      extra<int>{"schema", always, "The version of this description."},
      field("engine", &of::engine, joined, always,
            "How events were recorded. A merged profile has all engines of its parts, joined by \" | \"; "
            "empty: nothing was collected."),
      field("mechanism", &of::mechanism, joined, always, "How the engine is attached, for people."),
      field("reason", &of::reason, joined, always, "Why this engine, for people."),
      field("version", &of::version, joined, sometimes,
            "Version of the adaptyst that collected the profile, e.g. \"0.1.0\"."),
      follows("date", &of::date, always, "Start of the first observation of a process: ISO 8601, UTC; null: unknown."),
      field("metadata", &of::metadata, joined, sometimes,
            "Metadata of the program, by name (adaptyst::metadata()). A merged profile has all values, joined "
            "by \" | \"."),
      field("metadata_lost", &of::metadata_lost, sum, sometimes,
            "Calls of adaptyst::metadata() without room; absent: none."),
      field("options", &of::options, joined, sometimes,
            "Requested options that differ from the defaults, by the names in docs/options.md. A merged "
            "profile has all values of an option, joined by \" | \"."),
      field("adapters", &of::adapters, joined, sometimes,
            "Adapters that adaptyst run has loaded without a request, with the library, text or module that has "
            "revealed their interface."),
      field("skipped_adapters", &of::skipped_adapters, joined, sometimes,
            "Adapters, libraries and programs for which adaptyst run has loaded no adapter, with the reason."),
      field("devices", &of::devices, separate, always, "Processors. The first is the host's CPU."),
      field("offload", &of::offload, sum, always, "Overlap of the host and its devices."),
      follows("efficiency", compute_efficiencies, always, "Efficiency of host and devices."),
      follows("findings", analyse, always, "Findings, by share of the run."),
      follows("heap", add_up_heap, sometimes, "Heap of all regions. Absent: no allocation was recorded."),
      follows("memory_spaces", list_memory_spaces, sometimes,
              "Memory of devices and other spaces, by name. Absent: no adapter recorded an allocation."),
      field("regions", &of::regions, separate, always, "One entry per call path and device; parents before children.",
            rows),
      field("accounting", &of::accounting, sum, always, "Account of all events."),
      field("context", &of::context, sum, sometimes, "Absent: no data from the kernel."),
      field("samples", &of::samples, sum, sometimes, "Absent: not requested."),
      field("stacks", &of::stacks, separate, sometimes,
            "Frames with the most time, by region, at most 2,048. Absent without stacks, and if ranks were "
            "merged during the run.",
            rows),
      field("budget", &of::budget, sum, sometimes, "Absent: no budget."),
      field("timer_floor_ns", &of::timer_floor_ns, greatest, sometimes,
            "Duration of an empty region: each duration contains this much without work. In a merged profile, "
            "the longest."),
      field("sampled_floor_ns", &of::sampled_floor_ns, greatest, sometimes,
            "Cost of a marker within the duration of a recorded event under event sampling. Durations were "
            "shortened by it."),
      field("sampled_floor_error_ns", &of::sampled_floor_error_ns, greatest, sometimes,
            "Uncertainty of sampled_floor_ns; total_error_ns contains its share."),
      field("timeline", &of::timeline, sum, sometimes, "Absent: not requested."),
      field("functions", &of::functions, sum, sometimes,
            "Samples on a core by function, most frequent first, for programs without markers, also with adapters."),
      field("not_probed", &of::not_probed, joined, sometimes,
            "Requested functions that the program imports but that can have no probe, with the reason. Their "
            "time counts for their callers."),
      extra<std::optional<process_info>>{"process", always,
                                         "The observed process, the first if there are several; null: none is known."},
      extra<std::vector<process_info>>{
          "processes", sometimes,
          "All processes of a merged profile; absent with one process. If more than 1024: those with "
          "extreme values."},
      field("unlisted", &of::unlisted, separate, sometimes, "Processes that are not in \"processes\"."),
      field("machines", &of::machines, separate, sometimes,
            "Machines of the processes, the alphabetically first 64 hosts. Absent if unknown, and if ranks "
            "were merged during the run."),
      field("ranks", &of::ranks, separate, sometimes, "Merged ranks of an MPI program; absent with one rank."),
      field("about_ranks", &of::about_ranks, separate, sometimes, "Absent with one rank."),
      field("mpi", &of::mpi, separate, sometimes, "MPI figures of merged ranks; absent if no MPI calls were observed."),
      field("heat_map", &of::heat, separate, sometimes,
            "Only if ranks were merged in one step; absent if merged profiles were merged again."),
      field("ceilings", &of::ceilings, separate, sometimes,
            "Ceilings of the machine, the basis of \"roofline\". Absent if no region has a roofline."));
}

}  // namespace adaptyst::lib::listed

#endif
