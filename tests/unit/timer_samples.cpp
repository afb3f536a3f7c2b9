// Samples in memory that programs write: of well-behaved programs, of programs that end too early, and hostile memory.
#include "session/timer_samples.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include "catch.hpp"

namespace {

using adaptyst::sample_ring;
using adaptyst::sample_slot;
using adaptyst::sample_slot_state;
using adaptyst::lib::perf_sample;
using adaptyst::lib::timer_choice;
using adaptyst::lib::timer_samples;

constexpr std::uint64_t period_ns = 4'000'000;
constexpr std::size_t stack_bytes = 16384;
#ifdef __aarch64__
constexpr std::size_t frame_pointer = 29, stack_pointer = 31, pc = 32;
#else
constexpr std::size_t frame_pointer = 6, stack_pointer = 7, pc = 8;
#endif

// Maps the memory as a program does.
class program {
 public:
  explicit program(const timer_samples& of) : file_(open(of.file().c_str(), O_RDWR | O_CLOEXEC)) {
    REQUIRE(file_ >= 0);
    bytes_ = static_cast<std::size_t>(lseek(file_, 0, SEEK_END));
    mapped_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    REQUIRE(mapped_ != MAP_FAILED);
  }
  ~program() {
    munmap(mapped_, bytes_);
    close(file_);
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  sample_ring& ring() { return *static_cast<sample_ring*>(mapped_); }
  sample_slot& slot(std::uint32_t at) {
    return *reinterpret_cast<sample_slot*>(static_cast<char*>(mapped_) + adaptyst::sample_ring_head_bytes +
                                           std::size_t{at} * ring().slot_bytes);
  }
  std::size_t bytes() const { return bytes_; }
  int file() const { return file_; }

  sample_slot& fill(std::uint32_t at, std::uint32_t samples, const std::vector<std::uint64_t>& stack = {}) {
    sample_slot& made = slot(at);
    made = {};
    made.process = 12;
    made.thread = 13;
    made.time_ns = 5;
    made.samples = samples;
    made.stack_bytes = static_cast<std::uint32_t>(stack.size() * sizeof(std::uint64_t));
    if (!stack.empty()) std::memcpy(reinterpret_cast<char*>(&made) + sizeof made, stack.data(), made.stack_bytes);
    return made;
  }
  void mark(std::uint32_t at, sample_slot_state as, std::uint64_t thread = 13) {
    ring().states[at] = thread << 8U | static_cast<unsigned>(as);
  }

 private:
  int file_;
  std::size_t bytes_ = 0;
  void* mapped_ = nullptr;
};

std::vector<perf_sample> take(timer_samples& from) {
  std::vector<perf_sample> all;
  from.read([&](const perf_sample& taken) { all.push_back(taken); });
  return all;
}

}  // namespace

TEST_CASE("published samples are read once, and their slots are free again") {
  timer_samples samples({period_ns, 0, stack_bytes});
  program writer(samples);
  writer.fill(0, 0);
  writer.mark(0, sample_slot_state::published);
  sample_slot& slot = writer.fill(2, 3, {0x1010, 0x2000, 0, 0x3000});
  slot.registers[pc] = 0x1000;
  slot.registers[stack_pointer] = slot.registers[frame_pointer] = 0x1000;
  writer.mark(2, sample_slot_state::published);
  writer.mark(3, sample_slot_state::claimed, static_cast<std::uint64_t>(getpid()));
  CHECK_FALSE(samples.has_begun(12));
  const std::vector<perf_sample> taken = take(samples);
  CHECK(samples.has_begun(12));
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].process == 12);
  CHECK(taken[0].thread == 13);
  CHECK(taken[0].time_ns == 5);
  CHECK(taken[0].samples == 3);
  CHECK(taken[0].frames == std::vector<std::uint64_t>{0x1000, 0x2000, 0x3000});
  CHECK(writer.ring().states[0] == 0);
  CHECK(writer.ring().states[2] == 0);
  CHECK(writer.ring().states[3] != 0);  // its thread still writes
  CHECK(take(samples).empty());
  CHECK(samples.lost().damaged == 0);
  CHECK(samples.lost().truncated == 0);
}

TEST_CASE("registers are given in the order of a mask, with the copy of the stack") {
  timer_samples samples({period_ns, 1U << 2U | 1U << 5U, stack_bytes});
  program writer(samples);
  sample_slot& slot = writer.fill(0, 1, {7, 8});
  slot.registers[2] = 22;
  slot.registers[5] = 55;
  writer.mark(0, sample_slot_state::published);
  const std::vector<perf_sample> taken = take(samples);
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].registers == std::vector<std::uint64_t>{22, 55});
  CHECK(taken[0].stack.size() == 16);
}

TEST_CASE("a stack without a copy, and one that is longer than the copy, are truncated") {
  timer_samples samples({period_ns, 0, stack_bytes});
  program writer(samples);
  sample_slot& none = writer.fill(0, 1);
  none.registers[pc] = 1;
  none.registers[stack_pointer] = none.registers[frame_pointer] = 0x1000;
  writer.mark(0, sample_slot_state::published);
  sample_slot& longer = writer.fill(1, 1, std::vector<std::uint64_t>(stack_bytes / 8, 9));
  longer.registers[stack_pointer] = 0x1000;
  longer.registers[frame_pointer] = 0x1000 + stack_bytes;
  writer.mark(1, sample_slot_state::published);
  const std::vector<perf_sample> taken = take(samples);
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].frames == std::vector<std::uint64_t>{1});
  CHECK(samples.lost().truncated == 2);
}

TEST_CASE("the slot of a thread that has ended in between is free again, and counted") {
  timer_samples samples({period_ns, 0, stack_bytes});
  program writer(samples);
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  REQUIRE(waitpid(ended, nullptr, 0) == ended);
  writer.mark(4, sample_slot_state::claimed, static_cast<std::uint64_t>(ended));
  CHECK(take(samples).empty());
  CHECK(writer.ring().states[4] == 0);
  CHECK(samples.lost().damaged == 1);
}

TEST_CASE("memory with any content is read in bounded time, and damaged slots are counted") {
  timer_samples samples({period_ns, 0, stack_bytes});
  program writer(samples);
  std::minstd_rand numbers(11);
  for (int round = 0; round != 5; ++round) {
    CAPTURE(round);
    auto* const words = reinterpret_cast<std::uint32_t*>(&writer.ring());
    for (std::size_t at = 0; at != writer.bytes() / sizeof *words; ++at)
      words[at] = static_cast<std::uint32_t>(numbers());
    const std::uint32_t slots = 1000;
    for (std::uint32_t at = 0; at != slots; ++at) {
      writer.ring().states[at] = numbers() % 4 == 0 ? ~std::uint64_t{0} : 0x1302;
      // slot_bytes of the memory is random now
      auto* const slot =
          reinterpret_cast<sample_slot*>(reinterpret_cast<char*>(&writer.ring()) + adaptyst::sample_ring_head_bytes +
                                         std::size_t{at} * (stack_bytes + sizeof(sample_slot)));
      if (at % 2 != 0) continue;
      slot->process = 5;
      slot->samples = 1;
      slot->stack_bytes = at % 4 == 0 ? stack_bytes : 8;
      slot->time_ns = ~std::uint64_t{0};
    }
    for (const perf_sample& sample : take(samples)) {
      CHECK(sample.process > 0);
      CHECK(sample.stack.size() <= stack_bytes);
      CHECK(sample.frames.size() <= 127);
      CHECK(sample.time_ns <= adaptyst::detail::monotonic_ns());
    }
    for (std::uint32_t at = 0; at != slots; ++at) CHECK(writer.ring().states[at] == 0);
  }
  CHECK(samples.lost().damaged > 100);
}

TEST_CASE("a program cannot claim more samples than all processors can have had") {
  timer_samples samples({period_ns, 0, stack_bytes});
  program writer(samples);
  writer.ring().full = writer.ring().without_signal = writer.ring().without_timer = ~std::uint64_t{0};
  writer.fill(0, ~std::uint32_t{0});
  writer.mark(0, sample_slot_state::published);
  CHECK(take(samples).empty());
  CHECK(samples.lost().damaged == 1);
  constexpr std::uint64_t rounds = 2000, each = adaptyst::max_samples_of_slot;
  std::uint64_t claimed = 0;
  for (std::uint64_t round = 0; round != rounds; ++round) {
    writer.fill(0, each);
    writer.mark(0, sample_slot_state::published);
    for (const perf_sample& sample : take(samples)) claimed += sample.samples;
  }
  CHECK(samples.lost().damaged == 1 + rounds * each - claimed);
  constexpr std::uint64_t most = 20'000;  // within seconds
  CHECK(claimed > 0);
  CHECK(claimed < most);
  CHECK(samples.lost().ring_full < most);
  CHECK(samples.lost().without_signal < most);
  CHECK(samples.lost().without_timer <= std::uint64_t{1} << 22);
}

TEST_CASE("a program cannot change the size of the memory") {
  timer_samples samples({period_ns, 0, stack_bytes});
  const program writer(samples);
  errno = 0;
  CHECK(ftruncate(writer.file(), 4096) == -1);
  CHECK(errno == EPERM);
  CHECK(ftruncate(writer.file(), static_cast<off_t>(writer.bytes()) * 2) == -1);
}
