// The words for enums in files and tables, in both directions. If only one analysis uses an enum, its fields.hpp has
// the words.
#ifndef ADAPTYST_LIB_MODEL_WORDS_HPP
#define ADAPTYST_LIB_MODEL_WORDS_HPP

#include <adaptyst/advisor.hpp>
#include <adaptyst/compare.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/profile/findings.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace adaptyst::lib {

// Indexed by value. Words that are written to files never change.
template <class Enum>
inline constexpr int words = 0;

template <>
inline constexpr std::array words<region_kind>{"region", "offload", "wait", "kernel",   "copy_to", "copy_from",
                                               "fill",   "other",   "mark", "function", "metric"};
template <>
inline constexpr std::array words<device_kind>{"cpu", "gpu", "fpga", "accelerator", "other"};
template <>
inline constexpr std::array words<clock_id>{"unknown", "monotonic", "monotonic_raw", "realtime", "boottime", "device"};
template <>
inline constexpr std::array words<loss_reason>{
    "too_deep",      "rows_full",          "tables_full", "no_memory",         "in_signal",        "bad_times",
    "no_times",      "unknown_clock",      "device_lost", "unmatched",         "kernel_rows_full", "kernel_no_memory",
    "kernel_busy",   "not_delivered",      "not_read",    "function_too_deep", "unreadable",       "other_layout",
    "no_wakeup",     "counter_interrupts", "stacks_full", "truncated",         "clock_stopped",    "processors",
    "not_announced", "sample_ring_full",   "throttled",   "region_unknown",    "too_many_threads", "not_unwound",
    "signal_in_use", "not_attached",       "other"};

// The first word means no level; no file contains it.
template <>
inline constexpr std::array words<level>{"none", "application", "model", "layer", "library", "device", "hardware"};
template <>
inline constexpr std::array words<flop_precision>{"double", "single"};
template <>
inline constexpr std::array words<roofline_bound>{"memory", "compute"};

template <>
inline constexpr std::array words<finding_kind>{"lock_wait",        "core_wait",    "io_wait",        "page_faults",
                                                "thread_imbalance", "long_tail",    "fine_markers",   "starved_device",
                                                "exposed_copies",   "launch_bound", "rank_imbalance", "slow_rank",
                                                "slow_node",        "late_rank",    "heap_churn",     "heap_growth"};
template <>
inline constexpr std::array words<finding_unit>{"fraction", "ns", "per_second", "bytes"};
template <>
inline constexpr std::array words<next_step>{
    "hold_locks_shorter",   "use_fewer_threads",   "free_the_cores", "do_larger_io",
    "reuse_memory",         "need_less_memory",    "even_out_work",  "look_at_slow_events",
    "mark_larger_regions",  "ask_kernel_for_less", "submit_earlier", "overlap_copies",
    "launch_fewer_kernels", "even_out_ranks",      "look_at_node",   "free_memory"};

template <>
inline constexpr std::array words<advice_objective>{"throughput", "latency", "energy", "balanced"};
template <>
inline constexpr std::array words<execution_mode>{"one at a time", "pipelined"};
template <>
inline constexpr std::array words<cost_provenance>{"measured", "interpolated", "extrapolated"};
template <>
inline constexpr std::array words<change_verdict>{"slower", "faster", "unclear", "untested", "new", "gone"};
template <>
inline constexpr std::array words<setting_kind>{"engine", "option", "metadata"};
template <>
inline constexpr std::array words<compared_time>{"wall", "running"};
template <>
inline constexpr std::array words<comparison_method>{"single_runs", "permutations", "welch"};

template <class Enum>
const char* word_at(Enum value) {
  return words<Enum>.at(static_cast<std::size_t>(value));
}

// Empty for an unknown word.
template <class Enum>
std::optional<Enum> from_word(std::string_view word) {
  for (std::size_t at = 0; at != words<Enum>.size(); ++at)
    if (words<Enum>[at] == word) return static_cast<Enum>(at);
  return std::nullopt;
}
std::optional<budget_step> step_from_word(std::string_view word);

// Sorted by word.
template <class Key>
std::map<std::string, std::uint64_t> by_word(const std::map<Key, std::uint64_t>& all) {
  std::map<std::string, std::uint64_t> made;
  for (const auto& [key, count] : all) made[to_string(key)] += count;
  return made;
}
// "3 rows_full, 4 too_deep"
std::string list_losses(const losses& all);

// host, gpu0, acc1, ocl0; "?" if unknown. The host is a profile's first device. Another CPU is one that a program uses
// through OpenCL; "cpu0" would read as core 0.
std::string device_label(const std::optional<device_kind>& kind, std::uint32_t index, bool is_host = false);
std::string device_label(const profile& in, std::uint32_t device);
// "~ gpu0" for an asynchronous operation, which may take longer than its parent region.
std::string place_label(region_kind kind, const std::string& device);
// "gpu0  H200"; for the host, label and name are equal and appear once.
std::string named_device(const std::string& label, const std::string& name);

}  // namespace adaptyst::lib

#endif
