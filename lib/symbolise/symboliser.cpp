// Names the addresses of a process, even after its end, from the mappings that were read while it ran.
#include "symboliser.hpp"

#include <fmt/format.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

// The limit of open files: a program may map any number of files, and descriptors are limited by the user's limit.
constexpr std::size_t max_files = 400;
constexpr std::size_t max_pieces = 65536;

std::string base_name(std::string_view path) {
  constexpr std::string_view gone = " (deleted)";
  if (path.size() > gone.size() && path.substr(path.size() - gone.size()) == gone) path.remove_suffix(gone.size());
  return std::string(path.substr(path.rfind('/') + 1));
}

// Names such as "[vdso]" are descriptive; other code was made during the run, for example by a JIT.
std::string name_without_file(const std::string& path) {
  return !path.empty() && path[0] == '[' ? path : "[anonymous code]";
}

// The first three, and the number of the others.
std::string list_some(const std::set<std::string>& names) {
  constexpr std::size_t shown = 3;
  const std::vector<std::string> first(
      names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(std::min(shown, names.size()))));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > shown ? fmt::format(" and {} others", names.size() - shown) : "");
}

}  // namespace

symboliser::code_file* symboliser::find_file(pid_t process, const mapping& piece) {
  std::unique_ptr<code_file>& file = files_[piece.identity];
  if (file != nullptr) return file.get();
  file = std::make_unique<code_file>();
  file->number = static_cast<std::uint32_t>(files_.size());
  file->name = base_name(piece.path);
  file->is_own = process == getpid();
  if (files_.size() <= max_files) {
    try {
      file->opened = std::make_unique<const regular_file>(name_from_here(process, piece), "symbols", "");
    } catch (const error&) {  // removed, or no right to read it
    }
  }
  return file.get();
}

void symboliser::note_mappings(pid_t process) {
  std::string image = find_image(process);
  if (image.empty()) return;
  process_code& mapped = processes_[process];
  if (mapped.image != image) mapped = {std::move(image), 0, {}, {}, {}};
  mapped.noted_ns = detail::monotonic_ns();
  for_each_mapping(process, [&](const mapping& piece) {
    if (!piece.executable) return;
    const bool is_file = piece.is_file();
    code code{piece.begin, piece.end, piece.offset, is_file ? find_file(process, piece) : nullptr,
              is_file ? std::string() : name_without_file(piece.path)};
    if (mapped.pieces.size() < max_pieces && mapped.seen.emplace(code.begin, code.end, code.offset, code.file).second)
      mapped.pieces.push_back(std::move(code));
  });
}

// dlclose() and dlopen() may replace a file at the same addresses.
void symboliser::note_new_mappings(pid_t process, bool has_unnamed) {
  constexpr std::uint64_t pause_ns = 500'000'000;
  const auto found = processes_.find(process);
  if (has_unnamed || found == processes_.end() || detail::monotonic_ns() - found->second.noted_ns >= pause_ns ||
      found->second.image != find_image(process))
    note_mappings(process);
}

bool symboliser::has_code_at(pid_t process, std::uint64_t address) const {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return false;
  const auto& pieces = found->second.seen;
  constexpr std::uint64_t last = ~std::uint64_t{0};
  const auto above = pieces.upper_bound({address, last, last, nullptr});
  return above != pieces.begin() && address < std::get<1>(*std::prev(above));
}

const file_symbols& symboliser::own_symbols(code_file& file) {
  if (file.symbols == nullptr) file.symbols = std::make_unique<const file_symbols>(file.opened->descriptor());
  return *file.symbols;
}

std::optional<code_place> symboliser::find_place(code_file& file, std::uint64_t from_base) {
  if (file.opened == nullptr || !file_symbols::are_read()) return std::nullopt;
  if (file.is_own) return own_symbols(file).place_at(from_base);
  return child_.place_at(file.number, file.opened->descriptor(), from_base);
}

std::vector<std::string> symboliser::describe(const process_code& process, std::uint64_t address) {
  const auto holds = [&](const code& piece) { return address >= piece.begin && address < piece.end; };
  const auto piece = std::find_if(process.pieces.rbegin(), process.pieces.rend(), holds);
  if (piece == process.pieces.rend()) return {unknown};
  if (piece->file == nullptr) return {piece->name};
  code_file& file = *piece->file;
  const std::uint64_t offset = address - piece->begin + piece->offset;
  std::optional<code_names> found;
  if (file.opened != nullptr && file.is_own) found = own_symbols(file).names_at(offset);
  else if (file.opened != nullptr && file_symbols::are_read())
    found = child_.names_at(file.number, file.opened->descriptor(), offset);
  if (!found) return {fmt::format("{}+{:#x}", file.name, offset)};
  if (!found->functions.empty()) return std::move(found->functions);
  file.lacks_names = file.lacks_names || found->is_stripped;
  return {fmt::format("{}+{:#x}", file.name, found->begin)};
}

const std::vector<std::string>& symboliser::find_names(pid_t process, std::uint64_t address) {
  process_code& code = processes_[process];
  const auto [entry, is_new] = code.names.try_emplace(address);
  if (is_new) entry->second = describe(code, address);
  return entry->second;
}

code_place symboliser::place_in(const std::string& file, std::uint64_t from_base) {
  std::optional<code_place> found;
  for (const auto& [identity, candidate] : files_) {
    if (candidate->name != file) continue;
    std::optional<code_place> place = find_place(*candidate, from_base);
    if (!place) continue;
    if (found && *found != *place) return {};
    found = std::move(place);
  }
  return found.value_or(code_place());
}

std::vector<std::string> symboliser::remarks() const {
  std::vector<std::string> lines;
  if (!file_symbols::are_read())
    lines.emplace_back("functions of stacks have no names: this build has no libdw (Debian: libdw-dev)");
  std::set<std::string> stripped, refused;
  for (const auto& [identity, file] : files_) {
    if (file->lacks_names) stripped.insert(file->name);
    if (child_.is_refused(file->number)) refused.insert(file->name);
  }
  if (!stripped.empty())
    lines.push_back(fmt::format(
        "stripped: {}; FILE+0x… is the beginning of a function without a name: install its symbols (Debian: "
        "packages that end in -dbgsym)",
        list_some(stripped)));
  if (!refused.empty())
    lines.push_back(
        fmt::format("functions without names: {}; reading the symbols takes too long, or the file is damaged or was "
                    "cut: compare it with the installed file",
                    list_some(refused)));
  return lines;
}

}  // namespace adaptyst::lib
