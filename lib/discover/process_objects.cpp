#include "process_objects.hpp"

#include <adaptyst/detail/text.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr unsigned most_times_loaded = 16;  // by dlmopen(), one for each namespace that glibc has

using file_identity = std::pair<dev_t, std::uint64_t>;  // device and inode

struct mapping {
  std::uint64_t begin, end, offset;
  file_identity identity;
  bool writable, executable;
  std::string path;
};

// False: it is no mapping of a file, if it is one at all.
bool parse(const std::string& line, mapping& to) {
  int path_at = 0;
  char rights[5] = {};
  unsigned major = 0;
  unsigned minor = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &to.begin, &to.end,
                  rights, &to.offset, &major, &minor, &to.identity.second, &path_at) != 7)
    return false;
  to.identity.first = makedev(major, minor);
  to.writable = rights[1] == 'w';
  to.executable = rights[2] == 'x';
  to.path = line.substr(static_cast<std::size_t>(path_at));
  return to.identity.second != 0 && !to.path.empty() && to.path[0] == '/';
}

// A name under which the very file that is mapped can be opened: it may lie in another mount namespace, and another file
// may have taken its place since.
std::string name_from_here(pid_t process, const mapping& of) {
  std::string name = fmt::format("/proc/{}/root{}", process, of.path);
  std::string exact = fmt::format("/proc/{}/map_files/{:x}-{:x}", process, of.begin, of.end);
  struct stat there {};
  if (stat(name.c_str(), &there) != 0 || there.st_ino != of.identity.second) return exact;
  if (there.st_dev == of.identity.first) return name;
  // On btrfs and overlayfs one file has two devices. Only root can look at the exact name.
  struct stat mapped {};
  const bool same = stat(exact.c_str(), &mapped) != 0 ||
                    (mapped.st_ino == there.st_ino && mapped.st_size == there.st_size &&
                     mapped.st_mtim.tv_sec == there.st_mtim.tv_sec && mapped.st_mtim.tv_nsec == there.st_mtim.tv_nsec);
  return same ? name : exact;
}

// A program may map a file as often as it likes: it is read once.
class files {
 public:
  explicit files(pid_t process) : process_(process) {}

  struct known {
    std::string name;
    std::shared_ptr<const elf_markers> markers;
    unsigned times_loaded = 0;
  };
  known& of(const mapping& one) {
    const auto [entry, is_new] = known_.try_emplace(one.identity);
    if (is_new) {
      entry->second.name = name_from_here(process_, one);
      elf_markers markers;
      try {
        markers = find_elf_markers(entry->second.name);
      } catch (const error&) {  // no ELF file, or none that we may read
      }
      entry->second.markers = std::make_shared<const elf_markers>(std::move(markers));
    }
    return entry->second;
  }

 private:
  pid_t process_;
  std::map<file_identity, known> known_;
};

// The mapping that holds an address, of those in the order of their addresses; or null.
const mapping* holder(const std::vector<mapping>& mapped, std::uint64_t address) {
  const auto above = std::upper_bound(mapped.begin(), mapped.end(), address,
                                      [](std::uint64_t wanted, const mapping& one) { return wanted < one.begin; });
  return above != mapped.begin() && address < std::prev(above)->end ? &*std::prev(above) : nullptr;
}

}  // namespace

std::vector<process_object> find_objects(pid_t process) {
  const std::string list = fmt::format("/proc/{}/maps", process);
  std::ifstream maps(list);
  std::string line;
  if (!maps || !std::getline(maps, line))
    throw error(fmt::format("cannot look at process {}", process), errno != 0 ? errno : ESRCH,
                "it must be running, and be yours; or be root");
  std::vector<mapping> mapped;
  do {
    if (mapping one; parse(line, one)) mapped.push_back(std::move(one));
  } while (std::getline(maps, line));
  std::vector<process_object> found;
  files seen(process);
  for (const mapping& one : mapped) {
    // A file is loaded in pieces; the piece that begins the file tells where all of it is.
    if (one.offset != 0) continue;
    files::known& file = seen.of(one);
    if (file.markers->control_block == 0) continue;
    const std::uint64_t block = one.begin + (file.markers->control_block - file.markers->first_address);
    // A program may have mapped the file as mere data, too: all in one piece.
    const mapping* const piece = holder(mapped, block);
    if (piece == nullptr || !piece->writable || piece->identity != one.identity || piece->offset == 0) continue;
    if (file.times_loaded++ < most_times_loaded) found.push_back({file.name, block, file.markers});
  }
  return found;
}

std::vector<mapped_code> mapped_codes(pid_t process) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::vector<mapped_code> found;
  for (std::string line; std::getline(maps, line);) {
    mapping one{};
    const bool is_of_file = parse(line, one);
    if (!one.executable) continue;
    std::string here = is_of_file ? name_from_here(process, one) : std::string();
    const std::uint64_t inode = is_of_file ? one.identity.second : 0;
    found.push_back({one.begin, one.end, one.offset, one.identity.first, inode, std::move(one.path), std::move(here)});
  }
  return found;
}

std::vector<mapped_file> mapped_files(pid_t process) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::map<file_identity, mapped_file> found;
  constexpr std::string_view gone = " (deleted)";
  for (std::string line; std::getline(maps, line);) {
    mapping one;
    if (!parse(line, one) || found.count(one.identity) != 0) continue;
    std::string here = name_from_here(process, one);
    if (one.path.size() > gone.size() && one.path.compare(one.path.size() - gone.size(), gone.size(), gone) == 0)
      one.path.resize(one.path.size() - gone.size());
    found[one.identity] = {std::move(one.path), std::move(here)};
  }
  std::vector<mapped_file> all;
  all.reserve(found.size());
  for (auto& [identity, one] : found) all.push_back(std::move(one));
  return all;
}

std::uint64_t state_of_files(pid_t process) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::uint64_t state = 0;
  for (std::string line; std::getline(maps, line);) {
    mapping one;
    if (parse(line, one) && one.offset == 0) state = detail::mix(state ^ one.begin) ^ one.identity.second;
  }
  return state;
}

bool known_files::have_markers(const std::string& file) {
  struct stat there {};
  if (stat(file.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return false;
  const auto [entry, is_new] =
      known_.try_emplace({there.st_dev, there.st_ino, there.st_mtim.tv_sec, there.st_mtim.tv_nsec}, false);
  if (!is_new) return entry->second;
  try {
    entry->second = find_elf_markers(file).control_block != 0;
  } catch (const error& failed) {
    const bool is_passing = failed.number() == EMFILE || failed.number() == ENFILE || failed.number() == ENOMEM;
    if (is_passing) known_.erase(entry);
    return false;  // no ELF file, or none that we may read
  }
  return entry->second;
}

bool has_objects(pid_t process, known_files& files) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    mapping one;
    if (!parse(line, one) || one.offset != 0 || !files.have_markers(name_from_here(process, one))) continue;
    try {
      return !find_objects(process).empty();
    } catch (const error&) {  // it has ended meanwhile
      return false;
    }
  }
  return false;
}

}  // namespace adaptyst::lib
