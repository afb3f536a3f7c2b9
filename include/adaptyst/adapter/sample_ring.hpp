// The memory in which programs leave stack samples for the observer that has started them: docs/samples.md, "By timers".
//
// The observer makes an unnamed file of fixed size, and programs map it (adapters/timer). A thread claims a free slot,
// fills it, and publishes it; the observer reads published slots and frees them. If a thread ends between these steps,
// its slot is blocked until the observer finds that the thread has ended. All processes write to the same memory, so
// each side copies a value before it checks and uses it. Wait-free; a claim reads at most all states, in 1 us.
#ifndef ADAPTYST_ADAPTER_SAMPLE_RING_HPP
#define ADAPTYST_ADAPTER_SAMPLE_RING_HPP

#include <stddef.h>
#include <stdint.h>

namespace adaptyst { inline namespace v1 {

constexpr uint64_t sample_ring_form = 0x31736b6369747461;  // changes with the layout
constexpr uint32_t max_sample_slots = 1024;
constexpr uint32_t sample_registers = 33;           // in the order of perf_event_open(); x86-64 has the first 24
constexpr uint32_t max_stack_of_slot = 32U * 1024;  // bytes
constexpr uint32_t max_timer_frequency = 250;       // Hz: kernels with fewer ticks a second are rare
// More ticks in a signal: the signal was blocked, and the stack is not that of the ticks.
constexpr uint32_t max_samples_of_slot = 25;

// The low byte of a state; the others are the number of the thread that has claimed the slot.
enum class sample_slot_state : uint8_t { free, claimed, published };

struct sample_ring {
  uint64_t form;
  uint64_t period_ns;  // CPU time between two samples
  uint32_t slots;
  uint32_t slot_bytes;
  // Counted by programs: samples without a free slot; samples without a signal, because the program handles or blocks it;
  // threads without a timer.
  uint64_t full, without_signal, without_timer;
  uint64_t states[max_sample_slots];
};

struct sample_slot {
  uint32_t process, thread;
  uint64_t time_ns;      // CLOCK_MONOTONIC
  uint32_t samples;      // number that this stack represents; 0: only announces the process
  uint32_t stack_bytes;  // copied, from the stack pointer on; they follow this struct
  uint64_t registers[sample_registers];
};

// Slots begin at this offset.
constexpr size_t sample_ring_head_bytes = 12288;
static_assert(sizeof(sample_ring) <= sample_ring_head_bytes, "slots begin behind the states");
static_assert(sizeof(sample_slot) == 24 + 8 * sample_registers, "the layout is shared by separate builds");

inline size_t sample_ring_bytes(uint32_t slots, uint32_t slot_bytes) noexcept {
  return sample_ring_head_bytes + size_t{slots} * slot_bytes;
}

}}  // namespace adaptyst::v1

#endif
