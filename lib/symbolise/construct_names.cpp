// Replaces addresses in the names of constructs by function, file and line; each address is looked up once.
#include "construct_names.hpp"

#include <fmt/format.h>

#include <adaptyst/adapter/code_name.hpp>
#include <optional>
#include <string_view>
#include <utility>

namespace adaptyst::lib {

namespace {

// Adapters have some thousand at most; the limit protects memory against programs that invent names.
constexpr std::size_t max_names = 65536;

bool may_be_code(const std::string& name) { return name.find(" @") != std::string::npos; }

}  // namespace

void construct_names::expect(pid_t process, const std::string& file) {
  constexpr std::string_view beginning = "libadaptyst-";
  if (std::string_view(file).substr(file.rfind('/') + 1).substr(0, beginning.size()) != beginning) return;
  const std::lock_guard lock(mutex_);
  note_again(process, noted_[process]);
}

bool construct_names::are_expected() {
  const std::lock_guard lock(mutex_);
  return !noted_.empty();
}

void construct_names::note_mappings(pid_t process) {
  const std::lock_guard lock(mutex_);
  if (const auto entry = noted_.find(process); entry != noted_.end()) note_again(process, entry->second);
}

void construct_names::note_again(pid_t process, std::uint64_t& state) {
  const std::uint64_t now = read_file_state(process);
  if (now == 0 || std::exchange(state, now) == now) return;
  code_.note_mappings(process);
  names_.clear();
}

const construct_names::spelled_name& construct_names::find(const std::string& name) {
  if (names_.size() > max_names) names_.clear();
  const auto [entry, is_new] = names_.try_emplace(name);
  spelled_name& made = entry->second;
  if (!is_new) return made;
  made.name = name;
  const std::optional<code_name> read = read_code_name(name);
  if (!read || read->offset == 0) return made;
  // The instruction before the return address.
  code_place place = code_.place_in(std::string(read->file), read->offset - 1);
  if (place.function.empty() && place.line == 0) return made;
  const std::string file = place.file.substr(place.file.rfind('/') + 1);
  if (place.line == 0) made.name = fmt::format("{}+{:#x} {}", place.function, place.into + 1, read->what);
  else if (place.function.empty()) made.name = fmt::format("{}:{} {}", file, place.line, read->what);
  else made.name = fmt::format("{} {}:{} {}", place.function, file, place.line, read->what);
  made.site = {std::move(place.file), place.line, std::move(place.function)};
  return made;
}

std::string construct_names::spelled(const std::string& name) {
  if (!may_be_code(name)) return name;
  const std::lock_guard lock(mutex_);
  return find(name).name;
}

void construct_names::spell(std::vector<std::string>& path) {
  for (std::string& name : path)
    if (may_be_code(name)) name = find(name).name;
}

void construct_names::spell(profile& in) {
  const std::lock_guard lock(mutex_);
  for (region& region : in.regions) {
    if (!region.path.empty() && may_be_code(region.path.back()))
      if (const spelled_name& found = find(region.path.back()); found.site.line != 0 || !found.site.function.empty())
        region.site = found.site;
    spell(region.path);
  }
  for (process_info& process : in.processes)
    for (last_region& last : process.ended_in) spell(last.path);
}

}  // namespace adaptyst::lib
