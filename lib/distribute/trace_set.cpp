// Opens traces, matches devices by UUID or number, and shifts times to a common begin.
#include "trace_set.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

// A group for a process: this bit, the number of its trace, and its process number, of which Linux has 2^22.
constexpr std::uint32_t is_process = std::uint32_t{1} << 31U;
constexpr unsigned trace_at = 22;
constexpr std::uint32_t max_process = (std::uint32_t{1} << trace_at) - 1;
constexpr std::size_t max_traces = 512;

}  // namespace

trace_set::trace_set(const std::vector<std::string>& files) {
  std::set<std::pair<dev_t, ino_t>> identities;
  for (const std::string& file : files) {
    opened_trace made;
    made.in = open_trace(file);
    struct stat about {};
    if (stat(file.c_str(), &about) == 0 && !identities.insert({about.st_dev, about.st_ino}).second)
      throw error(fmt::format("{} is named twice", file), file, 0, "name each trace once");
    if (const std::string missing = made.in->missing(); !missing.empty()) remarks_.push_back(missing);
    made.processes = made.in->processes();
    all_.push_back(std::move(made));
  }
  require_different();
  align();
  number_devices();
  find_ranks();
}

// A process with the same begin in two files would be counted twice.
void trace_set::require_different() const {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, const trace_input*> by_begin;
  for (const opened_trace& trace : all_) {
    const std::optional<trace_input::machine_time> begin =
        trace.in->utc_ns() ? trace_input::machine_time{{}, *trace.in->utc_ns()} : trace.in->begin_on_machine();
    if (!begin) continue;
    for (const auto& [process, about] : trace.processes) {
      const auto [entry, is_new] = by_begin.try_emplace({begin->machine, begin->ns, process}, trace.in.get());
      if (is_new) continue;
      throw error(fmt::format("{} and {} are of the same process {}", entry->second->file(), trace.in->file(), process),
                  trace.in->file(), 0, "leave one of them out, or the work of the process would be counted twice");
    }
  }
}

void trace_set::align() {
  if (all_.size() < 2 || align_by_machine()) return;
  std::int64_t first = 0, last = 0;
  bool is_first = true;
  for (const opened_trace& trace : all_) {
    if (!trace.in->utc_ns()) {
      remarks_.push_back(fmt::format("{} has no start time: all traces are aligned at their begin", trace.in->file()));
      return;
    }
    first = is_first ? *trace.in->utc_ns() : std::min(first, *trace.in->utc_ns());
    last = is_first ? *trace.in->utc_ns() : std::max(last, *trace.in->utc_ns());
    is_first = false;
  }
  if (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) > max_time_ns) {
    remarks_.emplace_back("the start times of the traces are years apart: all traces are aligned at their begin");
    return;
  }
  for (opened_trace& trace : all_) trace.shift_ns = *trace.in->utc_ns() - first;
  is_aligned_ = true;
  remarks_.push_back("traces are aligned by the machines' clocks, which may differ by milliseconds between nodes");
}

// False: not all traces have times of machines.
bool trace_set::align_by_machine() {
  std::map<std::string, std::int64_t> first;
  for (const opened_trace& trace : all_) {
    const std::optional<trace_input::machine_time> begin = trace.in->begin_on_machine();
    if (!begin || begin->ns < 0 || static_cast<std::uint64_t>(begin->ns) > max_time_ns) return false;
    const auto [entry, is_new] = first.try_emplace(begin->machine, begin->ns);
    if (!is_new) entry->second = std::min(entry->second, begin->ns);
  }
  for (opened_trace& trace : all_) {
    const trace_input::machine_time begin = *trace.in->begin_on_machine();
    trace.shift_ns = begin.ns - first[begin.machine];
  }
  remarks_.emplace_back(first.size() == 1 ? "traces are aligned by their machine's clock"
                                          : "traces of a machine are aligned by its clock, machines at their begin");
  return true;
}

// Uses the machine's numbers, unless two different devices have the same number.
void trace_set::number_devices() {
  std::map<std::uint32_t, std::string> taken;    // UUIDs by device number
  std::map<std::string, std::uint32_t> numbers;  // device numbers by UUID
  for (opened_trace& trace : all_)
    for (const trace_input::device& device : trace.in->devices()) {
      if (const auto entry = numbers.find(device.uuid); !device.uuid.empty() && entry != numbers.end()) {
        if (entry->second != device.physical) trace.devices[device.physical] = entry->second;
        continue;
      }
      std::uint32_t number = device.physical;
      const auto other = taken.find(number);
      if (other != taken.end() && !device.uuid.empty() && !other->second.empty()) {
        number = taken.rbegin()->first + 1;
        trace.devices[device.physical] = number;
        remarks_.push_back(fmt::format("GPU {} of {} has the number {} here, because another GPU has its number",
                                       device.physical, trace.in->file(), number));
      }
      taken.try_emplace(number, device.uuid);
      if (!device.uuid.empty()) numbers[device.uuid] = number;
    }
}

std::uint32_t trace_set::device(std::size_t number, std::uint32_t physical) const {
  const auto found = all_[number].devices.find(physical);
  return found != all_[number].devices.end() ? found->second : physical;
}

// Two runs may have the same ranks; their events must stay separate.
void trace_set::find_ranks() {
  if (all_.size() > max_traces)
    throw error(fmt::format("{} traces are more than {}", all_.size(), max_traces), 0,
                "analyse some of them at a time");
  std::map<std::uint32_t, const opened_trace*> by_rank;
  for (const opened_trace& trace : all_)
    for (const auto& [id, process] : trace.processes) {
      if (all_.size() > 1 && (id < 0 || id > max_process))
        throw error(fmt::format("{} contains several traces", trace.in->file()), trace.in->file(), 0,
                    "name the traces from which it was made");
      if (!process.rank) continue;
      const auto [entry, is_new] = by_rank.try_emplace(*process.rank, &trace);
      if (is_new || entry->second == &trace || !has_ranks_) continue;
      has_ranks_ = false;
      remarks_.push_back(fmt::format("both {} and {} have a rank {}: results are by process instead of rank",
                                     entry->second->in->file(), trace.in->file(), *process.rank));
    }
}

std::uint32_t trace_set::group_of_process(std::size_t number, std::uint32_t process) const {
  const auto entry = all_[number].processes.find(process);
  if (has_ranks_ && entry != all_[number].processes.end() && entry->second.rank)
    return *entry->second.rank & ~is_process;
  return is_process | (static_cast<std::uint32_t>(number) << trace_at | process);
}

std::map<std::uint32_t, std::string> trace_set::uuids() const {
  std::map<std::uint32_t, std::string> made;
  for (std::size_t number = 0; number != all_.size(); ++number)
    for (const trace_input::device& about : trace(number).devices())
      if (!about.uuid.empty()) made.try_emplace(device(number, about.physical), about.uuid);
  return made;
}

std::map<std::uint32_t, std::uint32_t> trace_set::user_ranks() const {
  std::map<std::uint32_t, std::uint32_t> made;
  if (!has_ranks_) return made;
  std::map<std::uint32_t, std::set<std::optional<std::uint32_t>>> all;  // with an empty one for an unknown user
  for (std::size_t number = 0; number != all_.size(); ++number) {
    const std::optional<trace_input::users_by_device> users = trace(number).users();
    if (!users)
      for (const trace_input::device& about : trace(number).devices())
        all[device(number, about.physical)].insert(std::nullopt);
    else
      for (const auto& [physical, processes] : *users)
        for (const std::int64_t process : processes) {
          const auto entry = all_[number].processes.find(process);
          all[device(number, physical)].insert(entry != all_[number].processes.end() ? entry->second.rank
                                                                                     : std::nullopt);
        }
  }
  for (const auto& [number, ranks] : all)
    if (ranks.size() == 1 && ranks.begin()->has_value()) made[number] = **ranks.begin();
  return made;
}

variability_group trace_set::describe_group(std::uint32_t group) const {
  variability_group made;
  if ((group & is_process) == 0) {
    made = {variability_group::kind::rank, group, {}, {}, {}};
    for (const opened_trace& trace : all_)
      for (const auto& [id, process] : trace.processes)
        if (process.rank == group) made.host = process.host;
    return made;
  }
  const std::uint32_t rest = group & ~is_process;
  const std::size_t number = all_.size() > 1 ? rest >> trace_at : 0;
  const auto id = static_cast<std::int64_t>(all_.size() > 1 ? rest & max_process : rest);
  const opened_trace& trace = all_[number];
  const auto entry = trace.processes.find(id);
  const bool is_known = entry != trace.processes.end();
  made = {variability_group::kind::process,
          static_cast<std::uint64_t>(is_known ? entry->second.number : id),
          is_known ? entry->second.host : std::string(),
          {},
          {}};
  if (all_.size() > 1) made.trace = trace.in->file();
  return made;
}

std::optional<std::int64_t> trace_set::utc_ns() const {
  if (all_.size() > 1 && !is_aligned_) return std::nullopt;
  std::optional<std::int64_t> first;
  for (const opened_trace& trace : all_)
    if (const std::optional<std::int64_t> start_ns = trace.in->utc_ns(); start_ns && (!first || *start_ns < *first))
      first = start_ns;
  return first;
}

namespace {

// Writes one of several traces. A process number that another trace uses is replaced, and devices get their common
// numbers.
class numbering_writer final : public trace_writer {
 public:
  numbering_writer(const trace_set& in, std::size_t number, std::map<std::int64_t, std::size_t>& owners,
                   trace_writer& to)
      : in_(in), number_(number), owners_(owners), to_(to) {}

  void name_process(std::int64_t process, const traced_process& what) override {
    to_.name_process(find(process), what);
  }
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override {
    to_.name_thread(find(process), thread, name);
  }
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override {
    return to_.knows_thread(find(process), thread);
  }
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override {
    traced_device renumbered = what;
    renumbered.physical = in_.device(number_, what.physical);
    to_.name_device(find(process), device, renumbered);
  }
  bool knows_device(std::int64_t process, std::uint32_t device) const override {
    return to_.knows_device(find(process), device);
  }
  void add(std::int64_t process, const traced_event& event) override {
    ++events_;
    to_.add(find(process), event);
  }
  bool needs_order() const noexcept override { return to_.needs_order(); }
  std::uint64_t events() const noexcept { return events_; }
  void add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) override {
    to_.add_loss(find(process), reason, events);
  }
  std::uint64_t lost() const noexcept override { return to_.lost(); }
  void flush() override { to_.flush(); }
  void finish() override {}

 private:
  std::int64_t find(std::int64_t process) const {
    const std::size_t owner = owners_.try_emplace(process, number_).first->second;
    return owner == number_ ? process : static_cast<std::int64_t>(number_) << trace_at | process;
  }

  const trace_set& in_;
  std::size_t number_;
  std::map<std::int64_t, std::size_t>& owners_;  // the trace that used a process number first
  trace_writer& to_;
  std::uint64_t events_ = 0;
};

}  // namespace

std::uint64_t trace_set::read(trace_writer& to, bad_rows& bad) const {
  std::map<std::int64_t, std::size_t> owners;
  std::uint64_t events = 0;
  for (std::size_t number = 0; number != all_.size(); ++number) {
    numbering_writer numbered(*this, number, owners, to);
    trace(number).read(numbered, shift_ns(number), bad);
    events += numbered.events();
  }
  return events;
}

std::vector<std::string> trace_set::without_place() const {
  std::vector<std::string> made;
  for (const opened_trace& trace : all_)
    if (std::string remark = trace.in->without_place(); !remark.empty()) made.push_back(std::move(remark));
  return made;
}

bool trace_set::is_complete() const {
  return std::all_of(all_.begin(), all_.end(), [](const opened_trace& trace) { return trace.in->is_complete(); });
}

bool trace_set::is_simulated() const {
  return std::any_of(all_.begin(), all_.end(), [](const opened_trace& trace) { return trace.in->is_simulated(); });
}

}  // namespace adaptyst::lib
