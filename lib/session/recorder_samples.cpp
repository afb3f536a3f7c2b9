// A sample waits until the scopes of its process have been read; then its region is known (region_journal.hpp).
// Regions of times off a core are known at once: the kernel has them.
#include "recorder_samples.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <adaptyst/detail/config.hpp>
#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../kernel/perf_sampler.hpp"
#include "../recorder/region_journal.hpp"
#include "../support/cpu_time.hpp"
#include "../support/error.hpp"
#include "../support/process_stat.hpp"
#include "../support/threads.hpp"
#include "../symbolise/stack_unwinder.hpp"
#include "sampling.hpp"
#include "timer_samples.hpp"

namespace adaptyst::lib {

namespace {

// The same limits as with eBPF.
constexpr std::size_t max_sample_rows = 16'384, max_sample_stacks = 8192, max_sample_frames = 127;
constexpr std::size_t max_waiting_samples = std::size_t{1} << 16;
constexpr std::size_t max_waiting_of_process = std::size_t{1} << 14;
constexpr std::size_t max_kept_scopes = std::size_t{1} << 21;  // of all processes; programs may fill rings without end
constexpr std::size_t max_journals = 4096;
constexpr std::size_t max_named_processes = 1024;  // with names of functions
constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::uint64_t sweep_interval_ns = ns_per_second / 10, max_sweep_ns = 5'000'000;
// Each read wakes this process and the child, so samples stay in the rings as long as these have room. A new process may
// end soon, with its mappings, so reads are frequent after the first sample of a process.
constexpr std::uint64_t shortest_interval_ns = 5'000'000, longest_interval_ns = 50'000'000, part_of_age = 8;
// The kernel may deliver a sample so much later than its time, as a virtual processor that is not scheduled.
constexpr std::uint64_t latest_delivery_ns = 20'000'000;

std::uint64_t hash_stack(const std::vector<std::uint64_t>& frames) {
  std::uint64_t made = 0xcbf29ce484222325U;
  for (const std::uint64_t frame : frames) {
    made = (made ^ frame) * 0x9e3779b97f4a7c15U;
    made ^= made >> 29;
  }
  return made | 1;  // 0: no stack
}

// Now, as the start times of processes.
std::uint64_t read_boot_ticks() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * ticks +
         static_cast<std::uint64_t>(now.tv_nsec) * ticks / ns_per_second;
}

error no_unwinder() {
  return {"this build cannot unwind copied stacks", "stacks", 0, "install libdw (Debian: libdw-dev) and build again"};
}

// In how many PID namespaces a process has a number; 0: it has ended. Also readable for programs that may not be traced.
std::ptrdiff_t count_namespaces(const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 6, "NSpid:") == 0) return std::count(line.begin(), line.end(), '\t');
  return 0;
}
// Whether the threads of a process have other numbers there than here, so that its scopes have too.
bool is_in_other_namespace(pid_t process) {
  return count_namespaces(std::to_string(process)) > count_namespaces("self");
}

class journalled_samples final : public sample_source, public scope_taker {
 public:
  // `note`: called for a process while it lives, when it has new samples, and whether they are in code without a name.
  // `has_name`: whether the code at an address has one. Throws error.
  using noter = std::function<void(pid_t, bool)>;
  using name_finder = std::function<bool(pid_t, std::uint64_t)>;
  // `off_core`: see make_recorder_samples().
  journalled_samples(const options& options, std::optional<pid_t> only, std::unique_ptr<sample_source> off_core,
                     noter note, name_finder has_name)
      : only_(only),
        off_core_(std::move(off_core)),
        unwinder_(make_unwinder(choose_stacks(options, only.has_value()), only.has_value())),
        sampler_(ns_per_second / options.find_frequency(unwinder_ != nullptr)),
        note_(std::move(note)),
        has_name_(std::move(has_name)),
        frame_pointer_period_ns_(ns_per_second / options.find_frequency(false)),
        must_copy_(options.stacks == stack_choice::dwarf && !only) {
    if (options.samples == sample_choice::timer) {
      use_timers();
      return;
    }
    if (only_) sampler_.sample_own_process();
    if (unwinder_ == nullptr) return;
    if (off_core_ != nullptr) sampler_.include_kernel();
    try {
      sampler_.copy_stacks(stack_unwinder::needed_registers(),
                           must_copy_ ? perf_sampler::large_ring_pages : perf_sampler::small_ring_pages);
    } catch (const no_ring_room& failed) {
      if (must_copy_) throw;
      follow_frame_pointers(failed);
    }
  }

  // False: none of its threads is sampled.
  bool follow(pid_t process, thread_context::arrival as) {
    using arrival = thread_context::arrival;
    if (timer_) {
      added_ticks_.emplace(process, read_boot_ticks());
      newest_ns_ = detail::monotonic_ns();
      return true;
    }
    if (as == arrival::announced && has_inherited_clocks(process)) return true;
    const auto when = as == arrival::starting ? perf_sampler::begin::at_exec : perf_sampler::begin::at_once;
    bool is_added = false;
    try {
      is_added = sampler_.add(process, when);
    } catch (const no_ring_room& failed) {
      if (must_copy_ || unwinder_ == nullptr) throw;
      follow_frame_pointers(failed);
      is_added = sampler_.add(process, when);
    }
    // A program that starts now has no older children. The times of starts have steps of 10 ms.
    if (is_added) added_ticks_.emplace(process, as == arrival::starting ? 0 : read_boot_ticks());
    newest_ns_ = detail::monotonic_ns();
    return is_added;
  }

  void begin(pid_t process, trace_reader& reader, const process_state& state) override {
    read_due_rings();
    current_ = find_journal(process, state.address);
    if (current_ == nullptr) return;
    std::set<std::uint32_t> threads;
    for (const waiting_sample& sample : waiting_[process]) threads.insert(sample.thread);
    current_->journal.limit(max_kept_scopes - (kept_ - current_->counted));
    current_->journal.begin(reader, state, threads);
  }
  void add(pid_t, const traced_event& event) override {
    if (current_ != nullptr) current_->journal.add(event);
  }
  void end(pid_t process, const trace_reader& reader, bool is_complete) override {
    if (current_ == nullptr) return;
    region_journal& journal = current_->journal;
    journal.end(reader, is_complete);
    // The samples of a process belong to the program that it has become last.
    const bool is_last = current_->number == last_journal_[process];
    if (is_last && journal.is_ready()) {
      for (const waiting_sample& sample : waiting_[process]) {
        const std::optional<std::uint64_t> path =
            current_->is_in_other_namespace ? std::nullopt : journal.find(sample.thread, sample.time_ns);
        add_to_row(process, path.value_or(unknown_path), sample);
      }
      waits_ -= waiting_[process].size();
      waiting_.erase(process);
    }
    if (!is_last || journal.is_ready()) journal.forget(taken_ns_ - latest_delivery_ns);
    note_kept(*current_);
  }
  // After its end, or if it is not observed any more.
  void remove(pid_t process) {
    read_rings();
    if (const auto waiting = waiting_.find(process); waiting != waiting_.end()) {
      for (const waiting_sample& sample : waiting->second)
        add_to_row(process, is_marked(process) ? unknown_path : 0, sample);
      waits_ -= waiting->second.size();
      waiting_.erase(waiting);
    }
    for (auto entry = journals_.lower_bound({process, 0}); entry != journals_.end() && entry->first.first == process;) {
      kept_ -= entry->second.counted;
      entry = journals_.erase(entry);
    }
    current_ = nullptr;
    last_journal_.erase(process);
    sampler_.remove(process);
    added_ticks_.erase(process);
    started_here_.erase(process);
    if (unwinder_ != nullptr) unwinder_->forget(process);
    samples_of_.erase(process);
    active_.erase(process);
    unnamed_.erase(process);
  }

  // Paths around skipped events: their samples may be in these events.
  void set_ambiguous(path_set paths) { ambiguous_ = std::move(paths); }

  sample_sums read() override {
    read_rings();
    sampler_.count_losses();
    // Samples that still wait have no region in this result.
    const auto kept = rows_;
    const std::uint64_t rows_full = rows_full_, unknown = unknown_;
    for (const auto& [process, samples] : waiting_)
      for (const waiting_sample& sample : samples) add_to_row(process, is_marked(process) ? unknown_path : 0, sample);
    sample_sums sums;
    for (const auto& [key, number] : rows_) {
      const auto& [process, path, user, kernel] = key;
      const bool is_ambiguous = ambiguous_.count(path) != 0 && is_marked(process);
      if (is_ambiguous) unknown_ += number;
      sums.rows.push_back({process, is_ambiguous ? unknown_path : path, thread_state::on_cpu, user, kernel, number, 0});
    }
    sums.stacks = stacks_;
    sums.usage.samples = samples_;
    sums.usage.observed_ns = samples_ * (timer_ ? timer_->period_ns() : sampler_.period_ns());
    const std::uint64_t own_ns = only_ ? reading_ns_ : process_cpu_ns() - begun_cpu_ns_;
    sums.usage.observer_ns = static_cast<double>(own_ns + (unwinder_ != nullptr ? unwinder_->children_ns() : 0));
    if (unwinder_ != nullptr) sums.usage.unwinding_ns = static_cast<double>(unwinder_->used_ns());
    add_losses(sums.usage.lost);
    if (off_core_ != nullptr) add_off_core(sums, off_core_->read());
    rows_ = kept;
    rows_full_ = rows_full;
    unknown_ = unknown;
    return sums;
  }
  // Takes the samples out of the rings.
  void read_rings() {
    const std::uint64_t began_ns = thread_cpu_ns();
    taken_ns_ = detail::monotonic_ns();
    const auto take = [&](perf_sample& sample) {
      if (timer_ && !is_started_here(sample.process)) return;
      if (only_ && (sample.process != *only_ || is_library_thread(static_cast<pid_t>(sample.thread), sample.time_ns)))
        return;
      samples_ += sample.samples;
      if (unwinder_ == nullptr) return add_sample(sample, sample.frames, 0);
      // A process that ends has no stack of its own left.
      if (sample.stack.empty() && sample.registers.empty() && !sample.frames.empty())
        return add_sample(sample, {}, keep_stack(sample.frames));
      if (copies_ == copied_.size()) unwind_copies();
      std::swap(copied_[copies_++], sample);
    };
    if (timer_) timer_->read(take);
    else sampler_.read(take);
    unwind_copies();
    interval_ns_ = find_interval();
    for (const pid_t process : std::exchange(to_note_, {})) note_(process, true);
    if (taken_ns_ - swept_ns_ >= sweep_interval_ns) sweep();
    reading_ns_ += thread_cpu_ns() - began_ns;
  }
  // The same, if it is time, or if the scopes that wait for samples take much memory.
  void read_due_rings() {
    if (detail::monotonic_ns() - taken_ns_ >= interval_ns_ || kept_ >= max_kept_scopes / 4) read_rings();
  }
  std::uint64_t interval_ns() const { return interval_ns_; }
  // See thread_context.
  std::string sample_file() const { return timer_ ? timer_->file() : std::string(); }
  bool is_sampled(pid_t process) const {
    return (!timer_ || timer_->has_begun(process)) && without_regions_.count(process) == 0;
  }
  // False: no program has loaded the adapter that samples it.
  bool has_begun() const { return !timer_ || timer_->has_begun(); }

  void stop() override {
    sampler_.stop();
    if (off_core_ != nullptr) off_core_->stop();
  }
  bool has_off_core() const { return off_core_ != nullptr; }
  std::uint64_t cost_ns() const override { return off_core_ != nullptr ? off_core_->cost_ns() : 0; }
  std::string find_kernel_function(std::uint64_t address) const override {
    return off_core_ != nullptr ? off_core_->find_kernel_function(address) : std::string();
  }

 private:
  struct waiting_sample {
    std::uint32_t thread;
    std::uint64_t time_ns, user, kernel;  // stacks as in sample_row
    std::uint32_t number;                 // of equal samples
  };
  struct journal_of_store {
    std::uint64_t number = 0;  // in the order of their begin
    std::size_t counted = 0;   // of its scopes, in kept_
    bool is_in_other_namespace = false;
    region_journal journal;
  };

  // Whether a process descends from a sampled one, by parents that still run, and was started after the sampling began.
  bool has_inherited_clocks(pid_t process) const {
    constexpr int max_generations = 64;
    for (int generation = 0; generation != max_generations; ++generation) {
      const std::optional<process_stat> stat = read_stat(process);
      if (!stat || stat->parent <= 1) return false;
      const auto added = added_ticks_.find(stat->parent);
      if (added != added_ticks_.end()) return stat->started > added->second;
      process = stat->parent;
    }
    return false;
  }

  void use_timers() {
    constexpr std::size_t usual_bytes = std::size_t{16} << 10U;
    std::uint64_t period_ns = sampler_.period_ns();
    if (constexpr std::uint64_t shortest_ns = ns_per_second / max_timer_frequency; period_ns < shortest_ns) {
      complain(error(fmt::format("samples=timer: the sample frequency is {} Hz", max_timer_frequency),
                     "sample_frequency", 0, "the kernel's timers are not faster; choose at most this frequency")
                   .what());
      period_ns = shortest_ns;
    }
    const std::uint64_t registers = unwinder_ != nullptr ? stack_unwinder::needed_registers() : 0;
    timer_.emplace(timer_choice{period_ns, registers, must_copy_ ? max_stack_of_slot : usual_bytes});
  }
  std::size_t stack_bytes() const { return timer_ ? timer_->stack_bytes() : sampler_.stack_bytes(); }

  // A program may leave the number of any process. A process that runs must be followed, or descend from a followed process.
  bool is_started_here(pid_t process) {
    constexpr std::size_t max_checked = 1U << 16U;
    constexpr int max_generations = 64;
    if (started_here_.count(process) != 0) return true;
    bool is_here = false;
    pid_t at = process;
    for (int generation = 0; generation != max_generations && !is_here; ++generation) {
      is_here = at == getpid() || added_ticks_.count(at) != 0;
      const std::optional<process_stat> stat = read_stat(at);
      if (!stat) return is_here || at == process;  // it has ended: /proc is empty
      if (stat->parent <= 1) break;
      at = stat->parent;
    }
    if (started_here_.size() == max_checked) started_here_.clear();
    if (is_here) started_here_.insert(process);
    return is_here;
  }

  // Before the first sample.
  void follow_frame_pointers(const error& why) {
    report_frame_pointers(why);
    unwinder_.reset();
    sampler_ = perf_sampler(frame_pointer_period_ns_);
    if (only_) sampler_.sample_own_process();
  }

  // Null: there are too many.
  journal_of_store* find_journal(pid_t process, std::uint64_t store) {
    const std::pair key(process, store);
    if (const auto found = journals_.find(key); found != journals_.end()) return &found->second;
    if (journals_.size() == max_journals) {
      marked_.insert(process);
      without_regions_.insert(process);
      return nullptr;
    }
    journal_of_store& made = journals_[key];
    made.number = ++last_number_;
    made.is_in_other_namespace = is_in_other_namespace(process);
    if (made.is_in_other_namespace) without_regions_.insert(process);
    // After exec(), or for a second process with this number, earlier scopes are not in this journal.
    if (!marked_.insert(process).second) made.journal.start_at(detail::monotonic_ns());
    last_journal_[process] = made.number;
    return &made;
  }
  void note_kept(journal_of_store& of) {
    kept_ += of.journal.kept() - of.counted;
    of.counted = of.journal.kept();
  }
  // Whether a process with this number has or had markers.
  bool is_marked(pid_t process) const { return marked_.count(process) != 0; }

  void drop_oldest(pid_t process, std::vector<waiting_sample>& waiting) {
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(waiting.size() / 2);
    for (auto sample = waiting.begin(); sample != end; ++sample) add_to_row(process, unknown_path, *sample);
    waits_ -= static_cast<std::size_t>(end - waiting.begin());
    waiting.erase(waiting.begin(), end);
  }

  // Processes without markers have no scopes to wait for.
  void sweep() {
    swept_ns_ = taken_ns_;
    const std::uint64_t end_ns = taken_ns_ + max_sweep_ns;
    while (!active_.empty() && detail::monotonic_ns() < end_ns) {
      auto next = active_.upper_bound(last_noted_);
      if (next == active_.end()) next = active_.begin();
      last_noted_ = *next;
      active_.erase(next);
      if (samples_of_.count(last_noted_) != 0) note_(last_noted_, unnamed_.erase(last_noted_) != 0);
    }
    for (auto entry = waiting_.begin(); entry != waiting_.end();) {
      auto& [process, samples] = *entry;
      const auto end = std::find_if(samples.begin(), samples.end(), [&](const waiting_sample& sample) {
        return is_marked(entry->first) || sample.time_ns + ns_per_second > taken_ns_;
      });
      for (auto sample = samples.begin(); sample != end; ++sample) add_to_row(process, 0, *sample);
      waits_ -= static_cast<std::size_t>(end - samples.begin());
      samples.erase(samples.begin(), end);
      entry = samples.empty() ? waiting_.erase(entry) : std::next(entry);
    }
  }

  std::uint64_t find_interval() const {
    const std::uint64_t longest_ns =
        std::min((timer_ ? timer_->fill_ns() : sampler_.fill_ns()) / 2, longest_interval_ns);
    const std::uint64_t age_ns = taken_ns_ - std::min(taken_ns_, newest_ns_);
    return std::max(std::min(age_ns / part_of_age, longest_ns), shortest_interval_ns);
  }

  // A program that has just begun loads its libraries, and may end soon.
  void count_sample_of(pid_t process) {
    if (samples_of_.size() == max_named_processes && samples_of_.count(process) == 0) return;
    active_.insert(process);
    const std::uint64_t samples = ++samples_of_[process];
    if ((samples & (samples - 1)) == 0) to_note_.insert(process);
    if (samples == 1) newest_ns_ = taken_ns_;
  }

  // A collector copies stacks only with stacks=dwarf: copies need another process, and ranks share the memory for rings.
  static stack_choice choose_stacks(const options& of, bool is_own) {
    return is_own && of.stacks == stack_choice::automatic ? stack_choice::frame_pointers : of.stacks;
  }
  static std::unique_ptr<stack_unwinder> make_unwinder(stack_choice chosen, bool is_in_program) {
    if (chosen == stack_choice::frame_pointers) return nullptr;
    if (stack_unwinder::needed_registers() == 0) {
      if (chosen == stack_choice::dwarf) report_frame_pointers(no_unwinder());
      return nullptr;
    }
    auto made = std::make_unique<stack_unwinder>(is_in_program);
    if (!is_in_program || made->has_child()) return made;
    report_frame_pointers({"cannot start another process that unwinds copied stacks", "stacks", errno,
                           "use adaptyst run, if the program is init or a subreaper"});
    return nullptr;
  }

  void unwind_copies() {
    if (copies_ == 0) return;
    std::vector<stack_unwinder::process_stack> all;
    for (std::size_t at = 0; at != copies_; ++at) {
      const perf_sample& of = copied_[at];
      all.push_back({of.process, {of.registers, {of.stack.data(), of.stack.size()}, stack_bytes()}});
    }
    copies_ = 0;
    unwinder_->unwind(all, [&](std::size_t at, stack_unwinder::end how, const std::vector<std::uint64_t>& frames) {
      using end = stack_unwinder::end;
      if (how == end::truncated && frames.size() < max_sample_frames) ++truncated_;
      if (how == end::broken) ++not_unwound_;
      const std::vector<std::uint64_t>& of_kernel = copied_[at].frames;
      add_sample(copied_[at], frames, of_kernel.empty() ? 0 : keep_stack(of_kernel));
    });
  }

  void add_sample(const perf_sample& sample, const std::vector<std::uint64_t>& frames, std::uint64_t kernel) {
    const std::uint64_t user = find_or_add_stack(sample.process, frames);
    const waiting_sample made{sample.thread, sample.time_ns, user, kernel, sample.samples};
    count_sample_of(sample.process);
    if (waits_ == max_waiting_samples) return add_to_row(sample.process, unknown_path, made);
    std::vector<waiting_sample>& waiting = waiting_[sample.process];
    if (waiting.size() == max_waiting_of_process) drop_oldest(sample.process, waiting);
    waiting.push_back(made);
    ++waits_;
  }

  // Its id; 0: there is no room.
  std::uint64_t keep_stack(const std::vector<std::uint64_t>& frames) {
    if (frames.size() >= max_sample_frames) ++truncated_;
    const std::uint64_t id = hash_stack(frames);
    if (stacks_.count(id) != 0) return id;
    if (stacks_.size() == max_sample_stacks) {
      ++stacks_full_;
      return 0;
    }
    stacks_[id].assign(frames.begin(),
                       frames.begin() + static_cast<std::ptrdiff_t>(std::min(frames.size(), max_sample_frames)));
    return id;
  }
  std::uint64_t find_or_add_stack(pid_t process, const std::vector<std::uint64_t>& frames) {
    const std::size_t before = stacks_.size();
    const std::uint64_t id = keep_stack(frames);
    const bool is_new = stacks_.size() != before;
    if (is_new && samples_of_.count(process) != 0 && !have_names(process, frames)) unnamed_.insert(process);
    return id;
  }

  // Frame pointers may lead to addresses without code; only the innermost frame is certain.
  bool have_names(pid_t process, const std::vector<std::uint64_t>& frames) const {
    const std::size_t certain = unwinder_ != nullptr ? frames.size() : std::min<std::size_t>(frames.size(), 1);
    return std::all_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(certain),
                       [&](std::uint64_t frame) { return has_name_(process, frame); });
  }

  void add_to_row(pid_t process, std::uint64_t path, const waiting_sample& of) {
    if (path == unknown_path) unknown_ += of.number;
    const std::tuple key(process, path, of.user, of.kernel);
    if (rows_.size() == max_sample_rows && rows_.count(key) == 0) rows_full_ += of.number;
    else rows_[key] += of.number;
  }

  static void add_off_core(sample_sums& to, sample_sums&& from) {
    to.rows.insert(to.rows.end(), from.rows.begin(), from.rows.end());
    to.stacks.merge(from.stacks);  // hashes of two kinds: equal by a chance of 2^-64 for a pair
    for (const auto& [why, number] : from.usage.lost) to.usage.lost[why] += number;
    to.usage.waits_one_of = from.usage.waits_one_of;
  }

  void add_losses(losses& to) const {
    const auto lose = [&](loss_reason why, std::uint64_t number) {
      if (number != 0) to[why] = number;
    };
    const timer_losses by_timers = timer_ ? timer_->lost() : timer_losses{};
    lose(loss_reason::sample_ring_full, sampler_.lost().ring_full + by_timers.ring_full);
    lose(loss_reason::signal_in_use, by_timers.without_signal);
    lose(loss_reason::unreadable, by_timers.damaged);
    lose(loss_reason::throttled, sampler_.lost().throttled);
    lose(loss_reason::region_unknown, unknown_);
    lose(loss_reason::stacks_full, stacks_full_);
    lose(loss_reason::truncated, truncated_ + by_timers.truncated);
    lose(loss_reason::not_unwound, not_unwound_);
    lose(loss_reason::rows_full, rows_full_);
    lose(loss_reason::too_many_threads, sampler_.unsampled_threads() + by_timers.without_timer);
  }

  const std::optional<pid_t> only_;                            // empty: any process
  const std::unique_ptr<sample_source> off_core_;              // null: none
  std::unique_ptr<stack_unwinder> unwinder_;                   // null: stacks follow frame pointers
  perf_sampler sampler_;                                       // without `timer_`
  std::optional<timer_samples> timer_;                         // empty: the kernel samples
  std::set<pid_t> started_here_;                               // processes with samples and with a checked origin
  std::map<pid_t, std::uint64_t> added_ticks_;                 // processes with clocks of their own, and since when
  std::array<perf_sample, stack_unwinder::max_batch> copied_;  // to be unwound together
  std::size_t copies_ = 0;
  std::uint64_t begun_cpu_ns_ = process_cpu_ns(), reading_ns_ = 0;
  noter note_;
  name_finder has_name_;
  std::uint64_t frame_pointer_period_ns_;
  bool must_copy_;  // else, stacks follow frame pointers if there is no room for copies
  std::map<std::pair<pid_t, std::uint64_t>, journal_of_store> journals_;  // by process and the address of its store
  std::map<pid_t, std::uint64_t> last_journal_;                           // its number, by process
  journal_of_store* current_ = nullptr;
  std::uint64_t last_number_ = 0;
  std::size_t kept_ = 0;             // scopes in all journals
  std::set<pid_t> marked_;           // processes that have or had markers
  std::set<pid_t> without_regions_;  // processes of samples without regions
  std::map<pid_t, std::vector<waiting_sample>> waiting_;
  std::size_t waits_ = 0;                      // samples in these
  std::set<pid_t> active_, to_note_;           // with samples since the last sweep, and in this read_rings()
  std::set<pid_t> unnamed_;                    // with new stacks in code without a name
  pid_t last_noted_ = 0;                       // in the last sweep
  std::map<pid_t, std::uint64_t> samples_of_;  // of processes with names of functions
  path_set ambiguous_;
  std::uint64_t taken_ns_ = 0, swept_ns_ = 0, interval_ns_ = shortest_interval_ns;
  std::uint64_t newest_ns_ = 0;  // when the newest process was added or first sampled
  std::uint64_t samples_ = 0, unknown_ = 0, stacks_full_ = 0, truncated_ = 0, not_unwound_ = 0, rows_full_ = 0;
  std::map<std::tuple<pid_t, std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t> rows_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> stacks_;
};

class recorder_samples final : public thread_context {
 public:
  recorder_samples(const options& options, std::optional<pid_t> only, std::unique_ptr<sample_source> off_core) {
    const bool has_context = off_core != nullptr;
    auto source = std::make_unique<journalled_samples>(
        options, only, std::move(off_core),
        [this](pid_t process, bool is_unnamed) {
          sampling_->note_new_mappings(process, is_unnamed);
          sampling_->set_command(process, find_program(process));
        },
        [this](pid_t process, std::uint64_t address) { return sampling_->has_name(process, address); });
    source_ = source.get();
    sampling_ = std::make_unique<sampling>(std::move(source), has_context);
  }

  bool takes_samples() const override { return true; }
  int threads() const override { return -1; }
  void add_process(pid_t) override {}
  void remove_process(pid_t process) override { source_->remove(process); }
  void follow(pid_t process, arrival as) override {
    const bool is_new = unsampled_.insert(process).second;  // until it is sampled
    if (!source_->follow(process, as)) return;
    is_following_ = true;
    if (is_new) unsampled_.erase(process);
  }
  bool is_sampled(pid_t process) const override {
    return unsampled_.count(process) == 0 && source_->is_sampled(process);
  }
  std::string sample_file() const override { return source_->sample_file(); }
  scope_taker* scopes() override { return source_; }
  void attach(const std::string&) override {}
  // The samples show for which processes it is needed; times off a core do not.
  void note_mappings(pid_t process) override {
    if (source_->has_off_core()) sampling_->note_mappings(process);
  }
  void drain() override { source_->read_due_rings(); }
  double seconds_to_drain() const override { return static_cast<double>(source_->interval_ns()) / ns_per_second; }
  void set_command(pid_t process, const std::string& command) override { sampling_->set_command(process, command); }

  void sample_unmarked(const options&) override {}
  bool samples_unmarked() const override { return false; }
  void end_unmarked() override {}
  std::map<std::string, std::uint64_t> functions() override { return sampling_->functions(); }

  // Only the part of the times off a core is measured.
  std::optional<std::uint64_t> cost_ns() const override {
    return source_->has_off_core() ? std::optional(source_->cost_ns()) : std::nullopt;
  }
  std::optional<context_sums> read() override {
    source_->read_rings();
    return std::nullopt;
  }
  const announced_recorders& announced() override { return none_; }
  void add_to(measurements& rows, const std::optional<context_sums>&, const open_region_counts&) override {
    if (!is_following_) return;  // then rows have no samples, not 0
    source_->set_ambiguous(find_parents_of_left_out(rows));
    sampling_->read();  // now all scopes have been read
    sampling_->add_to(rows);
  }
  std::optional<sample_usage> samples() const override {
    return is_following_ && source_->has_begun() ? std::optional(sampling_->usage()) : std::nullopt;
  }
  void finish_stacks(output_names& names, construct_names& constructs, profile& made) override {
    if (is_following_ && !source_->has_begun())
      complain(
          error(
              "samples=timer: no program has loaded the timer adapter, and samples are unknown", "samples", 0,
              "static and setuid programs, and those of another user or PID namespace, cannot load it; see docs/samples.md")
              .what());
    sampling_->finish(names, constructs, made);
  }

 private:
  const announced_recorders none_;
  std::unique_ptr<sampling> sampling_;
  journalled_samples* source_ = nullptr;  // owned by `sampling_`
  bool is_following_ = false;             // false: no process could be sampled
  std::set<pid_t> unsampled_;             // processes with unknown samples, at least at the beginning
};

}  // namespace

void report_frame_pointers(const error& why) {
  complain(error("stacks follow frame pointers: " + why.summary(), "stacks", 0, why.hint()).what());
}

std::unique_ptr<thread_context> make_recorder_samples(const options& options, std::optional<pid_t> only,
                                                      std::unique_ptr<sample_source> off_core) {
  if (options.samples != sample_choice::timer)
    if (const std::optional<error> refusal = find_perf_refusal()) throw error(*refusal);
  if (off_core != nullptr && stack_unwinder::needed_registers() == 0) throw no_unwinder();
  return std::make_unique<recorder_samples>(options, only, std::move(off_core));
}

}  // namespace adaptyst::lib
