// Processors, what they did, and how host and devices went together: docs/devices.md. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_DEVICES_HPP
#define ADAPTYST_PROFILE_DEVICES_HPP

#include <cstdint>
#include <optional>
#include <string>

#include "../detail/device.hpp"
#include "context.hpp"
#include "histogram.hpp"

namespace adaptyst { inline namespace v1 {

// The clock of a device's times, and its conversion to CLOCK_MONOTONIC.
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
  std::optional<std::uint64_t> waited_ns;  // in which a thread of the host waited for a device; absent: not reported
  std::optional<std::uint64_t> busy_ns;    // in which any device was busy
};

// The efficiencies of POP and TALP, 0 … 1; unknown values are absent. For D devices with useful time U (kernels)
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

// As files and tables have them.
const char* to_string(device_kind kind);
const char* to_string(clock_id clock);

}}  // namespace adaptyst::v1

#endif
