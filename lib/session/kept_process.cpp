// The profile of a process that has left its store in a file.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "../recorder/held_memory.hpp"
#include "../recorder/kept_file.hpp"
#include "../support/error.hpp"
#include "assembly.hpp"
#include "target.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

// The memory of a process that has ended.
class no_memory final : public lib::memory {
 public:
  using memory::read;
  bool read(std::uint64_t, void*, std::size_t) const noexcept override { return false; }
  bool write(std::uint64_t, const void*, std::size_t) const noexcept override { return false; }
  std::string text(std::uint64_t, std::size_t) const override { return {}; }
  unsigned patience() const noexcept override { return 3; }
};

template <std::size_t N>
std::string to_text(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

class kept_process final : public lib::recorded_process {
 public:
  kept_process(lib::descriptor file, const lib::kept_head& head)
      : recorded_process(static_cast<pid_t>(head.owner.process)),
        owner_(head.owner),
        held_(std::move(file), nothing_, true) {
    constexpr std::uint64_t max_cpus = 1 << 16;
    set_command(to_text(owner_.command));
    begin_at(owner_.began_ns, static_cast<std::time_t>(owner_.began_s),
             static_cast<unsigned>(std::clamp<std::uint64_t>(owner_.cpus, 1, max_cpus)));
    poll(false);
    take_last_regions({&held_, held_.address(), {}}, owner_.last_ns);
  }

  bool is_running() const override { return true; }  // as recorded in the file
  process_info info() const override {
    process_info made = recorded_process::info();
    made.host = to_text(owner_.host);
    made.rank.reset();
    made.parent.reset();
    if (owner_.rank != 0) made.rank = static_cast<std::uint32_t>(owner_.rank - 1);
    return made;
  }

 private:
  std::optional<lib::process_state> reach() override { return lib::process_state{&held_, held_.address(), {}}; }
  bool is_in_proc() const override { return false; }
  // If the process was killed before it updated the file for the second time, the length of its run is unknown.
  moment now() const override {
    const std::uint64_t ran_ns = owner_.last_ns - std::min(owner_.last_ns, owner_.began_ns);
    if (ran_ns < lib::between_signs_of_life_ns) return {owner_.began_ns, 0};
    return {owner_.last_ns, owner_.cpu_ns};
  }

  detail::store_owner owner_;
  no_memory nothing_;
  lib::held_memory held_;
};

}  // namespace

bool is_kept(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;  // a pipe can be read only once
  const lib::descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return lib::read_kept_head(opened).has_value();
}

profile read_kept(const std::string& file) {
  lib::descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) throw lib::error(fmt::format("cannot read {}", file), file, errno, "name a file that keep= made");
  const std::optional<lib::kept_head> head = lib::read_kept_head(opened);
  if (!head)
    throw lib::error(fmt::format("cannot read {}: no recorder was kept in it", file), file, 0,
                     "name a file that keep= made");
  if (head->store.layout != 0 && head->store.layout != detail::state_layout)
    throw lib::error(fmt::format("cannot read {}: it was recorded by another version of adaptyst", file), file, 0,
                     "read it with the version that the program was built with");
  const lib::kept_owner owner = lib::check_owner(head->owner);
  lib::process_list all;
  all.push_back(std::make_unique<kept_process>(std::move(opened), *head));
  lib::process_sums sums;
  sums.update(all);
  lib::assembly whole;
  profile made = whole.make({sums.result(), std::nullopt, all, lib::event_costs{}, false, nullptr, std::nullopt},
                            [](const region&) { return true; });
  made.engine = "inline";
  made.mechanism = "own recorder, kept in a file";
  switch (owner) {
    case lib::kept_owner::runs: made.reason = "its process still runs"; break;
    case lib::kept_owner::runs_another_program: made.reason = "its process runs another program now"; break;
    case lib::kept_owner::has_ended: made.reason = "its process has ended without a report"; break;
    case lib::kept_owner::was_elsewhere: made.reason = "its process was on another machine"; break;
  }
  // A collector that ends properly leaves no such file.
  for (process_info& process : made.processes)
    process.killed = owner == lib::kept_owner::has_ended || owner == lib::kept_owner::was_elsewhere;
  return made;
}

}}  // namespace adaptyst::v1
