// Starts one clock on each processor and reads the stacks that the BPF programs have counted. A separate thread visits
// the processors, so the affinity of the program's threads stays unchanged.
#include "sampler.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "../../probes/sample_layout.h"
#include "../support/error.hpp"
#include "../support/threads.hpp"
#include "context_probes.hpp"
#include "kernel_maps.hpp"
#include "recorder_layout.hpp"
#include "samples.skel.h"
#include "summed_rows.hpp"

namespace adaptyst::lib {

namespace {

[[noreturn]] void fail(const char* what, int number) {
  throw error(what, number, hint_on(number, "", "needs Linux 6.10 or later, built with BTF. See docs/samples.md"));
}

// Runs `work` on each processor in turn, by moving this thread there; skips processors that it may not use.
template <class Work>
void on_each_processor(Work&& work) {
  const long present = sysconf(_SC_NPROCESSORS_CONF);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(ADAPTYST_SAMPLE_MAX_CPUS),
                                                             [](cpu_set_t* made) { CPU_FREE(made); });
  const std::size_t bytes = CPU_ALLOC_SIZE(ADAPTYST_SAMPLE_MAX_CPUS);
  if (set == nullptr) return;
  for (std::uint32_t processor = 0;
       processor !=
       std::min<std::uint32_t>(static_cast<std::uint32_t>(std::max(present, 1L)), ADAPTYST_SAMPLE_MAX_CPUS);
       ++processor) {
    CPU_ZERO_S(bytes, set.get());
    CPU_SET_S(processor, bytes, set.get());
    work(sched_setaffinity(0, bytes, set.get()) == 0);
  }
}

thread_state to_state(std::uint32_t state) {
  if (state == ADAPTYST_SAMPLE_BLOCKED) return thread_state::blocked;
  return state == ADAPTYST_SAMPLE_RUNNABLE ? thread_state::waiting : thread_state::on_cpu;
}

}  // namespace

sampler::sampler(const context_probes& probes, const sampler_options& options)
    : loaded_(open_programs(samples_bpf__open, samples_bpf__destroy)), maker_(getpid()) {
  if (loaded_ == nullptr) fail("cannot load the eBPF programs for samples", errno);
  loaded_->rodata->filter = filter_for(options.whose);
  loaded_->rodata->layout = find_recorder_layout();
  loaded_->rodata->period_ns = 1'000'000'000 / options.frequency;
  if (options.max_stacks != 0) bpf_map__set_max_entries(loaded_->maps.kept_stacks, options.max_stacks);
  if (options.only_unmarked)
    for (bpf_map* const map : {loaded_->maps.kept_stacks, loaded_->maps.samples})
      bpf_map__set_map_flags(map, BPF_F_NO_PREALLOC);
  loaded_->rodata->among_functions = probes.function_stacks() >= 0 ? 1 : 0;
  int failed = bpf_map__reuse_fd(loaded_->maps.threads, probes.threads());
  if (failed == 0 && probes.function_stacks() >= 0)
    failed = bpf_map__reuse_fd(loaded_->maps.stacks, probes.function_stacks());
  else if (failed == 0) failed = bpf_map__set_autocreate(loaded_->maps.stacks, false);
  if (failed == 0 && options.whose == process_filter::listed)
    failed = bpf_map__reuse_fd(loaded_->maps.processes, probes.processes());
  else if (failed == 0) failed = bpf_map__set_max_entries(loaded_->maps.processes, 1);
  if (failed == 0) failed = load_with_types(loaded_.get(), samples_bpf__load);
  if (failed != 0) fail("cannot load the eBPF programs for samples", -failed);
  for (bpf_program* const program : {loaded_->progs.switched, loaded_->progs.woken}) {
    tracepoints_.emplace_back(bpf_program__attach(program));
    if (tracepoints_.back() == nullptr) fail("cannot attach to the kernel's scheduler", errno);
  }
  if (!options.only_off_core) start_clocks();
}

sampler::~sampler() { sampler::stop(); }

// A clock runs on the processor that starts it, so a thread must run there. A separate thread leaves the affinity of
// all other threads unchanged.
void sampler::start_clocks() {
  int failed = 0;
  unsigned sampled = 0;
  const all_signals_blocked meanwhile;  // the thread inherits the signal mask
  std::thread visitor([&] {
    on_each_processor([&](bool is_present) {
      if (!is_present) {
        ++unsampled_;
        return;
      }
      bpf_test_run_opts run{};
      run.sz = sizeof run;
      const int refused = bpf_prog_test_run_opts(bpf_program__fd(loaded_->progs.start_clock), &run);
      if (refused != 0) failed = -refused;
      else if (run.retval != 0) failed = EOPNOTSUPP;
      else ++sampled;
    });
  });
  visitor.join();
  if (sampled == 0 || failed != 0) fail("cannot set a clock for samples", failed != 0 ? failed : EPERM);
}

sample_sums sampler::read() {
  sample_sums sums;
  for_each_entry<adaptyst_sample_key, adaptyst_sample_row>(
      loaded_->maps.samples, [&](const adaptyst_sample_key& key, const adaptyst_sample_row* row) {
        sums.rows.push_back(
            {key.process, key.path, to_state(key.state), key.user_stack, key.kernel_stack, row->count, row->ns});
      });
  for_each_entry<std::uint64_t, adaptyst_sample_stack>(
      loaded_->maps.kept_stacks, [&](std::uint64_t id, const adaptyst_sample_stack* stack) {
        const std::size_t depth = std::min<std::size_t>(stack->depth, ADAPTYST_SAMPLE_MAX_FRAMES);
        sums.stacks[id].assign(stack->frames, stack->frames + depth);
      });
  const std::vector<std::uint64_t> counts = read_kernel_counters(loaded_->maps.counts, ADAPTYST_SAMPLE_COUNTS);
  sample_usage& usage = sums.usage;
  usage.samples = counts[ADAPTYST_SAMPLE_TAKEN];
  usage.observed_ns = counts[ADAPTYST_SAMPLE_OBSERVED_NS];
  const auto lose = [&](loss_reason why, std::uint64_t count) {
    if (count != 0) usage.lost[why] = count;
  };
  lose(loss_reason::rows_full, counts[ADAPTYST_SAMPLE_ROWS_FULL]);
  lose(loss_reason::unreadable, counts[ADAPTYST_SAMPLE_UNREADABLE]);
  lose(loss_reason::stacks_full, counts[ADAPTYST_SAMPLE_STACKS_FULL]);
  lose(loss_reason::truncated, counts[ADAPTYST_SAMPLE_TRUNCATED]);
  lose(loss_reason::no_memory, counts[ADAPTYST_SAMPLE_NO_MEMORY]);
  lose(loss_reason::clock_stopped, counts[ADAPTYST_SAMPLE_TIMER_FAILED]);
  lose(loss_reason::processors, unsampled_);
  if (const unsigned step = coarsest_wait_step_; step != 0) usage.waits_one_of = std::uint64_t{1} << step;
  return sums;
}

std::uint64_t sampler::cost_ns() const {
  return read_kernel_counters(loaded_->maps.own_cost, 1).front() + read_wait_load().cost_ns(wait_stack_events);
}

event_load sampler::read_wait_load() const {
  const std::vector<std::uint64_t> counts = read_kernel_counters(loaded_->maps.counts, ADAPTYST_SAMPLE_COUNTS);
  return {counts[ADAPTYST_SAMPLE_WAITS], counts[ADAPTYST_SAMPLE_WAIT_NS]};
}

void sampler::record_waits(unsigned step) {
  coarsest_wait_step_ = std::max(coarsest_wait_step_.load(), step);
  __atomic_store_n(&loaded_->bss->switch_step, std::uint32_t{step}, __ATOMIC_RELAXED);
}

std::string sampler::find_kernel_function(std::uint64_t address) const {
  adaptyst_kernel_name name{};
  name.address = address;
  bpf_test_run_opts run{};
  run.sz = sizeof run;
  run.ctx_in = &name;  // the kernel also writes there
  run.ctx_size_in = sizeof name;
  if (bpf_prog_test_run_opts(bpf_program__fd(loaded_->progs.name_code), &run) != 0) return {};
  // "futex_wait", "hook [module]", or the address.
  const std::string_view text(name.text, strnlen(name.text, sizeof name.text));
  return text.substr(0, 2) == "0x" ? std::string() : std::string(text.substr(0, text.find(' ')));
}

void sampler::stop() {
  if (loaded_ == nullptr || stopped_ || getpid() != maker_) return;
  loaded_->bss->stopped = 1;
  stopped_ = true;
  tracepoints_.clear();
}

}  // namespace adaptyst::lib
