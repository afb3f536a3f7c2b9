// Parses /proc/PID/maps, and finds a name by which a mapped file can be opened from here.
#include "process_maps.hpp"

#include <adaptyst/detail/text.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include "reading_process.hpp"

namespace adaptyst::lib {

namespace {

bool parse(const std::string& line, mapping& mapping) {
  int path_at = 0;
  char rights[5] = {};
  unsigned major = 0;
  unsigned minor = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &mapping.begin,
                  &mapping.end, rights, &mapping.offset, &major, &minor, &mapping.identity.second, &path_at) != 7)
    return false;
  mapping.identity.first = makedev(major, minor);
  mapping.readable = rights[0] == 'r';
  mapping.writable = rights[1] == 'w';
  mapping.executable = rights[2] == 'x';
  mapping.shared = rights[3] == 's';
  mapping.path = line.substr(static_cast<std::size_t>(path_at));
  return true;
}

}  // namespace

bool for_each_mapping(pid_t process, const std::function<void(mapping&)>& visit) {
  constexpr std::size_t max_bytes = std::size_t{64}
                                    << 20;  // a process may have 65530 mappings, of files with long names
  std::string all;
  const bool is_read = read_process_file(process, "maps", max_bytes, all);
  if (all.empty()) {
    if (is_read || errno == 0) errno = ESRCH;
    return false;
  }
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    if (mapping mapping{}; parse(all.substr(at, end - at), mapping)) visit(mapping);
    at = end + 1;
  }
  return true;
}

std::vector<mapping> find_mapped_pieces(pid_t process) {
  std::vector<mapping> mapped;
  for_each_mapping(process, [&](mapping& piece) {
    if (piece.is_file()) mapped.push_back(std::move(piece));
  });
  return mapped;
}

const mapping* find_holder(const std::vector<mapping>& mapped, std::uint64_t address) {
  const auto above = std::upper_bound(mapped.begin(), mapped.end(), address,
                                      [](std::uint64_t wanted, const mapping& piece) { return wanted < piece.begin; });
  return above != mapped.begin() && address < std::prev(above)->end ? &*std::prev(above) : nullptr;
}

std::string name_from_here(pid_t process, const mapping& piece) {
  std::string name = process == getpid() ? piece.path : fmt::format("/proc/{}/root{}", process, piece.path);
  std::string exact = fmt::format("/proc/{}/map_files/{:x}-{:x}", process, piece.begin, piece.end);
  struct stat there {};
  if (find_status(name, there) != 0 || there.st_ino != piece.identity.second) return exact;
  if (there.st_dev == piece.identity.first) return name;
  // On btrfs and overlayfs, one file has two devices. Only root can read the exact name.
  struct stat mapped {};
  const bool same = find_status(exact, mapped) != 0 ||
                    (mapped.st_ino == there.st_ino && mapped.st_size == there.st_size &&
                     mapped.st_mtim.tv_sec == there.st_mtim.tv_sec && mapped.st_mtim.tv_nsec == there.st_mtim.tv_nsec);
  return same ? name : exact;
}

std::vector<mapped_file> mapped_files(pid_t process) {
  std::map<file_identity, mapped_file> found;
  constexpr std::string_view gone = " (deleted)";
  for_each_mapping(process, [&](mapping& piece) {
    if (!piece.is_file() || found.count(piece.identity) != 0) return;
    std::string here = name_from_here(process, piece);
    if (piece.path.size() > gone.size() && piece.path.compare(piece.path.size() - gone.size(), gone.size(), gone) == 0)
      piece.path.resize(piece.path.size() - gone.size());
    found[piece.identity] = {std::move(piece.path), std::move(here)};
  });
  std::vector<mapped_file> all;
  all.reserve(found.size());
  for (auto& [identity, file] : found) all.push_back(std::move(file));
  return all;
}

std::uint64_t read_file_state(pid_t process) {
  std::uint64_t state = 0;
  for_each_mapping(process, [&](const mapping& piece) {
    if (piece.is_file() && piece.offset == 0) state = detail::mix(state ^ piece.begin) ^ piece.identity.second;
  });
  return state;
}

std::string find_image(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(status, text);
  constexpr int before_code = 24;  // of the fields behind the name, in proc(5)
  std::size_t at = text.rfind(')');
  for (int field = 0; field != before_code && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return {};
  const std::size_t end = text.find(' ', text.find(' ', text.find(' ', at + 1) + 1) + 1);
  std::string image = text.substr(at, end - at);
  // A process that has ended and not been waited for still has its line, without addresses.
  return image != " 0 0 0" ? image : std::string();
}

}  // namespace adaptyst::lib
