// Names each thread and device once, when its first event comes, and passes events on to the file.
#include "timeline.hpp"

#include <fmt/format.h>

#include <fstream>

#include "../recorder/device_reader.hpp"
#include "../support/launch_rank.hpp"
#include "../support/output_form.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

std::string thread_name(pid_t process, std::uint32_t thread) {
  if (static_cast<std::uint32_t>(process) == thread) return "main thread";
  std::ifstream file(fmt::format("/proc/{}/task/{}/comm", process, thread));
  std::string name;
  std::getline(file, name);
  return name.empty() ? fmt::format("thread {}", thread) : fmt::format("{} {}", name, thread);
}

}  // namespace

timeline::taken timeline::take(pid_t process, const std::string& command, const process_state& state) {
  std::unique_ptr<trace_reader>& reader = readers_[{process, state.address}];
  if (reader == nullptr) {
    reader = std::make_unique<trace_reader>(state);
    // The reader of the timeline is on the same machine.
    if (has_file())
      file_->name_process(process, {command.substr(command.rfind('/') + 1), process, expand("%h"), find_rank(process)});
  }
  reader->limit(max_poll_ns_);
  const std::uint64_t before = reader->events();
  if (scopes_ != nullptr) scopes_->begin(process, *reader, state);
  const bool is_complete = reader->read(state, [&](const traced_event& event) {
    if (scopes_ != nullptr) scopes_->add(process, event);
    if (!has_file()) return;
    if (max_bytes_ != 0 && file_->bytes() >= max_bytes_) {
      ++beyond_limit_[process];
      return;
    }
    name(process, state, event);
    file_->add(process, event);
  });
  if (scopes_ != nullptr) scopes_->end(process, *reader, is_complete);
  return {reader->events() - before, reader->waiting() == 0};
}

void timeline::name(pid_t process, const process_state& state, const traced_event& event) {
  if (!file_->knows_thread(process, event.thread))
    file_->name_thread(process, event.thread, thread_name(process, event.thread));
  const std::uint32_t number = event.site->device;
  if (number == 0 || file_->knows_device(process, number)) return;
  const std::optional<device> found = device_named(state, number);
  traced_device made;
  made.name = found ? fmt::format("{}{} {}", to_string(found->kind()), found->index(), found->name())
                    : fmt::format("device {}", number);
  made.physical = found ? found->index() : number;
  file_->name_device(process, number, made);
}

void timeline::finish() {
  for (const auto& [process, reader] : readers_) {
    if (const std::uint64_t lost = reader->lost(); lost != 0) file_->add_loss(process.first, "ring_full", lost);
    if (const std::uint64_t sampled_out = reader->sampled_out(); sampled_out != 0)
      file_->add_loss(process.first, "sampled_out", sampled_out);
  }
  for (const auto& [process, events] : beyond_limit_) file_->add_loss(process, "beyond_limit", events);
  file_->finish();
}

timeline_usage timeline::usage() const {
  timeline_usage sum;
  for (const auto& [process, reader] : readers_) {
    sum.events += reader->events();
    sum.lost += reader->lost();
    sum.sampled_out += reader->sampled_out();
  }
  for (const auto& [process, events] : beyond_limit_) sum.beyond_limit += events;
  sum.events -= file_->lost() + file_->unchanged() + sum.beyond_limit;
  sum.lost += file_->lost();
  sum.unchanged = file_->unchanged();
  return sum;
}

}  // namespace adaptyst::lib
