// Context, counters and samples by BPF: starts the requested ones, and continues without those that are refused. Samples
// with copied stacks are those of recorder_samples.hpp: BPF adds the times off a core.
#include <adaptyst/detail/clock.hpp>
#include <algorithm>

#include "../kernel/context_probes.hpp"
#include "../kernel/counter_probes.hpp"
#include "../kernel/kernel_sampling.hpp"
#include "../kernel/sampler.hpp"
#include "../support/error.hpp"
#include "../symbolise/stack_unwinder.hpp"
#include "recorder_samples.hpp"
#include "sampling.hpp"
#include "thread_context.hpp"

namespace adaptyst::lib {

namespace {

class probed_threads final : public thread_context {
 public:
  probed_threads(const options& options, subject subject, const kernel_rows* rows_with_functions)
      : probes_(options.context.faults, subject.process, subject.is_listed, rows_with_functions),
        filter_(subject.is_listed ? process_filter::listed : process_filter::this_process),
        could_copy_(options.stacks == stack_choice::automatic && subject.is_listed && options.functions.empty() &&
                    stack_unwinder::needed_registers() != 0) {
    if (options.wants_samples() && options.stacks == stack_choice::dwarf) start_copies(options, subject);
    if (options.wants_samples() && !copies_) try_step([&] { waits_ = start(sampling_, options, false); });
    if (options.context.counters) try_step([&] { counters_.emplace(probes_, hardware_events()); });
  }

  bool takes_samples() const override { return sampling_ || copies_; }
  int threads() const override { return probes_.threads(); }

  void add_process(pid_t process) override { probes_.add_process(process); }
  void remove_process(pid_t process) override {
    probes_.remove_process(process);
    if (copies_) copies_->remove_process(process);
  }
  void follow(pid_t process, arrival as) override {
    if (copies_) copies_->follow(process, as);
  }
  bool is_sampled(pid_t process) const override { return !copies_ || copies_->is_sampled(process); }
  void drain() override {
    if (copies_) copies_->drain();
  }
  double seconds_to_drain() const override {
    return copies_ ? copies_->seconds_to_drain() : thread_context::seconds_to_drain();
  }
  scope_taker* scopes() override { return copies_ ? copies_->scopes() : nullptr; }
  void attach(const std::string& file) override {
    try_step([&] { probes_.attach(file); });
  }
  void note_mappings(pid_t process) override {
    if (sampling_) sampling_->note_mappings(process);
    if (copies_) copies_->note_mappings(process);
    if (unmarked_) unmarked_->note_mappings(process);
  }
  void set_command(pid_t process, const std::string& command) override {
    if (sampling_) sampling_->set_command(process, command);
    if (copies_) copies_->set_command(process, command);
  }

  void sample_unmarked(const options& options) override {
    try {
      if (!takes_samples()) start(unmarked_, options, true);
    } catch (const error&) {  // it was not requested
    }
  }
  bool samples_unmarked() const override { return unmarked_.has_value(); }
  void end_unmarked() override { unmarked_.reset(); }
  std::map<std::string, std::uint64_t> functions() override {
    if (sampling_) return sampling_->functions();
    if (copies_) return copies_->functions();
    return unmarked_ ? unmarked_->functions() : std::map<std::string, std::uint64_t>{};
  }

  std::optional<std::uint64_t> cost_ns() const override {
    const context_probes::loads of = probes_.read_loads();
    return of.switches.cost_ns(switch_events) + of.even_faults_ns + other_context_ns() +
           (sampling_ ? sampling_->cost_ns() : 0);
  }

  void keep_within(double share, std::uint64_t cpu_ns) override {
    if (!kept_) kept_.emplace(share, begin_ns_);
    const context_probes::loads of = probes_.read_loads();
    const event_load waits = waits_ != nullptr ? waits_->read_wait_load() : event_load{};
    const std::uint64_t all_ns = cost_ns().value_or(0);
    const auto without = [all_ns](std::uint64_t ns) { return all_ns - std::min(all_ns, ns); };
    const std::uint64_t waits_ns = waits.cost_ns(wait_stack_events);
    const used_time used{detail::monotonic_ns(), cpu_ns};
    kept_->faults.decide(used, of.faults, without(of.even_faults_ns));
    probes_.record_faults(kept_->faults);
    // Stacks cost most, and only their own step limits them: their cost does not count against the switches.
    probes_.record_switches(
        kept_->switches.decide(used, of.switches, without(of.switches.cost_ns(switch_events) + waits_ns)));
    if (waits_ != nullptr) waits_->record_waits(kept_->waits.decide(used, waits, without(waits_ns)));
  }

  std::uint64_t keep_windows(std::uint64_t longest_wait_ns) override { return probes_.keep_windows(longest_wait_ns); }

  std::optional<context_sums> read() override {
    if (sampling_) sampling_->read();
    if (copies_) copies_->read();
    context_sums sums = probes_.read();
    if (counters_) counters_->read(sums);
    sums.account.cost_ns = static_cast<double>(context_cost_ns());
    return sums;
  }
  const announced_recorders& announced() override { return probes_.announced(); }
  void add_to(measurements& rows, const std::optional<context_sums>& sums, const open_region_counts& open) override {
    if (sums) add_context(rows, *sums, open);
    if (sampling_) sampling_->add_to(rows);
    if (copies_) copies_->add_to(rows, sums, open);
  }
  std::optional<sample_usage> samples() const override {
    if (copies_) return copies_->samples();
    if (!sampling_) return std::nullopt;
    sample_usage usage = sampling_->usage();
    usage.cost_ns = static_cast<double>(sampling_->cost_ns());
    return usage;
  }
  void finish_stacks(output_names& names, construct_names& constructs, profile& made) override {
    if (sampling_) sampling_->finish(names, constructs, made);
    if (could_copy_ && sampling_ && sampling_->lacks_callers())
      complain("stacks: more than half of the samples have no caller; --stacks dwarf needs no frame pointers");
    if (copies_) copies_->finish_stacks(names, constructs, made);
  }

 private:
  // Throws error.
  sampler* start(std::optional<sampling>& made, const options& options, bool only_unmarked) {
    const sampler_options chosen{filter_, options.find_frequency(false), 0, only_unmarked};
    auto started = std::make_unique<sampler>(probes_, chosen);
    sampler* const source = started.get();
    made.emplace(std::move(started), true);
    return source;
  }
  // Leaves `copies_` empty, and complains, if the kernel refuses copies.
  void start_copies(const options& options, subject subject) {
    sampler_options chosen{filter_};
    chosen.only_off_core = true;
    try {
      auto off_core = std::make_unique<sampler>(probes_, chosen);
      sampler* const source = off_core.get();
      copies_ = make_recorder_samples(options, subject.is_listed ? std::nullopt : std::optional(subject.process),
                                      std::move(off_core));
      waits_ = source;
    } catch (const std::exception& failed) {
      report_frame_pointers(to_error(failed));
    }
  }
  // Includes the cost of times off a core, if `copies_` has them.
  std::uint64_t context_cost_ns() const { return probes_.cost_ns() + other_context_ns(); }
  std::uint64_t other_context_ns() const {
    return (counters_ ? counters_->cost_ns() : 0) + (copies_ ? copies_->cost_ns().value_or(0) : 0);
  }

  // Events that a budget samples.
  struct kept_within {
    kept_within(double share, std::uint64_t begin_ns)
        : faults(page_fault_events, share, begin_ns),
          switches(switch_events, share, begin_ns),
          waits(wait_stack_events, share, begin_ns) {}
    kernel_sampling faults, switches, waits;
  };

  const std::uint64_t begin_ns_ = detail::monotonic_ns();
  context_probes probes_;
  const process_filter filter_;
  const bool could_copy_;  // with stacks=dwarf
  std::optional<kept_within> kept_;
  std::optional<counter_probes> counters_;
  std::optional<sampling> sampling_, unmarked_;
  std::unique_ptr<thread_context> copies_;  // null: stacks follow frame pointers
  sampler* waits_ = nullptr;                // in sampling_ or copies_: the stacks of waits; null: not requested
};

}  // namespace

std::unique_ptr<thread_context> make_thread_context(const options& options, subject subject,
                                                    const kernel_rows* rows_with_functions) {
  return std::make_unique<probed_threads>(options, subject, rows_with_functions);
}

}  // namespace adaptyst::lib
