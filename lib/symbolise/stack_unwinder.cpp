// The observer's side of the unwinder: the exchange with the child process.
#include "stack_unwinder.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>

#include "../support/cpu_time.hpp"

namespace adaptyst::lib {

namespace {

constexpr limited_child::limits unwinding(bool is_in_program) {
  return {"adaptyst-stacks", "stacks have no callers", 1'000'000'000, 5'000'000'000, std::uint64_t{2} << 30U, 4,
          is_in_program};
}
constexpr std::size_t largest_copy = std::size_t{64} << 10U;

struct order {
  std::uint32_t stacks;
  pid_t forgotten;  // if there are no stacks; there is no answer
};

}  // namespace

struct stack_unwinder::exchange {
  struct slot {
    pid_t process;
    bool is_wanted;
    std::uint32_t registers, bytes;
    std::uint64_t max_bytes;
    std::uint32_t frames;
    end how;
    std::uint64_t register_values[stack_tables::max_registers];
    std::uint64_t frame_values[stack_tables::max_frames];
    char stack[largest_copy];
  };
  std::atomic<std::uint32_t> done;  // slots; if the child ends, the next has ended it
  slot slots[max_batch];
};

stack_unwinder::stack_unwinder(bool is_in_program)
    : child_(unwinding(is_in_program), [this](int socket) { serve(socket); }) {
  if (needed_registers() == 0) return;
  void* const room = mmap(nullptr, sizeof(exchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  shared_ = static_cast<exchange*>(room);
  child_.ensure();
}

stack_unwinder::~stack_unwinder() {
  child_.end();
  if (shared_ != nullptr) munmap(shared_, sizeof(exchange));
}

void stack_unwinder::serve(int socket) {
  stack_tables tables;
  std::vector<std::uint64_t> registers, frames;
  order wanted{};
  constexpr unsigned longest_s = 400;  // more than limited_child permits
  for (int along = -1; receive_message(socket, wanted, nullptr, 0, along) >= 0; alarm(0)) {
    alarm(longest_s);
    if (wanted.stacks == 0) {
      tables.forget(wanted.forgotten);
      continue;
    }
    for (std::uint32_t at = 0; at != wanted.stacks; shared_->done = ++at) {
      exchange::slot& of = shared_->slots[at];
      if (!of.is_wanted) continue;
      registers.assign(of.register_values, of.register_values + of.registers);
      const std::string_view bytes(of.stack, std::min<std::size_t>(of.bytes, largest_copy));
      of.how = tables.unwind(of.process, {registers, bytes, of.max_bytes}, frames);
      of.frames = static_cast<std::uint32_t>(std::min(frames.size(), stack_tables::max_frames));
      std::copy_n(frames.begin(), of.frames, of.frame_values);
    }
    if (!send_message(socket, wanted, nullptr, 0, -1)) break;
  }
}

// The number of slots with answers. If there are fewer, the next slot has ended the child.
std::size_t stack_unwinder::request(std::size_t count) {
  order wanted{static_cast<std::uint32_t>(count), 0};
  // The first attempt fails if the child has ended without a request.
  if (!child_.send(wanted)) {
    child_.end();
    if (!child_.ensure() || !child_.send(wanted)) return count;
  }
  if (child_.receive(wanted, nullptr, 0, &shared_->done) >= 0) return count;
  return std::min<std::size_t>(shared_->done, count - 1);
}

// Returns the number of the first stack that is not taken.
std::size_t stack_unwinder::unwind_batch(const std::vector<process_stack>& all, std::size_t first, const taker& take) {
  const std::uint64_t begun_ns = thread_cpu_ns();
  const std::size_t count = std::min(all.size() - first, max_batch);
  bool is_any_wanted = false;
  shared_->done = 0;
  for (std::size_t at = 0; at != count; ++at) {
    const auto& [process, copy] = all[first + at];
    exchange::slot& to = shared_->slots[at];
    to.process = process;
    to.how = end::broken;
    to.frames = 0;
    to.is_wanted = stack_tables::find_innermost(copy.registers) && refused_.count(process) == 0;
    if (!to.is_wanted) continue;
    is_any_wanted = true;
    sent_.insert(process);
    const std::size_t bytes = std::min(copy.bytes.size(), largest_copy);
    to.registers = static_cast<std::uint32_t>(copy.registers.size());
    to.bytes = static_cast<std::uint32_t>(bytes);
    to.max_bytes = copy.max_bytes;
    std::copy(copy.registers.begin(), copy.registers.end(), to.register_values);
    if (bytes != 0) std::memcpy(to.stack, copy.bytes.data(), bytes);
  }
  std::size_t taken = is_any_wanted && child_.ensure() ? request(count) : count;
  if (taken < count) {
    shared_->slots[taken].how = end::broken;
    shared_->slots[taken].frames = 0;
    refused_.insert(all[first + taken].process);
    ++taken;
  }
  used_ns_ += thread_cpu_ns() - begun_ns;
  for (std::size_t at = 0; at != taken; ++at) {
    const exchange::slot& of = shared_->slots[at];
    const std::size_t number = std::min<std::size_t>(of.frames, stack_tables::max_frames);
    const end how = of.how == end::complete || of.how == end::truncated ? of.how : end::broken;
    frames_.assign(of.frame_values, of.frame_values + number);
    const auto innermost = stack_tables::find_innermost(all[first + at].copy.registers);
    if (frames_.empty() && innermost) frames_.push_back(*innermost);
    take(first + at, how, frames_);
  }
  return first + taken;
}

void stack_unwinder::unwind(const std::vector<process_stack>& all, const taker& take) {
  std::size_t at = 0;
  while (shared_ != nullptr && at != all.size()) at = unwind_batch(all, at, take);
  for (; at != all.size(); ++at) take(at, end::broken, {});
}

void stack_unwinder::forget(pid_t process) {
  refused_.erase(process);
  if (sent_.erase(process) != 0) child_.send(order{0, process});
}

}  // namespace adaptyst::lib
