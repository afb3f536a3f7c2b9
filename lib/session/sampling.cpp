// Turns counted stacks into named frames, without the frames of the sampling interrupt and of the scheduler.
#include "sampling.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "../model/region_list.hpp"
#include "../model/stack_trees.hpp"
#include "../report/stacks.hpp"
#include "../support/error.hpp"
#include "../support/output_file.hpp"
#include "../support/output_form.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

bool begins(std::string_view text, std::string_view beginning) { return text.substr(0, beginning.size()) == beginning; }

// The entry of a clock's interrupt into the kernel; frames inside belong to the clock.
bool is_interrupt(std::string_view function) {
  return begins(function, "asm_sysvec_") || begins(function, "asm_common_interrupt") || begins(function, "el1h_64_irq");
}

// The function in which a thread leaves its core; frames inside belong to the tracing.
bool is_switch(std::string_view function) { return begins(function, "__traceiter_") || function == "__schedule"; }

// Removes the innermost frame for which `is_end` holds, and all frames inside. `frames`: innermost first.
void drop_inside(std::vector<std::string>& frames, bool (*is_end)(std::string_view)) {
  const auto found = std::find_if(frames.begin(), frames.end(), is_end);
  if (found != frames.end()) frames.erase(frames.begin(), found + 1);
}

bool lacks_name(std::string_view function) { return function.find("+0x") != std::string_view::npos; }

// Nearly every program has a sample in a function without a name, so this is reported only from 1 % on.
bool is_much(std::uint64_t unnamed, std::uint64_t all) { return unnamed != 0 && unnamed >= all / 100; }

// Adds up by the regions of the profile. If the profile lacks a path, the missing names become frames.
std::vector<region_stacks> add_up(const std::vector<sampled_stack>& stacks, const profile& made) {
  std::map<std::vector<std::string>, std::uint64_t> ids;
  for (const region& row : made.regions)
    if (made.is_host(row.device)) ids.try_emplace(row.path, row.id);
  stack_trees trees;
  for (const sampled_stack& stack : stacks) {
    std::vector<std::string> path = stack.region, frames = stack.frames;
    while (!path.empty() && ids.find(path) == ids.end()) {
      frames.insert(frames.begin(), std::move(path.back()));
      path.pop_back();
    }
    trees.add(path.empty() ? 0 : ids[path], frames, stack.state, stack.weight_ns);
  }
  return trees.list();
}

}  // namespace

void sampling::set_command(pid_t process, const std::string& command) {
  if (!command.empty()) programs_[process] = command.substr(command.rfind('/') + 1);
}

void sampling::add_to(measurements& rows) {
  add_samples(rows, sums_, has_context_);
  for (const sample_row& row : sums_.rows)
    if (row.path == unknown_path) paths_[row.path] = {"(unknown)"};
    else if (row.path != 0) paths_[row.path] = list_path_names(rows, row.path);
}

std::map<std::string, std::uint64_t> sampling::functions() {
  read();
  std::map<std::string, std::uint64_t> all;
  for (const sample_row& row : sums_.rows) {
    if (row.state != thread_state::on_cpu) continue;
    std::vector<std::string> frames;
    add_user_frames(frames, static_cast<pid_t>(row.process), row.user);
    add_kernel_frames(frames, row);
    if (!frames.empty()) all[printable(frames.back())] += row.count;
  }
  std::uint64_t samples = 0, unnamed = 0;
  for (const auto& [name, count] : all) {
    samples += count;
    if (lacks_name(name)) unnamed += count;
  }
  if (is_much(unnamed, samples)) report_missing_names();
  constexpr std::size_t max_functions = 20;
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  sorted.reserve(all.size());
  for (const auto& [name, count] : all) sorted.emplace_back(count, name);
  std::sort(sorted.rbegin(), sorted.rend());
  for (std::size_t at = max_functions; at < sorted.size(); ++at) {
    all["(others)"] += sorted[at].first;
    all.erase(sorted[at].second);
  }
  return all;
}

void sampling::report_missing_names() {
  if (std::exchange(has_reported_names_, true)) return;
  for (const std::string& line : names_.remarks()) complain(line);
}

void sampling::finish(output_names& names, construct_names& constructs, profile& made) {
  source_->stop();
  const std::vector<sampled_stack> stacks = named(constructs);
  made.stacks = add_up(stacks, made);
  const std::string program = programs_.empty() ? "" : programs_.begin()->second;
  bool has_files = false;
  for (const form_entry& entry : output_forms()) {
    const std::string file = names.of(entry.form);
    if (file.empty() || entry.source != output_source::stacks) continue;
    has_files = true;
    try_step([&] {
      write_file(file, entry.form == output_form::folded ? to_folded(stacks) : to_speedscope(stacks, program));
      names.note_written(entry.form);
    });
  }
  std::uint64_t all_ns = 0, unnamed_ns = 0;
  for (const sampled_stack& stack : stacks) {
    all_ns += stack.weight_ns;
    if (!stack.frames.empty() && lacks_name(stack.frames.back())) unnamed_ns += stack.weight_ns;
  }
  if (has_files || is_much(unnamed_ns, all_ns)) report_missing_names();
}

std::vector<sampled_stack> sampling::named(construct_names& constructs) {
  const sample_usage& usage = sums_.usage;
  const double period_ns =
      usage.samples != 0 ? static_cast<double>(usage.observed_ns) / static_cast<double>(usage.samples) : 0;
  std::vector<sampled_stack> stacks;
  for (const sample_row& row : sums_.rows) {
    sampled_stack stack;
    const auto process = static_cast<pid_t>(row.process);
    const auto program = programs_.find(process);
    stack.program = program != programs_.end() ? program->second : "(process " + std::to_string(process) + ")";
    if (const auto path = paths_.find(row.path); path != paths_.end())
      for (const std::string& name : path->second) stack.region.push_back(constructs.spelled(name));
    stack.state = row.state;
    add_user_frames(stack.frames, process, row.user);
    count_callers(row, stack.frames);
    add_kernel_frames(stack.frames, row);
    stack.weight_ns = row.state == thread_state::on_cpu
                          ? static_cast<std::uint64_t>(static_cast<double>(row.count) * period_ns)
                          : row.ns;
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

void sampling::add_user_frames(std::vector<std::string>& frames, pid_t process, std::uint64_t id) {
  const auto found = sums_.stacks.find(id);
  if (found == sums_.stacks.end()) return;
  const std::vector<std::uint64_t>& addresses = found->second;  // innermost first
  for (std::size_t at = 0; at != addresses.size(); ++at) {
    // All but the innermost are return addresses, which are behind the call.
    const std::uint64_t address = at == 0 || addresses[at] == 0 ? addresses[at] : addresses[at] - 1;
    const std::vector<std::string>& names = names_.find_names(process, address);
    frames.insert(frames.end(), names.begin(), names.end());
    // The kernel followed a value that is no frame pointer: the outer frames are not callers.
    if (frames.back() == symboliser::unknown) break;
  }
  std::reverse(frames.begin(), frames.end());
}

// An inlined function's caller is no caller by frame pointers, so addresses count.
void sampling::count_callers(const sample_row& row, const std::vector<std::string>& frames) {
  const auto found = sums_.stacks.find(row.user);
  if (row.state != thread_state::on_cpu || row.kernel != 0 || found == sums_.stacks.end() || frames.empty()) return;
  in_programs_ += row.count;
  if (found->second.size() == 1 || frames.front() == symboliser::unknown) without_caller_ += row.count;
}

const std::string& sampling::find_kernel_function(std::uint64_t address) {
  const auto [entry, is_new] = kernel_functions_.try_emplace(address);
  if (is_new) entry->second = source_->find_kernel_function(address);
  if (entry->second.empty()) entry->second = "[kernel]";
  return entry->second;
}

void sampling::add_kernel_frames(std::vector<std::string>& stack, const sample_row& row) {
  const auto found = sums_.stacks.find(row.kernel);
  if (found == sums_.stacks.end()) return;
  const std::vector<std::uint64_t>& addresses = found->second;  // innermost first
  std::vector<std::string> frames;
  for (std::size_t at = 0; at != addresses.size(); ++at)
    frames.push_back(find_kernel_function(at == 0 ? addresses[at] : addresses[at] - 1));
  if (row.state != thread_state::on_cpu) drop_inside(frames, is_switch);
  if (row.state != thread_state::blocked) drop_inside(frames, is_interrupt);  // the thread would have run on
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());  // repeated "[kernel]", if there are no names
  // The suffix by which other tools mark frames of the kernel.
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) stack.push_back(*frame + "_[k]");
}

}  // namespace adaptyst::lib
