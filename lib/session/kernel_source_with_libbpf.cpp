// The `ebpf` engine: Linux counts and sums the events at probes.
//
// Order: load the BPF programs. Attach them to the ELF file of this library. Test on a function in it whether the fast
// attach point preserves the program's state. Then add one link for each other ELF file with markers.
#include <bpf/libbpf.h>
#include <linux/capability.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "../discover/library_files.hpp"
#include "../kernel/function_probes.hpp"
#include "../kernel/probe_links.hpp"
#include "../kernel/uprobe_multi.hpp"
#include "../model/reconcile.hpp"
#include "source.hpp"

namespace adaptyst::lib {

namespace {

class kernel_source final : public source {
 public:
  kernel_source(const options& options, subject subject)
      : options_(options), links_(subject.process, subject.is_listed, !options.functions.empty()) {}

  std::string name() const override { return "ebpf"; }
  std::string mechanism() const override { return links_.mechanism(); }
  bool is_in_kernel() const override { return true; }
  double hit_ns() const override { return links_.hit_ns(); }
  const kernel_rows* among_functions() const override { return options_.functions.empty() ? nullptr : &links_.rows(); }
  std::vector<unsigned> capabilities() const override {
    std::vector<unsigned> needed = {CAP_BPF, CAP_PERFMON};  // for ELF files that are loaded later
    if (!kernel_has_uprobe_multi()) needed.push_back(CAP_SYS_ADMIN);
    return needed;
  }

  void start() override { links_.start(); }
  void add_process(target& target, std::uint64_t object) override {
    links_.rows().add_process(target.id(), {object, target.state(), find_group(target.rank())});
  }
  void attach_file(const std::string& file) override { links_.attach(file); }

  probed_functions probe(const std::vector<std::string>& functions, pid_t process,
                         const std::vector<std::string>* command, int threads) override {
    function_options probe_options;
    probe_options.pid = process;
    probe_options.with_children = command != nullptr;
    probe_options.may_crash_on_exception = options_.may_crash_on_exception;
    probe_options.single_stepped = options_.single_stepped;
    probe_options.without = options_.without;
    probe_options.among = &links_.rows();
    probe_options.threads = threads;
    const bool is_first = !functions_.has_value();
    try {
      if (is_first) functions_.emplace(probe_options);
      else if (command != nullptr && functions_->follows_children()) functions_->follow(process);
      const named_functions found = find_named(functions, [&](const function_request& request) {
        return command != nullptr ? files_for(request, *command) : files_for(request, process);
      });
      probed_functions made = explain_refusals(found, functions_->attach(found, process), [&] {
        return command != nullptr ? list_files(*command) : list_files(process);
      });
      if (command != nullptr && !functions_->follows_children())
        made.refused.emplace_back("functions of child processes cannot be distinguished from those of others", 0,
                                  "use Linux 6.13 or later");
      return made;
    } catch (...) {
      if (is_first) functions_.reset();
      throw;
    }
  }

  void remove_processes(const std::vector<pid_t>& ended) override {
    for (const pid_t pid : ended) links_.rows().remove_process(pid);
    if (functions_ && !ended.empty() && !functions_->follows_children()) functions_->release(ended);
  }

  std::optional<reading> read(const measurements& recorded, unsigned attempt) override {
    // Events that ended before the kernel's rows are read must be in these rows. Exception: if a thread was preempted
    // on the way, its event arrives when it runs again.
    constexpr long retry_delays_ns[] = {200'000, 1'000'000, 5'000'000, 20'000'000};
    if (attempt == 0) {
      ended_before_ = recorded.accounting.ended;
    } else {
      read_ = reconcile(std::move(kernel_), recorded, ended_before_);
      const auto found = read_.accounting.lost.find(loss_reason::not_delivered);
      const std::uint64_t lost = found != read_.accounting.lost.end() ? found->second : 0;
      if (lost <= undelivered_ || attempt == std::size(retry_delays_ns)) {
        undelivered_ = lost;
        if (functions_) {
          add(read_, functions_->read());
          settle_self_times(read_);
        }
        return reading{&read_, false};
      }
    }
    const timespec pause{0, retry_delays_ns[attempt]};
    nanosleep(&pause, nullptr);
    rank_times groups;
    kernel_ = links_.rows().read(&groups);
    rank_times_ = translate_groups(std::move(groups));
    return std::nullopt;
  }

  const rank_times* find_rank_times() const override { return has_too_many_ranks_ ? nullptr : &rank_times_; }

  void stop() override {
    links_.stop();
    if (functions_) functions_->stop();
  }

 private:
  // Assigns a row group to a rank; 0: none free.
  std::uint64_t find_group(std::optional<std::uint32_t> rank) {
    if (!rank) return 0;
    auto found = std::find(ranks_.begin(), ranks_.end(), *rank);
    if (found == ranks_.end()) {
      if (ranks_.size() == ADAPTYST_KERNEL_GROUPS - 1) has_too_many_ranks_ = true;
      if (has_too_many_ranks_) return 0;
      found = ranks_.insert(ranks_.end(), *rank);
    }
    return static_cast<std::uint64_t>(found - ranks_.begin() + 1) * ADAPTYST_KERNEL_GROUP;
  }

  rank_times translate_groups(rank_times groups) const {
    rank_times made;
    for (auto& [group, times] : groups.by_rank) made.by_rank[ranks_[group - 1]] = std::move(times);
    made.shared_paths = std::move(groups.shared_paths);
    return made;
  }

  // `files()` lists the program's files, only after a refusal.
  template <class Files>
  static probed_functions explain_refusals(const named_functions& found, const std::vector<refused_function>& refused,
                                           const Files& files) {
    probed_functions made{found.not_found, {}};
    if (refused.empty()) return made;
    std::set<std::string> symbols, from;
    for (const refused_function& refusal : refused) symbols.insert(refusal.symbols.begin(), refusal.symbols.end());
    for (const auto& [file, requests] : found.by_file) from.insert(file);
    const std::set<std::string> imported = imported_functions(files(), symbols, from);
    for (const refused_function& refusal : refused)
      for (const std::string& symbol : refusal.symbols)
        if (imported.count(symbol) != 0) made.unprobed[refusal.name] = refusal.why.reason;
    for (error& error : explain(refused, imported)) made.refused.push_back(std::move(error));
    return made;
  }

  const options options_;
  probe_links links_;
  std::optional<function_probes> functions_;
  std::uint64_t undelivered_ = 0;     // at the last read
  std::uint64_t ended_before_ = 0;    // ended events in the recorders at attempt 0
  measurements kernel_, read_;        // the kernel's rows; these joined with those of the recorders
  std::vector<std::uint32_t> ranks_;  // [i]: rank of group i + 1
  bool has_too_many_ranks_ = false;   // more ranks than groups
  rank_times rank_times_;
};

}  // namespace

std::unique_ptr<source> make_kernel_source(const options& options, subject subject) {
  return std::make_unique<kernel_source>(options, subject);
}

ebpf_trial try_ebpf() {
  ebpf_trial made;
  try {
    probe_links links(0, true, false);
    links.start();
    made.works = true;
    made.mechanism = links.mechanism();
  } catch (const error& failed) {
    made.refusal = failed.summary();
    made.advice = failed.hint();
  }
  return made;
}

std::string libbpf_version() { return libbpf_version_string(); }

}  // namespace adaptyst::lib
