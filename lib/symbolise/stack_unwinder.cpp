// The observer's side of the unwinder: the exchange with the child process.
#include "stack_unwinder.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "../support/cpu_time.hpp"

namespace adaptyst::lib {

namespace {

constexpr limited_child::limits unwinding{"adaptyst-stacks", "stacks have no callers",   1'000'000'000,
                                          5'000'000'000,     std::uint64_t{2} << 30U, 4};
constexpr std::size_t largest_copy = std::size_t{64} << 10U;

struct order {
  pid_t process;
  bool is_forgotten;  // there is no answer
};

}  // namespace

struct stack_unwinder::exchange {
  std::uint32_t registers, bytes;
  std::uint64_t max_bytes;
  std::uint32_t frames;
  end how;
  std::uint64_t register_values[stack_tables::max_registers];
  std::uint64_t frame_values[stack_tables::max_frames];
  char stack[largest_copy];
};

stack_unwinder::stack_unwinder() : child_(unwinding, [this](int socket) { serve(socket); }) {
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
  std::vector<char> bytes;
  order wanted{};
  for (int along = -1; receive_message(socket, wanted, nullptr, 0, along) >= 0;) {
    if (wanted.is_forgotten) {
      tables.forget(wanted.process);
      continue;
    }
    registers.assign(shared_->register_values, shared_->register_values + shared_->registers);
    bytes.assign(shared_->stack, shared_->stack + shared_->bytes);
    shared_->how = tables.unwind(wanted.process, {registers, bytes, shared_->max_bytes}, frames);
    shared_->frames = static_cast<std::uint32_t>(std::min(frames.size(), stack_tables::max_frames));
    std::copy_n(frames.begin(), shared_->frames, shared_->frame_values);
    if (!send_message(socket, wanted, nullptr, 0, -1)) break;
  }
}

std::optional<stack_unwinder::end> stack_unwinder::request(pid_t process, const copied_stack& from,
                                                           std::vector<std::uint64_t>& frames) {
  const std::size_t bytes = std::min(from.bytes.size(), largest_copy);
  shared_->registers = static_cast<std::uint32_t>(from.registers.size());
  shared_->bytes = static_cast<std::uint32_t>(bytes);
  shared_->max_bytes = from.max_bytes;
  std::copy(from.registers.begin(), from.registers.end(), shared_->register_values);
  if (bytes != 0) std::memcpy(shared_->stack, from.bytes.data(), bytes);
  order wanted{process, false};
  // The first attempt fails if the child has ended without a request.
  if (!child_.send(wanted)) {
    child_.end();
    if (!child_.ensure() || !child_.send(wanted)) return end::broken;
  }
  if (child_.receive(wanted, nullptr, 0) < 0) return std::nullopt;
  const std::size_t number = std::min<std::size_t>(shared_->frames, stack_tables::max_frames);
  frames.assign(shared_->frame_values, shared_->frame_values + number);
  const end how = shared_->how;
  return how == end::complete || how == end::truncated ? how : end::broken;
}

stack_unwinder::end stack_unwinder::unwind(pid_t process, const copied_stack& from,
                                           std::vector<std::uint64_t>& frames) {
  frames.clear();
  const std::optional<std::uint64_t> innermost = stack_tables::find_innermost(from.registers);
  if (!innermost) return end::broken;
  const std::uint64_t begun_ns = thread_cpu_ns();
  end how = end::broken;
  if (refused_.count(process) == 0 && child_.ensure()) {
    if (const std::optional<end> answer = request(process, from, frames)) how = *answer;
    else refused_.insert(process);
  }
  if (frames.empty()) frames.push_back(*innermost);
  used_ns_ += thread_cpu_ns() - begun_ns;
  return how;
}

void stack_unwinder::forget(pid_t process) {
  refused_.erase(process);
  child_.send(order{process, true});
}

}  // namespace adaptyst::lib
