// What the structs of a profile consist of: one list each, which merging (profile.cpp), JSON both ways (lib/report) and
// docs/profile-schema.json follow. Its order is that of the keys in a file; what it says of a member stands in the
// schema.
#ifndef ADAPTYST_LIB_MODEL_FIELDS_HPP
#define ADAPTYST_LIB_MODEL_FIELDS_HPP

#include <adaptyst/profile.hpp>
#include <adaptyst/profile/findings.hpp>
#include <type_traits>

#include "listed.hpp"

namespace adaptyst::lib::listed {

constexpr auto fields(type<attribute>) {
  return list(
      "attribute", "The values of a member of payloads, or of a metric.",
      field("count", &attribute::count, sum, always, "Events that had it."),
      field("sum", &attribute::sum, sum, always, "In the unit of the member."),
      field("min", &attribute::min, least, always, "Likewise."),
      field("max", &attribute::max, greatest, always, "Likewise."),
      field("metrics", &attribute::metrics, sum, always,
            "The part of count from ADAPTYST_METRIC; its sum may mean nothing. The others are from payloads."),
      extra<double>{"per_second", sometimes,
                    "The sum over total_ns. Only \"bytes\" and \"flops\" have it; absent if no time is known, and "
                    "for calls that return before their transfer ends, such as MPI_Isend."});
}

constexpr auto fields(type<source_location>) {
  return list("site", "A place in the source.",
              field("file", &source_location::file, same, always, "As the compiler was given it."),
              field("line", &source_location::line, same, always, "From 1; 0: not known."),
              field("function", &source_location::function, same, always, "Around the marker."));
}

constexpr auto fields(type<kernel_context>) {
  using of = kernel_context;
  return list(
      "context", "What the kernel did with threads: times off the core are exact; the time on it is what is left.",
      field("wall_ns", &of::wall_ns, sum, always,
            "Time of the regions that have ended; null: none has ended, or the context is that of a device.", not_zero),
      field("open", &of::open, sum, always, "Regions that have not ended, whose waits are among these."),
      follows("on_cpu_ns", &of::on_cpu_ns, always, "Wall less runnable less blocked; null while regions are open."),
      field("runnable_ns", &of::runnable_ns, sum, always, "Waiting for a core."),
      field("sleep_ns", &of::sleep_ns, sum, always, "Blocked until a time."),
      field("lock_ns", &of::lock_ns, sum, always, "Blocked on a futex."),
      field("io_ns", &of::io_ns, sum, always, "Blocked on files, sockets, or events of them."),
      field("other_ns", &of::other_ns, sum, always, "Blocked for another reason."),
      field("voluntary_switches", &of::voluntary_switches, sum, always, "To wait."),
      field("involuntary_switches", &of::involuntary_switches, sum, always, "While it could have run on."),
      field("migrations", &of::migrations, sum, always, "To another core."),
      field("minor_faults", &of::minor_faults, known_sum, always, "Page faults served from memory."),
      field("major_faults", &of::major_faults, known_sum, always, "Page faults served from a disk."),
      field("cycles", &of::cycles, known_sum, always, "Cycles of the processor, an estimate; null: not reported."),
      field("instructions", &of::instructions, known_sum, always, "Likewise."),
      field("cache_misses", &of::cache_misses, known_sum, always, "Likewise, of the last level."));
}

constexpr auto fields(type<thread_spread>) {
  using of = thread_spread;
  return list("thread_spread", "How the threads of a region differ: of each, its own time in it.",
              field("threads", &of::count, sum, always, "Whose time is known by itself."),
              field("sum_ns", &of::sum_ns, sum, always, "Of all of them."),
              field("min_ns", &of::min_ns, least, always, "Of the thread with the least."),
              field("max_ns", &of::max_ns, greatest, always, "Of the thread with the most."));
}

constexpr auto fields(type<rank_totals>) {
  using of = rank_totals;
  return list("rank_totals", "A figure of each rank, over the ranks that have it.",
              field("min", &of::min, whole, always, "The least."),
              field("min_rank", &of::min_rank, whole, always, "Whose that is; of several, the lowest."),
              field("min_host", &of::min_host, whole, always, "The host of that rank."),
              follows("mean", &of::mean, always, "Over these ranks; null: there are none."),
              field("max", &of::max, whole, always, "The greatest."),
              field("max_rank", &of::max_rank, whole, always, "Whose that is; of several, the lowest."),
              field("max_host", &of::max_host, whole, always, "The host of that rank."),
              follows("stddev", &of::stddev, always, "Standard deviation of these ranks; null: there are none."),
              follows(
                  "p50", [](const of& all) { return all.quantile(0.5); }, always, "The median, to within 3 %."),
              follows(
                  "p95", [](const of& all) { return all.quantile(0.95); }, always, "19 of 20 ranks have no more."),
              field("sum", &of::sum, whole, always, "Over these ranks: 128 bits in hexadecimal.", unshown),
              field("sum_of_squares", &of::squares, whole, always,
                    "Likewise; all digits f where it does not fit, and there is no stddev.", unshown),
              field("histogram", &of::values, apart, always, "Of the ranks, by their figure.", unshown));
}

constexpr auto fields(type<rank_spread>) {
  using of = rank_spread;
  return list("across_ranks", "How the ranks of an MPI program differ in a region.",
              field("ranks", &of::ranks, whole, always, "That have it."),
              field("total_ns", &of::total_ns, whole, always, "Of each rank, its time in it."),
              follows("imbalance", &of::imbalance, always, "The greatest time over the mean, less 1; null: no time."));
}

constexpr auto fields(type<joint_waits>) {
  using of = joint_waits;
  return list("joint", "A call that no rank leaves before all have come: how long ranks waited in it for the last one.",
              field("calls", &of::calls, apart, always, "That were looked at, each once for all its ranks."),
              field("step", &of::step, apart, always, "One call of so many was."),
              field("time_ns", &of::time_ns, apart, always, "In these, nanoseconds of all ranks."),
              field("waited_ns", &of::waited_ns, apart, always, "Of that, waiting for the last rank."),
              field("last_rank", &of::last_rank, apart, always, "For which the others waited longest."),
              field("last_host", &of::last_host, apart, always, "Its host, empty where that is not known."),
              field("last_calls", &of::last_calls, apart, always, "In which it was the last."),
              field("last_waited_ns", &of::last_waited_ns, apart, always, "What the others waited in these."));
}

constexpr auto fields(type<machine_ceilings>) {
  using of = machine_ceilings;
  return list("ceilings",
              "What the machine can do at most, as adaptyst doctor --ceilings measured it: docs/ceilings.md.",
              field("host", &of::host, same, always, "The name of the machine."),
              field("cpu", &of::cpu, same, always, "The model of its processor."),
              field("measured", &of::measured, same, always, "When: ISO 8601, UTC."),
              field("cpus", &of::cpus, same, always, "That took part in the figures of all."),
              field("precision", &of::precision, same, always, "Of the numbers that were computed with."),
              field("one_gflops", &of::one_gflops, same, always, "Of one thread, 10^9 operations in a second."),
              field("one_gbytes_per_s", &of::one_gbytes_per_s, same, always, "Of one thread, 10^9 bytes in a second."),
              field("all_gflops", &of::all_gflops, same, always, "Of a thread on each CPU, together."),
              field("all_gbytes_per_s", &of::all_gbytes_per_s, same, always, "Likewise."));
}

constexpr auto fields(type<roofline>) {
  using of = roofline;
  return list(
      "roofline",
      "How near a region of the host came to what its machine can do. All rates are those of one thread while it was "
      "in the region.",
      field("ai", &of::flops_per_byte, same, always, "Arithmetic intensity: flops over bytes."),
      field("gflops", &of::gflops, same, always, "Attained, 10^9 operations in a second."),
      field("gbytes_per_s", &of::gbytes_per_s, same, always, "Attained, 10^9 bytes in a second."),
      field("attainable_gflops", &of::attainable_gflops, same, always,
            "With this intensity: the least of the peak, and of intensity times bandwidth."),
      field("share", &of::share, same, always, "Attained over attainable."),
      field("bound", &of::bound, same, always, "By memory where the intensity is below peak over bandwidth."),
      field("threads", &of::threads, same, always,
            "That were taken to have worked at once: the ceilings are the least of what one attains alone, and "
            "of its part of what all attain together."));
}

constexpr auto fields(type<region>) {
  using of = region;
  return list(
      "region", "A call path on a device.",
      extra<std::string>{"name", always,
                         "The last of its path's names; a payload's texts in brackets behind it. The path is that of "
                         "the row whose id is \"parent\", which stands before this one, and this name."},
      extra<std::vector<std::string>>{"path", sometimes,
                                      "Names from the root of the thread, where no row before this one has them."},
      field("id", &of::id, same, always,
            "Of path and device, equal in all processes that run the same code: 64 bits in hexadecimal.", id),
      field("parent", &of::parent, same, always, "The id of the path above, null at the root.", id_or_none),
      field("site", &of::site, same, always, "Where the marker stands in the source."),
      field("kind", &of::kind, same, always, "What it is an account of: docs/design.md."),
      field("level", &of::level, same, sometimes,
            "How deep in the stack its marker says that it stands; absent where it says nothing."),
      field("device", &of::device, same, always, "Its place in \"devices\"."),
      field("threads", &of::threads, sum, always, "How many threads ran it; null: not known.", not_zero),
      field("count", &of::count, sum, always, "How often it ended."),
      field("total_ns", &of::total_ns, sum, always, "Nanoseconds of all events, over all threads; null: not timed.",
            timed),
      field("self_ns", &of::self_ns, sum, always, "Without nested regions of the same thread.", timed),
      field("per_thread", &of::per_thread, sum, sometimes,
            "How threads differ in that; absent where no thread's time is known by itself."),
      field("min_ns", &of::min_ns, least, always, "The shortest duration, nanoseconds.", timed),
      field("max_ns", &of::max_ns, greatest, always, "The longest.", timed),
      follows(
          "p50_ns", [](const region& row) { return row.quantile_ns(0.5); }, always, "The median."),
      follows(
          "p90_ns", [](const region& row) { return row.quantile_ns(0.9); }, always,
          "Nine of ten events take no longer."),
      follows(
          "p99_ns", [](const region& row) { return row.quantile_ns(0.99); }, always,
          "99 of 100 events take no longer."),
      field("histogram", &of::durations, sum, always, "Of the durations."),
      field("attributes", &of::attributes, sum, always, "What members of payloads, and metrics, said; by their name."),
      field("overhead_ns", &of::overhead_ns, known_sum, always, "Cost of observing it; null: not known."),
      field("context", &of::context, sum, always,
            "What the kernel did with its threads, nested regions of the same thread included; null: not known."),
      field("self_context", &of::self_context, sum, always, "Without nested regions; null: not known."),
      field("samples", &of::samples, known_sum, always,
            "On a core, without nested regions; null where none were asked for."),
      field(
          "sampled", &of::timed_events, part, sometimes,
          "Events that were timed, of those counted. Present where an overhead budget has left out others: all figures "
          "of the region but min_ns and max_ns are estimates."),
      field("count_error", &of::count_variance, sum, sometimes, "Standard error of count, where sampled is present.",
            root),
      field("total_error_ns", &of::total_variance, sum, sometimes,
            "Standard error of total_ns, where sampled is present.", root),
      field("measured_on", &of::measured_on, sum, sometimes,
            "How the region's marker was recorded, and for how long in ns, summed over processes. Absent without an "
            "overhead budget."),
      field("across_ranks", &of::across_ranks, apart, sometimes,
            "How ranks differ in it; absent where there is but one."),
      field("joint", &of::joint, apart, sometimes,
            "Of a collective call of MPI: how long ranks waited in it for the last one. Absent where that is not "
            "known."),
      field("roofline", &of::roofline, apart, sometimes,
            "How near it came to what the machine can do. Absent where flops, bytes, time or ceilings are not known."));
}

constexpr auto fields(type<device_clock_usage>) {
  using of = device_clock_usage;
  return list("clock", "What clock a device's times were taken in, and how it was converted to CLOCK_MONOTONIC.",
              field("name", &of::clock, same, always, "Of the clock."),
              field("sync_points", &of::sync_points, same, always, "How often it was compared."),
              field("offset_ns", &of::offset_ns, same, always, "CLOCK_MONOTONIC less this clock."),
              field("drift_ppm", &of::drift_ppm, same, always, "By how much faster CLOCK_MONOTONIC runs."),
              field("residual_ns", &of::residual_ns, same, always, "By how much the last sync point was off."));
}

constexpr auto fields(type<latencies>) {
  using of = latencies;
  return list(
      "latencies", "Waits of operations.",
      field("total_ns", &of::total_ns, sum, always, "Nanoseconds of all operations."),
      follows(
          "p50_ns", [](const of& all) { return all.durations.quantile(0.5); }, always, "The median."),
      follows(
          "p99_ns", [](const of& all) { return all.durations.quantile(0.99); }, always, "99 of 100 take no longer."),
      field("histogram", &of::durations, sum, always, "Of the waits.", unshown));
}

constexpr auto fields(type<amount>) {
  return list("amount", "How much was moved or computed, and in what time.",
              field("sum", &amount::sum, sum, always, "Bytes, or operations."),
              field("time_ns", &amount::time_ns, sum, always, "Nanoseconds that it took."),
              follows("per_second", &amount::per_second, always, "The one over the other; null: no time."));
}

constexpr auto fields(type<device_usage>) {
  using of = device_usage;
  return list(
      "device", "A processor. Its times are unions: what it did at once counts once.",
      extra<std::uint64_t>{"id", always, "Its place in this list, to which \"device\" of a region refers."},
      field("kind", &of::kind, same, always, "What kind of processor."),
      field("index", &of::index, same, always, "The program's number of it, among its kind."),
      field("name", &of::name, same, always, "As the program, or an adapter, calls it."),
      field("observed_ns", &of::observed_ns, sum, always, "How long it was looked at."),
      field("busy_ns", &of::busy_ns, known_sum, always,
            "Of the host: CPU time of the process over the CPUs that it may use."),
      field("kernel_ns", &of::kernel_ns, known_sum, always, "Running kernels."),
      field("copy_ns", &of::copy_ns, known_sum, always, "Copying in either direction, and filling."),
      field("exposed_copy_ns", &of::exposed_copy_ns, known_sum, always, "Copying while no kernel ran."),
      follows("other_ns", &of::other_ns, always, "Busy with neither kernels nor copies."),
      follows("idle_ns", &of::idle_ns, always, "Observed, and not busy."),
      field("launch_idle_ns", &of::launch_idle_ns, known_sum, always, "Idle although something had been submitted."),
      follows("starved_ns", &of::starved_ns, always, "Idle, and nothing had been submitted."),
      field("awaited_ns", &of::awaited_ns, known_sum, always, "Busy while the host waited for a device."),
      follows("overlap", &of::overlap, always, "The part of its busy time in which the host did not wait.", fraction),
      field("work_ns", &of::work_ns, known_sum, always, "The durations of all operations, a sum."),
      follows("concurrency", &of::concurrency, always, "Operations at a time, while busy."),
      field("operations", &of::operations, sum, always, "Also offloads, for which the host waited."),
      field("queues", &of::queues, greatest, always, "64: at least that many."),
      follows(
          "queue_wait_ns",
          [](const device_usage& usage) {
            return usage.queue_wait ? std::optional(usage.queue_wait->total_ns) : std::nullopt;
          },
          always, "From submitted to started; a sum over operations."),
      field("queue_wait", &of::queue_wait, sum, always, "From submitted to started."),
      field("launch_latency", &of::launch_latency, sum, always, "Of that, with nothing before it in its queue."),
      field("bytes_to", &of::to_device, sum, always, "Bytes copied to it, over the sum of the copies' durations."),
      field("bytes_from", &of::from_device, sum, always, "Bytes copied from it."),
      field("flops", &of::flops, sum, always, "Operations in kernels, over the time in which these ran."),
      field("clock", &of::clock, worst, always, "What clock its times were taken in; null for CLOCK_MONOTONIC."),
      follows("utilisation", &of::utilisation, always, "Busy over observed.", fraction),
      field("late", &of::late, sum, always, "Operations that came too late to be placed exactly."),
      field("skipped", &of::skipped, sum, always, "Operations and waits of the process that could not be booked."),
      field("context", &of::context, sum, always,
            "Of the host: what the kernel did with all threads that announced themselves, in regions and outside."));
}

constexpr auto fields(type<offload_usage>) {
  using of = offload_usage;
  return list("offload", "How the host and its devices went together.",
              field("observed_ns", &of::observed_ns, sum, always, "Sum over processes."),
              field("waited_ns", &of::waited_ns, sum, always,
                    "In which a thread of the host waited for a device; null: none said so."),
              field("busy_ns", &of::busy_ns, sum, always, "In which any device was busy."));
}

constexpr auto fields(type<efficiencies>) {
  using of = efficiencies;
  return list("efficiency",
              "The efficiencies of POP and TALP; device_parallel is the product of the three that follow.",
              field("device_parallel", &of::device_parallel, apart, always,
                    "Time in kernels over the time observed, of all devices."),
              field("device_load_balance", &of::device_load_balance, apart, always,
                    "Mean time in kernels over the greatest of a device."),
              field("device_communication", &of::device_communication, apart, always,
                    "That greatest over the greatest time in kernels and exposed copies."),
              field("device_orchestration", &of::device_orchestration, apart, always, "That over the time observed."),
              field("device_offload", &of::device_offload, apart, always,
                    "Of the host: the part of its time in which it did not wait for devices."));
}

constexpr auto fields(type<unread_programs>) {
  using of = unread_programs;
  return list("unread", "Programs that ended without telling, and took with them what was in their recorders.",
              field("programs", &of::programs, sum, always, "How many."),
              field("up_to_ns", &of::up_to_ns, greatest, always, "Between the last reading and the end, at most."));
}

constexpr auto fields(type<refused_programs>) {
  using of = refused_programs;
  return list("refused",
              "Programs that could not be looked into: their memory is not to be read, or markers in them were built "
              "with other headers.",
              field("programs", &of::programs, sum, always, "How many."),
              field("why", &of::why, joined, always, "A reason; of a merged profile all, joined by \" | \"."));
}

constexpr auto fields(type<account>) {
  using of = account;
  return list(
      "accounting", "begun = ended + open + the sum of lost, always.",
      field("begun", &of::begun, sum, always, "Events that began."),
      field("ended", &of::ended, sum, always, "And ended: those in the rows."),
      field("open", &of::open, sum, always, "And have not ended."),
      field("lost", &of::lost, sum, always, "By reason; reasons that did not occur are absent."),
      field("unmatched", &of::unmatched, sum, always,
            "Begins without an end, which are among the lost, and ends without a begin."),
      field("unnamed", &of::unnamed, sum, always, "Call paths that were counted, but could not be named at the time."),
      field("overhead_ns", &of::overhead_ns, known_sum, always, "Cost of observing in all; null: not known."),
      field("unread", &of::unread, sum, sometimes,
            "Absent where there was none. What they lost is an estimate, \"not_read\" among the lost; so is begun "
            "then."),
      field("refused", &of::refused, sum, sometimes,
            "Absent where there was none. Of what they lost, one event each is \"not_read\" among the lost."));
}

constexpr auto fields(type<context_account>) {
  using of = context_account;
  return list("context_account", "How much there is to know of what the kernel did with threads in regions.",
              field("threads", &of::threads, sum, always,
                    "Threads that announced themselves to the kernel; null: none did.", not_zero),
              field("lost", &of::lost, sum, always, "Stretches off the core, page faults, or threads, by reason."),
              field("cost_ns", &of::cost_ns, known_sum, sometimes,
                    "CPU time that it took, as the programs in the kernel saw it."));
}

constexpr auto fields(type<sample_usage>) {
  using of = sample_usage;
  return list("samples", "Samples of threads on their cores, taken by a clock on each.",
              field("samples", &of::samples, sum, always, "In regions and outside."),
              field("observed_ns", &of::observed_ns, sum, always,
                    "The time that they represent: for each sample, the time since the last tick of its clock."),
              field("lost", &of::lost, sum, always, "Samples, stretches off the core, or stacks, by reason."),
              field("cost_ns", &of::cost_ns, known_sum, sometimes,
                    "CPU time that they took, as the programs in the kernel saw it."));
}

constexpr auto fields(type<sampled_frame>) {
  using of = sampled_frame;
  return list("frame", "A function that was met in stacks, with the time of the stacks that end in it.",
              field("name", &of::name, same, always,
                    "Of the function; \"(others)\": all that were called here and are not listed."),
              field("depth", &of::depth, same, always,
                    "Of the frame that called it, and stands before it, one less; 0: the outermost."),
              field("on_cpu_ns", &of::on_cpu_ns, sum, always, "Samples times what each stands for."),
              field("blocked_ns", &of::blocked_ns, sum, always, "Slept until something woke it."),
              field("waiting_ns", &of::waiting_ns, sum, always, "Could run, and had no core."));
}

constexpr auto fields(type<region_stacks>) {
  using of = region_stacks;
  return list("stacks", "Stacks that were taken in a region, and not in one that is nested in it.",
              field("region", &of::region, same, always, "Its id; null: outside all regions.", id_or_none),
              field("frames", &of::frames, apart, always, "Callers before what they call."));
}

constexpr auto fields(type<timeline_usage>) {
  return list("timeline", "What went into the file of a timeline.",
              field("events", &timeline_usage::events, sum, always, "That were written."),
              field("lost", &timeline_usage::lost, sum, always,
                    "For which there was no room in a thread's ring, or in the file."),
              field("unchanged", &timeline_usage::unchanged, sum, always,
                    "Values of metrics that never changed: they are not in the file."),
              field("thinned", &timeline_usage::thinned, sum, always,
                    "Events of regions that the overhead budget thinned: they are not in the file. An estimate."),
              field("beyond_limit", &timeline_usage::beyond_limit, sum, always,
                    "Events that came after the file had reached `timeline_limit`."));
}

constexpr auto fields(type<last_region>) {
  using of = last_region;
  return list("last_region", "A region in which threads of a process were when it ended.",
              field("path", &of::path, same, always, "Names from the root of the thread."),
              field("threads", &of::threads, same, always, "How many were in it."),
              field("age_ns", &of::age_ns, same, always, "How long the oldest of them had been in it."));
}

constexpr auto fields(type<thread_info>) {
  using of = thread_info;
  return list("thread", "A thread, from its start to the last look at it: what is missing of its time, it was blocked.",
              field("tid", &of::tid, same, always, "Its number."),
              field("name", &of::name, same, always, "As the system knows it; up to 15 bytes."),
              field("alive_ns", &of::alive_ns, same, always, "How long it existed, to within 10 ms."),
              field("on_cpu_ns", &of::on_cpu_ns, same, always, "On a core."),
              field("runnable_ns", &of::runnable_ns, same, always, "Waiting for a core."),
              field("last_cpu", &of::last_cpu, same, sometimes, "The processor on which it was last."));
}

constexpr auto fields(type<machine_node>) {
  using of = machine_node;
  return list("machine_node", "A NUMA node: memory, and the processors that are next to it.",
              field("node", &of::node, same, always, "Its number."),
              field("socket", &of::socket, same, sometimes, "In which its processors are. Absent where not known."),
              field("cpus", &of::cpus, same, always, "Its processors, as a list of numbers and ranges."),
              field("memory_bytes", &of::memory_bytes, same, sometimes, "Of its memory. Absent where not known."));
}

constexpr auto fields(type<machine_device>) {
  using of = machine_device;
  return list("machine_device", "A device on the PCI bus that computes or communicates, used or not.",
              field("kind", &of::kind, same, always, "gpu, accelerator or network, by its class."),
              field("address", &of::address, same, always, "On the bus."),
              field("id", &of::id, same, sometimes, "Of vendor and device, in hexadecimal."),
              field("node", &of::node, same, sometimes, "The NUMA node that it is next to. Absent where not known."));
}

constexpr auto fields(type<machine>) {
  using of = machine;
  return list("machine", "What a machine consists of, as its /sys says.",
              field("host", &of::host, same, always, "Its name."),
              field("sockets", &of::sockets, same, sometimes, "How many; so the next two. Absent where not known."),
              field("cores", &of::cores, same, sometimes, "With their own units of execution."),
              field("cpus", &of::cpus, same, sometimes, "Logical processors that were online."),
              field("nodes", &of::nodes, same, sometimes, "NUMA nodes."),
              field("devices", &of::devices, same, sometimes, "The first 64 by their address."));
}

constexpr auto fields(type<process_info>) {
  using of = process_info;
  return list(
      "process", "A process that was observed.", field("pid", &of::pid, same, always, "Its number."),
      field("command", &of::command, same, always, "Its executable."),
      field("host", &of::host, same, always, "The name of its machine."),
      field("duration_ns", &of::duration_ns, same, always, "How long it was observed; null: not known.", not_zero),
      field("arguments", &of::arguments, same, sometimes,
            "What it was started with, its name first; cut off at 4,096 bytes. Absent where not known."),
      field("started", &of::started, same, sometimes,
            "When it began to be observed: ISO 8601, UTC. Absent where not known."),
      field("ended_in", &of::ended_in, same, sometimes,
            "The innermost region of each thread, of a process that has ended in the middle."),
      field("threads", &of::threads, same, always,
            "That ran markers at a time, at most: a short-lived one may hand its place to the next; null: not known."),
      field("rank", &of::rank, same, sometimes, "In its MPI program; absent: it has none."),
      field("killed", &of::killed, same, sometimes,
            "true: it left what it had recorded, and no report. Absent otherwise."),
      field("signal", &of::signal, same, sometimes,
            "The number of the signal that ended it. Absent where none did, or that is not known."),
      field("parent", &of::parent, same, sometimes, "The process that has started it. Absent where not known."),
      field("cpu_ns", &of::cpu_ns, same, sometimes,
            "CPU time of all its threads, while it was observed. Absent where not known."),
      field("thread_list", &of::thread_list, same, sometimes,
            "Its threads, with markers or without: the 64 that were longest on a core. Absent where not known."));
}

constexpr auto fields(type<unlisted_processes>) {
  using of = unlisted_processes;
  return list("unlisted", "Processes that are counted, and not listed.",
              field("processes", &of::processes, sum, always, "How many."),
              field("duration_ns", &of::duration_ns, sum, always,
                    "How long they were observed, a sum; null: not known.", not_zero));
}

constexpr auto fields(type<rank_place>) {
  return list("rank_place", "A rank, and where it ran.",
              field("rank", &rank_place::rank, same, always, "In its MPI program."),
              field("host", &rank_place::host, same, always, "The name of its machine."));
}

constexpr auto fields(type<rank_list>) {
  return list("rank_list", "Ranks of which something is to be said.",
              field("count", &rank_list::count, whole, always, "How many."),
              field("first", &rank_list::first, whole, always, "The lowest of them, up to 16."));
}

constexpr auto fields(type<program_ranks>) {
  return list("program_ranks", "A program, and the ranks that run it.",
              field("program", &program_ranks::program, same, always, "Its executable."),
              field("ranks", &program_ranks::ranks, whole, always, "Those that run it."));
}

constexpr auto fields(type<rank_account>) {
  using of = rank_account;
  return list("about_ranks", "What is known of the ranks in addition to their figures.",
              field("end", &of::end, whole, always, "One more than the greatest rank."),
              follows("host_count", &of::count_hosts, always,
                      "How many hosts they ran on; from 256 on an estimate, within 7 %."),
              field("hosts", &of::hosts, whole, sometimes, "Their names, those with the lowest hashes, up to 256."),
              field("programs", &of::programs, whole, sometimes, "What they run, the first 32 by the alphabet."),
              field("without_regions", &of::without_regions, whole, always, "In which no region ended."),
              field("killed", &of::killed, whole, always, "That left what they had recorded, and no report."),
              field("missing", &of::missing, whole, always, "Of which nothing came; they are in no figure."));
}

constexpr auto fields(type<node_time>) {
  using of = node_time;
  return list("node", "Ranks of one host, and a time of all of them.",
              field("host", &of::host, same, always, "Its name."),
              field("ranks", &of::ranks, same, always, "How many were added."),
              field("time_ns", &of::time_ns, same, always, "Of all of these."));
}

constexpr auto fields(type<rank_errors>) {
  using of = rank_errors;
  return list("rank_errors", "Standard errors of a time of each rank, in whole nanoseconds.",
              field("sum_of_squares", &of::squares, whole, always, "Over all ranks: 128 bits in hexadecimal."),
              field("greatest_ns", &of::greatest_ns, whole, always, "The greatest of one rank."));
}

constexpr auto fields(type<mpi_usage>) {
  using of = mpi_usage;
  return list(
      "mpi",
      "How long ranks were in MPI and outside, and POP's efficiencies: the parallel one is load balance times "
      "communication, load balance what it is within nodes times what it is between them.",
      field("longest_ns", &of::longest_ns, whole, always,
            "The run of the rank that took longest, from the end of MPI_Init on."),
      field("ranks_without", &of::ranks_without, whole, always,
            "Ranks without a call of MPI: they are in no other figure."),
      field("outside", &of::outside, apart, always, "The time outside MPI in that run, for each rank."),
      field("outside_errors", &of::outside_errors, whole, sometimes,
            "Standard errors of these times, if an overhead budget has thinned calls of MPI. Absent: all are exact."),
      field("busiest_node", &of::busiest, apart, sometimes,
            "The node with the longest mean time outside MPI; absent if not known."),
      follows("parallel_efficiency", &of::parallel_efficiency, always, "Mean time outside MPI over the longest run.",
              fraction),
      follows("load_balance", &of::load_balance, always, "Mean time outside MPI over the greatest of a rank.",
              fraction),
      follows("load_balance_in", &of::load_balance_in, always,
              "Within nodes: the greatest mean of a node over the greatest of a rank.", fraction),
      follows("load_balance_out", &of::load_balance_out, always,
              "Between nodes: the mean over the greatest mean of a node.", fraction),
      follows("communication_efficiency", &of::communication_efficiency, always,
              "The greatest time outside MPI over the longest run.", fraction),
      follows("parallel_error", &of::parallel_error, always,
              "Standard error of parallel_efficiency; null: the efficiency is exact or unknown. An efficiency with "
              "an error greater than its value is null."),
      follows("load_balance_error", &of::load_balance_error, always, "Standard error of load_balance."),
      follows("load_balance_in_error", &of::load_balance_in_error, always, "Standard error of load_balance_in."),
      follows("load_balance_out_error", &of::load_balance_out_error, always, "Standard error of load_balance_out."),
      follows("communication_error", &of::communication_error, always, "Standard error of communication_efficiency."),
      follows(
          "serialisation_efficiency", [](const of&) { return std::optional<double>(); }, always,
          "Always null: it takes a replay of the run on an ideal network."),
      follows(
          "transfer_efficiency", [](const of&) { return std::optional<double>(); }, always, "Likewise."));
}

constexpr auto fields(type<heat_row>) {
  using of = heat_row;
  return list("heat_row", "The time of a region by rank. null: no rank of the bin has it.",
              field("region", &of::region, same, always, "Its id.", id),
              field("device", &of::device, same, always, "Its place in \"devices\"."),
              field("mean_ns", &of::mean_ns, same, always, "Of each bin's ranks."),
              field("min_ns", &of::min_ns, same, sometimes, "Of each bin's ranks; absent where a bin holds one."),
              field("max_ns", &of::max_ns, same, sometimes, "Likewise."));
}

constexpr auto fields(type<heat_map>) {
  using of = heat_map;
  return list(
      "heat_map",
      "The time of the largest regions by rank. Element b stands for the ranks from b * ranks_per_bin on. Times "
      "are rounded to a millionth of the region's longest.",
      field("ranks", &of::ranks, same, always, "They are numbered from 0 to below this."),
      field("ranks_per_bin", &of::ranks_per_bin, same, always, "That an element stands for."),
      field("rows", &of::rows, same, always, "Up to 64 regions, the largest first."));
}

constexpr auto fields(type<budget_usage>) {
  using of = budget_usage;
  return list("budget", "Whether an overhead budget was kept. Nanoseconds of CPU time, of all processes.",
              field("cpu_ns", &of::cpu_ns, sum, always, "That they used while they were observed."),
              field("allowed_ns", &of::allowed_ns, sum, always, "How much of it observing might cost."),
              field("cost_ns", &of::cost_ns, sum, always,
                    "What it has cost: events, as in \"accounting\", context and samples."));
}

constexpr auto fields(type<finding>) {
  using of = finding;
  return list("finding", "Something that is slow, in one place: docs/findings.md.",
              field("kind", &of::kind, same, always, "What is slow: docs/findings.md."),
              field("path", &of::path, same, sometimes,
                    "Of the region where it is worst; absent for a device, or the whole run."),
              field("region", &of::region, same, always, "Its id, null where there is none.", id_or_none),
              field("device", &of::device, same, always, "Its place in \"devices\"."),
              field("rank", &of::rank, same, sometimes, "The slowest; absent where it is not about ranks, or a node."),
              field("host", &of::host, same, sometimes, "Of that rank, or the node."),
              field("late_in", &of::late_in, same, sometimes,
                    "Of a late rank: the path of the region in which it takes longest beyond the ranks' mean."),
              field("share", &of::share, same, always,
                    "Of the run: time_ns over its duration, of all threads together, or over what was observed of a "
                    "device."),
              field("time_ns", &of::time_ns, same, always, "That it concerns."),
              field("error_ns", &of::error_ns, same, always, "Standard error of that; null where it is exact."),
              field("known_part", &of::known_part, same, sometimes,
                    "The share of the threads' time that is known. Absent: all is known."),
              field("count", &of::count, same, always, "Of waits, faults, threads, events, operations, ranks."),
              field("unit", &of::unit, same, always, "Of value and against."),
              field("value", &of::value, same, always, "What gave it away."),
              field("against", &of::against, same, always, "A threshold, or what is usual in this place."),
              field("next", &of::next, same, always, "What to try."));
}

constexpr auto fields(type<profile>) {
  using of = profile;
  return list(
      "profile",
      "What a collector has found. Times are nanoseconds. A quantity that could not be had is null, never 0. A sum of "
      "several processes is null if a part of it is unknown. New keys "
      "may appear in objects only together with a new number in \"schema\".",
      extra<int>{"schema", always, "The version of this description."},
      field("engine", &of::engine, joined, always,
            "How events were caught. A merged profile names all engines of its parts, joined by \" | \"; empty: "
            "nothing was collected."),
      field("mechanism", &of::mechanism, joined, always, "The engine's way of working, for people."),
      field("reason", &of::reason, joined, always, "Why this engine, for people."),
      field("version", &of::version, joined, sometimes, "Of the adaptyst that has collected it, e.g. \"0.1.0\"."),
      follows("date", &of::date, always,
              "When the first process began to be observed: ISO 8601, UTC; null: not known."),
      field("metadata", &of::metadata, joined, sometimes,
            "What the program has reported of its run, by name (adaptyst::metadata()). A merged profile names all "
            "values, joined by \" | \"."),
      field("metadata_lost", &of::metadata_lost, sum, sometimes,
            "How many calls of adaptyst::metadata() found no room; absent: none."),
      field(
          "options", &of::options, joined, sometimes,
          "What was asked for, by the names in docs/options.md: what differs from the defaults. A merged profile names "
          "all values of an option, joined by \" | \"."),
      field("devices", &of::devices, apart, always, "Processors. The first is the host's CPU."),
      field("offload", &of::offload, sum, always, "How the host and its devices went together."),
      follows("efficiency", compute_efficiencies, always, "How well host and devices were used."),
      follows("findings", analyse, always, "What to look at first, by their share of the run."),
      field("regions", &of::regions, apart, always, "One entry for each call path and device; parents before children.",
            rows),
      field("accounting", &of::accounting, sum, always, "What became of all events."),
      field("context", &of::context, sum, sometimes, "Absent where the kernel was not asked."),
      field("samples", &of::samples, sum, sometimes, "Absent where none were asked for."),
      field("stacks", &of::stacks, apart, sometimes,
            "By region, the frames with most time, 2,048 at most; absent where no stacks were taken, and where ranks "
            "were merged while they ran.",
            rows),
      field("budget", &of::budget, sum, sometimes, "Absent where none was kept."),
      field("timer_floor_ns", &of::timer_floor_ns, greatest, sometimes,
            "What a region that holds nothing lasts: so much of each duration is no work. Of a merged profile, the "
            "longest."),
      field("sampled_floor_ns", &of::thinned_floor_ns, greatest, sometimes,
            "What such a region lasts as a sample of many: the durations of sampled events were shortened by it."),
      field("sampled_floor_error_ns", &of::thinned_floor_error_ns, greatest, sometimes,
            "The uncertainty of that; total_error_ns holds its share."),
      field("timeline", &of::timeline, sum, sometimes, "Absent where none was asked for."),
      field("functions", &of::functions, sum, sometimes,
            "Samples on a core by function, of programs in which no marker ran: those that were found most often."),
      field("not_probed", &of::not_probed, joined, sometimes,
            "Functions that were to be regions, that the program imports, and that can have no probe, with the reason: "
            "their time is that of what calls them."),
      extra<std::optional<process_info>>{
          "process", always, "The process observed, the first where there are several; null where none is known."},
      extra<std::vector<process_info>>{"processes", sometimes,
                                       "All processes of a merged profile, absent where there is but one; of more "
                                       "than 1024 ranks, those that are extremes somewhere."},
      field("unlisted", &of::unlisted, apart, sometimes, "Processes that are not in \"processes\"."),
      field("machines", &of::machines, apart, sometimes,
            "That processes ran on, the first 64 hosts by the alphabet. Absent where not known, and where ranks were "
            "merged while they ran."),
      field("ranks", &of::ranks, apart, sometimes,
            "Of an MPI program, that were merged; absent where there is but one."),
      field("about_ranks", &of::about_ranks, apart, sometimes, "Absent where there is but one."),
      field("mpi", &of::mpi, apart, sometimes, "Of ranks that were merged; absent where no calls of MPI were seen."),
      field("heat_map", &of::heat, apart, sometimes,
            "Of ranks that were merged in one step; absent where merged profiles were merged again."),
      field("ceilings", &of::ceilings, apart, sometimes,
            "Of the machine, by which regions have a \"roofline\". Absent where none has."));
}

}  // namespace adaptyst::lib::listed

#endif
