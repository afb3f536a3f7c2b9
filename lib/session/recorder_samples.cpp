// A sample waits until the scopes of its process have been read; then its region is known (region_journal.hpp).
#include "recorder_samples.hpp"

#include <adaptyst/detail/clock.hpp>
#include <adaptyst/detail/config.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../kernel/perf_sampler.hpp"
#include "../recorder/region_journal.hpp"
#include "../support/process_stat.hpp"
#include "sampling.hpp"

namespace adaptyst::lib {

namespace {

// The same limits as with eBPF.
constexpr std::size_t max_sample_rows = 16'384, max_sample_stacks = 8192, max_sample_frames = 127;
constexpr std::size_t max_waiting_samples = std::size_t{1} << 16;  // samples
constexpr std::size_t max_named_processes = 1024;                  // with names of functions
constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::uint64_t sweep_interval_ns = ns_per_second / 10;
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

class journalled_samples final : public sample_source, public scope_taker {
 public:
  // `note`: called for a process while it lives, when it has new samples.
  journalled_samples(std::uint64_t frequency, std::function<void(pid_t)> note)
      : sampler_(ns_per_second / frequency), note_(std::move(note)) {}

  void follow(pid_t process, bool is_starting) {
    sampler_.add(process, is_starting ? perf_sampler::begin::at_exec : perf_sampler::begin::at_once);
  }

  void begin(pid_t process, trace_reader& reader, const process_state& state) override {
    take();
    journal_of_store& of = journals_[process];
    if (of.store != state.address) of = {state.address, {}};
    std::set<std::uint32_t> threads;
    for (const waiting_sample& sample : waiting_[process]) threads.insert(sample.thread);
    of.journal.begin(reader, state, threads);
  }
  void add(pid_t process, const traced_event& event) override { journals_[process].journal.add(event); }
  void end(pid_t process, const trace_reader& reader) override {
    region_journal& journal = journals_[process].journal;
    journal.end(reader);
    if (!journal.is_ready()) return;
    for (const waiting_sample& sample : waiting_[process]) {
      const std::optional<std::uint64_t> path = journal.find(sample.thread, sample.time_ns);
      count(process, path.value_or(unknown_path), sample.stack);
    }
    waits_ -= waiting_[process].size();
    waiting_.erase(process);
    journal.forget(taken_ns_ - latest_delivery_ns);
  }

  // Paths around skipped events: their samples may be in these events.
  void set_ambiguous(path_set paths) { ambiguous_ = std::move(paths); }

  sample_sums read() override {
    take();
    // Samples that still wait have no region in this result.
    const auto kept = rows_;
    const std::uint64_t rows_full = rows_full_, unknown = unknown_;
    for (const auto& [process, samples] : waiting_)
      for (const waiting_sample& sample : samples)
        count(process, journals_.count(process) != 0 ? unknown_path : 0, sample.stack);
    sample_sums sums;
    for (const auto& [key, number] : rows_) {
      const auto& [process, path, stack] = key;
      const bool is_ambiguous = ambiguous_.count(path) != 0 && journals_.count(process) != 0;
      if (is_ambiguous) unknown_ += number;
      sums.rows.push_back({process, is_ambiguous ? unknown_path : path, thread_state::on_cpu, stack, 0, number, 0});
    }
    sums.stacks = stacks_;
    sums.usage.samples = samples_;
    sums.usage.observed_ns = samples_ * sampler_.period_ns();
    add_losses(sums.usage.lost);
    rows_ = kept;
    rows_full_ = rows_full;
    unknown_ = unknown;
    return sums;
  }
  // Takes the samples out of the rings, which fill in milliseconds.
  void take() {
    taken_ns_ = detail::monotonic_ns();
    sampler_.read([&](const perf_sample& sample) {
      ++samples_;
      const std::uint64_t stack = keep(sample.frames);
      note_new(sample.process);
      if (waits_ == max_waiting_samples) return count(sample.process, unknown_path, stack);
      waiting_[sample.process].push_back({sample.thread, sample.time_ns, stack});
      ++waits_;
    });
    if (taken_ns_ - swept_ns_ >= sweep_interval_ns) sweep();
  }

  void stop() override { sampler_.stop(); }

 private:
  struct waiting_sample {
    std::uint32_t thread;
    std::uint64_t time_ns, stack;
  };
  struct journal_of_store {
    std::uint64_t store = 0;  // its address in the process: another one after exec()
    region_journal journal;
  };

  // Processes without markers have no scopes to wait for.
  void sweep() {
    swept_ns_ = taken_ns_;
    for (const pid_t process : std::exchange(active_, {})) note(process);
    for (auto entry = waiting_.begin(); entry != waiting_.end();) {
      auto& [process, samples] = *entry;
      const auto end = std::find_if(samples.begin(), samples.end(), [&](const waiting_sample& sample) {
        return journals_.count(entry->first) != 0 || sample.time_ns + ns_per_second > taken_ns_;
      });
      for (auto sample = samples.begin(); sample != end; ++sample) count(process, 0, sample->stack);
      waits_ -= static_cast<std::size_t>(end - samples.begin());
      samples.erase(samples.begin(), end);
      entry = samples.empty() ? waiting_.erase(entry) : std::next(entry);
    }
  }

  void note(pid_t process) {
    if (samples_of_.count(process) != 0) note_(process);
  }
  // A program that has just begun loads its libraries, and may end soon.
  void note_new(pid_t process) {
    active_.insert(process);
    if (samples_of_.size() == max_named_processes && samples_of_.count(process) == 0) return;
    const std::uint64_t samples = ++samples_of_[process];
    if ((samples & (samples - 1)) == 0) note(process);
  }

  std::uint64_t keep(const std::vector<std::uint64_t>& frames) {
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

  void count(pid_t process, std::uint64_t path, std::uint64_t stack) {
    if (path == unknown_path) ++unknown_;
    const std::tuple key(process, path, stack);
    if (rows_.size() == max_sample_rows && rows_.count(key) == 0) ++rows_full_;
    else ++rows_[key];
  }

  void add_losses(losses& to) const {
    const auto lose = [&](loss_reason why, std::uint64_t number) {
      if (number != 0) to[why] = number;
    };
    lose(loss_reason::sample_ring_full, sampler_.lost().ring_full);
    lose(loss_reason::throttled, sampler_.lost().throttled);
    lose(loss_reason::region_unknown, unknown_);
    lose(loss_reason::stacks_full, stacks_full_);
    lose(loss_reason::truncated, truncated_);
    lose(loss_reason::rows_full, rows_full_);
    lose(loss_reason::processors, sampler_.unsampled_processors());
    lose(loss_reason::too_many_threads, sampler_.unsampled_threads());
  }

  perf_sampler sampler_;
  std::function<void(pid_t)> note_;
  std::map<pid_t, journal_of_store> journals_;
  std::map<pid_t, std::vector<waiting_sample>> waiting_;
  std::size_t waits_ = 0;                      // samples in these
  std::set<pid_t> active_;                     // with samples since the last sweep
  std::map<pid_t, std::uint64_t> samples_of_;  // of processes with names of functions
  path_set ambiguous_;
  std::uint64_t taken_ns_ = 0, swept_ns_ = 0;
  std::uint64_t samples_ = 0, unknown_ = 0, stacks_full_ = 0, truncated_ = 0, rows_full_ = 0;
  std::map<std::tuple<pid_t, std::uint64_t, std::uint64_t>, std::uint64_t> rows_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> stacks_;
};

class recorder_samples final : public thread_context {
 public:
  explicit recorder_samples(const options& options) {
    auto source = std::make_unique<journalled_samples>(options.sample_frequency, [this](pid_t process) {
      sampling_->note_mappings(process);
      sampling_->set_command(process, find_program(process));
    });
    source_ = source.get();
    sampling_ = std::make_unique<sampling>(std::move(source), symboliser::kernel::unnamed, false);
  }

  bool takes_samples() const override { return true; }
  int threads() const override { return -1; }
  void add_process(pid_t) override {}
  void remove_process(pid_t) override {}
  void follow(pid_t process, bool is_starting) override {
    source_->follow(process, is_starting);
    is_following_ = true;
  }
  scope_taker* scopes() override { return source_; }
  void attach(const std::string&) override {}
  void note_mappings(pid_t) override {}  // the samples show for which processes it is needed
  void drain() override { source_->take(); }
  void set_command(pid_t process, const std::string& command) override { sampling_->set_command(process, command); }

  void sample_unmarked(const options&) override {}
  bool samples_unmarked() const override { return false; }
  void end_unmarked() override {}
  std::map<std::string, std::uint64_t> functions() override { return sampling_->functions(); }

  std::uint64_t cost_ns() const override { return 0; }  // unknown
  std::optional<context_sums> read() override { return std::nullopt; }
  const announced_recorders& announced() override { return none_; }
  void add_to(measurements& rows, const std::optional<context_sums>&, const open_region_counts&) override {
    source_->set_ambiguous(find_parents_of_left_out(rows));
    sampling_->read();  // now all scopes have been read
    sampling_->add_to(rows);
  }
  std::optional<sample_usage> samples() const override {
    return is_following_ ? std::optional(sampling_->usage()) : std::nullopt;
  }
  void finish_stacks(output_names& names, construct_names& constructs, profile& made) override {
    sampling_->finish(names, constructs, made);
  }

 private:
  const announced_recorders none_;
  std::unique_ptr<sampling> sampling_;
  journalled_samples* source_ = nullptr;  // owned by `sampling_`
  bool is_following_ = false;             // false: no process could be sampled
};

}  // namespace

std::unique_ptr<thread_context> make_recorder_samples(const options& options) {
  if (const std::optional<error> refusal = find_perf_refusal()) throw *refusal;
  return std::make_unique<recorder_samples>(options);
}

}  // namespace adaptyst::lib
