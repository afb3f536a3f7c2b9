#include "timer_samples.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../discover/machine.hpp"
#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t all_bytes = std::size_t{16} << 20;
constexpr std::size_t max_begun = std::size_t{1} << 16, max_frames = 127, word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t search_interval_ns = 1'000'000'000;

#ifdef __aarch64__
constexpr std::size_t frame_pointer_at = 29, stack_pointer_at = 31, pc_at = 32;
#else
constexpr std::size_t frame_pointer_at = 6, stack_pointer_at = 7, pc_at = 8;
#endif

sample_slot_state state_of(std::uint64_t word) { return static_cast<sample_slot_state>(word & 0xffU); }
std::uint64_t read_word(const std::uint64_t& from) { return __atomic_load_n(&from, __ATOMIC_RELAXED); }

// Without /sys, as in sandboxes, the C library may find a part of them only.
std::uint64_t find_processors() {
  const long most = std::max(sysconf(_SC_NPROCESSORS_CONF), sysconf(_SC_NPROCESSORS_ONLN));
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::max(most, 1L)), list_usable_cpus().back() + 1);
}

[[noreturn]] void refuse() {
  throw error("cannot make the memory for samples=timer", errno, "allow 16 MiB more memory; see docs/samples.md");
}

}  // namespace

timer_samples::timer_samples(const timer_choice& chosen)
    : chosen_(chosen),
      slots_(static_cast<std::uint32_t>(
          std::min<std::size_t>(all_bytes / (chosen.stack_bytes + sizeof(sample_slot)), max_sample_slots))),
      slot_bytes_(static_cast<std::uint32_t>(chosen.stack_bytes + sizeof(sample_slot))),
      file_(static_cast<int>(syscall(SYS_memfd_create, "adaptyst-samples", MFD_CLOEXEC | MFD_ALLOW_SEALING))),
      maker_(getpid()),
      processors_(find_processors()),
      begun_ns_(detail::monotonic_ns()) {
  const std::size_t bytes = sample_ring_bytes(slots_, slot_bytes_);
  if (!file_ || posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes)) != 0 ||
      fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    refuse();
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (mapped == MAP_FAILED) refuse();
  ring_ = static_cast<sample_ring*>(mapped);
  ring_->period_ns = chosen_.period_ns;
  ring_->slots = slots_;
  ring_->slot_bytes = slot_bytes_;
  ring_->form = sample_ring_form;
}

timer_samples::~timer_samples() { munmap(ring_, sample_ring_bytes(slots_, slot_bytes_)); }

std::string timer_samples::file() const { return fmt::format("/proc/{}/fd/{}", maker_, file_.get()); }

std::uint64_t timer_samples::fill_ns() const noexcept { return slots_ * chosen_.period_ns / processors_; }

std::uint64_t timer_samples::max_samples() const noexcept {
  return slots_ + (detail::monotonic_ns() - begun_ns_) / chosen_.period_ns * processors_;
}

timer_losses timer_samples::lost() const noexcept {
  timer_losses all;
  constexpr std::uint64_t max_threads = std::uint64_t{1} << 22;  // numbers of threads in Linux
  all.ring_full = std::min(read_word(ring_->full), max_samples());
  all.without_signal = std::min(read_word(ring_->without_signal), max_samples());
  all.without_timer = std::min(read_word(ring_->without_timer), max_threads);
  all.damaged = damaged_;
  all.truncated = truncated_;
  return all;
}

void timer_samples::read(const perf_records::taker& visit) {
  const std::uint64_t now_ns = detail::monotonic_ns();
  const bool must_search = now_ns - searched_ns_ >= search_interval_ns;
  if (must_search) searched_ns_ = now_ns;
  for (std::uint32_t at = 0; at != slots_; ++at) {
    const std::uint64_t state = __atomic_load_n(&ring_->states[at], __ATOMIC_ACQUIRE);
    if (state == 0) continue;
    if (state_of(state) == sample_slot_state::claimed) {
      if (must_search) free_abandoned(at, state);
      continue;
    }
    // Also after an exception: a sample is visited once.
    struct release {
      std::uint64_t& state;
      ~release() { __atomic_store_n(&state, 0, __ATOMIC_RELEASE); }
    } const released{ring_->states[at]};
    damaged_ += state_of(state) == sample_slot_state::published ? take(at, visit) : 1;
  }
}

// A thread that is stopped keeps its slot: it may go on to write.
void timer_samples::free_abandoned(std::uint32_t slot, std::uint64_t state) {
  const auto thread = static_cast<pid_t>(state >> 8U & 0x7fffffffU);
  if (thread > 0 && (kill(thread, 0) == 0 || errno != ESRCH)) return;
  if (__atomic_compare_exchange_n(&ring_->states[slot], &state, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ++damaged_;
}

std::uint64_t timer_samples::take(std::uint32_t slot, const perf_records::taker& visit) {
  const char* const begin =
      reinterpret_cast<const char*>(ring_) + sample_ring_head_bytes + std::size_t{slot} * slot_bytes_;
  sample_slot copy;
  std::memcpy(&copy, begin, sizeof copy);
  if (copy.process == 0 || copy.process > INT32_MAX || copy.stack_bytes > chosen_.stack_bytes) return 1;
  const auto process = static_cast<pid_t>(copy.process);
  if (begun_.size() < max_begun) begun_.insert(process);
  if (copy.samples == 0) return 0;
  if (const std::uint64_t most = max_samples(); copy.samples > most - std::min(taken_, most))
    return copy.samples <= max_samples_of_slot ? copy.samples : 1;
  taken_ += copy.samples;
  sample_.process = process;
  sample_.thread = copy.thread;
  sample_.time_ns = std::min(copy.time_ns, detail::monotonic_ns());
  sample_.samples = copy.samples;
  sample_.stack.resize(copy.stack_bytes);
  if (copy.stack_bytes != 0) std::memcpy(sample_.stack.data(), begin + sizeof copy, copy.stack_bytes);
  sample_.registers.clear();
  for (std::uint64_t mask = chosen_.registers, at = 0; at != sample_registers; ++at)
    if ((mask >> at & 1U) != 0) sample_.registers.push_back(copy.registers[at]);
  if (chosen_.registers == 0) fill_frames(copy);
  visit(sample_);
  return 0;
}

// As the kernel does for perf_event_open(), but in the copy.
void timer_samples::fill_frames(const sample_slot& from) {
  const std::uint64_t stack = from.registers[stack_pointer_at];
  const std::vector<char>& copy = sample_.stack;
  std::uint64_t frame = from.registers[frame_pointer_at];
  sample_.frames.assign(1, from.registers[pc_at]);
  while (frame >= stack && frame % word_bytes == 0 && sample_.frames.size() < max_frames) {
    if (copy.size() < 2 * word_bytes || frame - stack > copy.size() - 2 * word_bytes) {
      if (copy.empty() || copy.size() == chosen_.stack_bytes) ++truncated_;
      return;
    }
    std::uint64_t words[2];  // the caller's frame pointer, and the return address
    std::memcpy(words, copy.data() + (frame - stack), sizeof words);
    if (words[1] == 0) return;
    sample_.frames.push_back(words[1]);
    if (words[0] <= frame) return;
    frame = words[0];
  }
}

}  // namespace adaptyst::lib
