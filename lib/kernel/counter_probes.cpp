// Opens the processor's counters on every CPU and attaches the BPF program that books them on regions. Counters that
// the machine refuses are omitted.
#include "counter_probes.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "../../probes/context_layout.h"
#include "../support/error.hpp"
#include "counters.skel.h"
#include "kernel_maps.hpp"
#include "recorder_layout.hpp"
#include "summed_rows.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t interrupts_a_second = 1000;

int open_event(const counted_event& event, int processor) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.freq = 1;
  attributes.sample_freq = interrupts_a_second;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, processor, -1, PERF_FLAG_FD_CLOEXEC));
}

[[noreturn]] void fail(int number) {
  throw error("cannot use the processor's counters", number,
              hint_on(number, "", "there are none, or a hypervisor hides them; the rest of the context works without"));
}

}  // namespace

counted_events hardware_events() {
  return {{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
           {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
           {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}}};
}

counter_probes::counter_probes(const context_probes& context, const counted_events& what)
    : loaded_(open_programs(counters_bpf__open, counters_bpf__destroy)) {
  if (loaded_ == nullptr) fail(errno);
  loaded_->rodata->layout = find_recorder_layout();
  loaded_->rodata->among_functions = context.function_stacks() >= 0 ? 1 : 0;
  if (context.function_stacks() < 0) bpf_map__set_autocreate(loaded_->maps.stacks, false);
  else if (bpf_map__reuse_fd(loaded_->maps.stacks, context.function_stacks()) != 0) fail(errno);
  if (bpf_map__reuse_fd(loaded_->maps.threads, context.threads()) != 0) fail(errno);
  if (const int failed = load_with_types(loaded_.get(), counters_bpf__load); failed != 0) fail(-failed);
  int refused = 0;
  for (std::size_t at = 0; at != what.size(); ++at) {
    const int number = attach(what[at], at);
    if (number != 0) refused = number;
    counts_[at] = number == 0;
  }
  if (links_.empty()) fail(refused);
}

counter_probes::~counter_probes() = default;

// Opens and attaches the counter on all processors; returns 0, or an errno.
int counter_probes::attach(const counted_event& event, std::uint64_t which) {
  const std::size_t before = links_.size();
  int number = ENODEV;
  for (std::size_t processor = 0; processor != possible_cpus(); ++processor) {
    const int opened = open_event(event, static_cast<int>(processor));
    if (opened < 0 && errno == ENODEV) continue;  // this processor is off
    if (opened < 0) {
      number = errno;
      break;
    }
    bpf_perf_event_opts cookie{};
    cookie.sz = sizeof cookie;
    cookie.bpf_cookie = which;
    bpf_link* const link = bpf_program__attach_perf_event_opts(loaded_->progs.overflowed, opened, &cookie);
    if (link == nullptr) {
      number = errno;
      close(opened);
      break;
    }
    links_.emplace_back(link);
    number = 0;
  }
  if (number != 0 && number != ENODEV) links_.resize(before);
  return number;
}

std::uint64_t counter_probes::cost_ns() const { return read_kernel_counters(loaded_->maps.own_cost, 1).front(); }

void counter_probes::read(context_sums& into) const {
  into.counts_cycles = counts_[ADAPTYST_COUNTER_CYCLES];
  into.counts_instructions = counts_[ADAPTYST_COUNTER_INSTRUCTIONS];
  into.counts_cache_misses = counts_[ADAPTYST_COUNTER_CACHE_MISSES];
  const std::size_t processors = possible_cpus();
  for_each_entry<std::uint64_t, adaptyst_counter_row>(
      loaded_->maps.counters, [&](std::uint64_t path, const adaptyst_counter_row* parts) {
        os_context& context = into.by_path[path];
        const auto add = [&](std::optional<std::uint64_t>& sum, adaptyst_counter which) {
          if (!counts_[which]) return;
          sum = sum.value_or(0);
          for (std::size_t at = 0; at != processors; ++at) *sum += parts[at].events[which];
        };
        add(context.cycles, ADAPTYST_COUNTER_CYCLES);
        add(context.instructions, ADAPTYST_COUNTER_INSTRUCTIONS);
        add(context.cache_misses, ADAPTYST_COUNTER_CACHE_MISSES);
      });
  const std::uint64_t lost = read_kernel_counters(loaded_->maps.lost, 1).front();
  if (lost != 0) into.account.lost[loss_reason::counter_interrupts] = lost;
}

}  // namespace adaptyst::lib
