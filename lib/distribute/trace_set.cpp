// Opens traces, matches devices by their UUID or number, and shifts times to one beginning.
#include "trace_set.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

trace_set::trace_set(const std::vector<std::string>& files) {
  std::set<std::pair<dev_t, ino_t>> known;
  for (const std::string& file : files) {
    one made;
    made.in = open_trace(file);
    struct stat about {};
    if (stat(file.c_str(), &about) == 0 && !known.insert({about.st_dev, about.st_ino}).second)
      throw error(fmt::format("{} is named twice", file), file, 0, "name each trace once");
    if (const std::string missing = made.in->missing(); !missing.empty()) remarks_.push_back(missing);
    all_.push_back(std::move(made));
  }
  require_different();
  align();
  number_devices();
}

// A process with the same begin, in two files, is one that would be counted twice.
void trace_set::require_different() const {
  std::map<std::pair<std::int64_t, std::int64_t>, const trace_input*> known;
  for (const one& trace : all_) {
    if (!trace.in->utc_ns()) continue;
    for (const std::int64_t process : trace.in->processes()) {
      const auto [entry, is_new] = known.try_emplace({*trace.in->utc_ns(), process}, trace.in.get());
      if (is_new) continue;
      throw error(fmt::format("{} and {} are of the same process {}", entry->second->file(), trace.in->file(), process),
                  trace.in->file(), 0, "each process may be in one trace only, or its work would be counted twice");
    }
  }
}

void trace_set::align() {
  if (all_.size() < 2) return;
  std::int64_t first = 0, last = 0;
  bool is_first = true;
  for (const one& trace : all_) {
    if (!trace.in->utc_ns()) {
      remarks_.push_back(
          fmt::format("{} does not say when it began: all traces are put at the same begin", trace.in->file()));
      return;
    }
    first = is_first ? *trace.in->utc_ns() : std::min(first, *trace.in->utc_ns());
    last = is_first ? *trace.in->utc_ns() : std::max(last, *trace.in->utc_ns());
    is_first = false;
  }
  if (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) > max_time_ns) {
    remarks_.emplace_back("traces say that they began years apart: all are put at the same begin");
    return;
  }
  for (one& trace : all_) trace.shift_ns = *trace.in->utc_ns() - first;
  remarks_.push_back("traces are aligned by the machines' clocks, which may differ by milliseconds between nodes");
}

// The machine's own numbers, unless two different devices have the same.
void trace_set::number_devices() {
  std::map<std::uint32_t, std::string> taken;    // UUIDs by number
  std::map<std::string, std::uint32_t> numbers;  // and the other way
  for (one& trace : all_)
    for (const trace_input::device& device : trace.in->devices()) {
      if (const auto known = numbers.find(device.uuid); !device.uuid.empty() && known != numbers.end()) {
        if (known->second != device.physical) trace.devices[device.physical] = known->second;
        continue;
      }
      std::uint32_t number = device.physical;
      const auto other = taken.find(number);
      if (other != taken.end() && !device.uuid.empty() && !other->second.empty()) {
        number = taken.rbegin()->first + 1;
        trace.devices[device.physical] = number;
        remarks_.push_back(fmt::format("GPU {} of {} has the number {} here: another machine's has its own",
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

bool trace_set::is_simulated() const {
  return std::any_of(all_.begin(), all_.end(), [](const one& trace) { return trace.in->is_simulated(); });
}

}  // namespace adaptyst::lib
