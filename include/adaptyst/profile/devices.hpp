// Devices, their times, and their overlap with the host: docs/devices.md. Part of <adaptyst/profile.hpp>.
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
struct device_clock_sync {
  clock_id clock = clock_id::unknown;
  std::uint32_t sync_points = 0;
  std::int64_t offset_ns = 0;     // CLOCK_MONOTONIC - this clock
  double drift_ppm = 0;           // > 0: CLOCK_MONOTONIC runs faster
  std::uint64_t residual_ns = 0;  // error of the last sync point
};

// Waits of operations: sum and distribution.
struct wait_times {
  std::uint64_t total_ns = 0;
  histogram durations;
};

// A sum of bytes or flops, and its time.
struct amount {
  double sum = 0;
  std::uint64_t time_ns = 0;

  std::optional<double> per_second() const;
};

// A processor. Its times are unions: overlapping operations count once. They add up:
//   observed = busy + idle,  busy = kernel + exposed copy + other,  idle = launch idle + starved
struct device_usage {
  device_kind kind = device_kind::other;
  std::uint32_t index = 0;
  std::string name;
  std::uint64_t observed_ns = 0;         // duration of the observation
  std::optional<std::uint64_t> busy_ns;  // host: CPU time of the process / its allowed CPUs
  std::optional<std::uint64_t> kernel_ns;
  std::optional<std::uint64_t> copy_ns;          // copies in either direction, and fills
  std::optional<std::uint64_t> exposed_copy_ns;  // copying while no kernel ran
  std::optional<std::uint64_t> launch_idle_ns;   // idle although an operation was submitted
  std::optional<std::uint64_t> unused_ns;        // before the first submission; a part of starved
  std::optional<std::uint64_t> host_waiting_ns;  // busy, and the host waited for a device
  std::optional<std::uint64_t> work_ns;          // sum of the durations of operations
  std::uint64_t operations = 0;                  // includes offloads
  std::uint32_t queues = 0;                      // capped at 64
  std::optional<wait_times> queue_wait;          // submitted to started
  // Part of queue_wait during which the queue of the operation was free.
  std::optional<wait_times> launch_latency;
  std::optional<amount> to_device, from_device;  // bytes; time: sum of copy durations
  std::optional<amount> flops;                   // time: union of kernels
  std::optional<device_clock_sync> clock;        // absent: times came in CLOCK_MONOTONIC
  std::uint64_t late = 0;                        // operations that completed too late for exact times
  std::uint64_t skipped = 0;                     // operations and waits of the process that could not be recorded
  // Host only: all announced threads, in and out of regions; absent if there were none.
  std::optional<os_context> context;

  std::optional<std::uint64_t> idle_ns() const;
  std::optional<std::uint64_t> other_ns() const;    // busy with neither kernels nor copies
  std::optional<std::uint64_t> starved_ns() const;  // idle with nothing submitted
  std::optional<double> utilisation() const;        // busy over observed, 0 … 1
  std::optional<double> concurrency() const;        // mean number of operations while busy
  std::optional<double> overlap() const;            // share of busy time in which the host did not wait, 0 … 1
};

// Overlap of the host and its devices.
struct offload_usage {
  std::uint64_t observed_ns = 0;           // sum over processes
  std::optional<std::uint64_t> waited_ns;  // time in which a host thread waited for a device; absent: not reported
  std::optional<std::uint64_t> busy_ns;    // time in which any device was busy
};

// The efficiencies of POP and TALP, 0 … 1; unknown values are absent. For D devices with useful time U (kernels) and
// active time A (kernels and exposed copies), observed for T:
//
//   device parallel efficiency   sum U / (D T), the product of the next three
//     load balance               (sum U / D) / max U
//     communication              max U / max A
//     orchestration              max A / T
//   device offload efficiency    of the host: 1 - waited / T, time in MPI included
//
// One waiting thread counts as the whole process. Definitions: BSC's DLB/TALP, https://pop-coe.eu.
struct efficiencies {
  std::optional<double> device_parallel, device_load_balance, device_communication, device_orchestration;
  std::optional<double> device_offload;
};

// Names in files and tables.
const char* to_string(device_kind kind);
const char* to_string(clock_id clock);

}}  // namespace adaptyst::v1

#endif
