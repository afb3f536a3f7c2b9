#include "process_objects.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <utility>

#include "../error.hpp"
#include "elf_probes.hpp"

namespace adaptyst::lib {

namespace {

struct mapping {
  std::uint64_t begin, end, offset;
  std::uint64_t inode;
  bool writable;
  std::string path;
};

bool parse(const std::string& line, mapping& to) {
  int path_at = 0;
  char rights[5] = {};
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n", &to.begin, &to.end,
                  rights, &to.offset, &to.inode, &path_at) != 5)
    return false;
  to.writable = rights[1] == 'w';
  to.path = line.substr(static_cast<std::size_t>(path_at));
  return to.inode != 0 && !to.path.empty() && to.path[0] == '/';
}

// A name under which the very file that is mapped can be opened: it may lie in another mount namespace, and another file
// may have taken its place since.
std::string name_from_here(pid_t process, const mapping& of) {
  std::string name = fmt::format("/proc/{}/root{}", process, of.path);
  struct stat there {};
  if (stat(name.c_str(), &there) == 0 && there.st_ino == of.inode) return name;
  return fmt::format("/proc/{}/map_files/{:x}-{:x}", process, of.begin, of.end);
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
  for (const mapping& one : mapped) {
    // A file is loaded in pieces; the piece that begins the file tells where all of it is.
    if (one.offset != 0) continue;
    try {
      const std::string file = name_from_here(process, one);
      const elf_markers markers = find_elf_markers(file);
      if (markers.control_block == 0) continue;
      const std::uint64_t block = one.begin + (markers.control_block - markers.first_address);
      // A program may have mapped the file as mere data, too: all in one piece.
      const auto holds = [&](const mapping& piece) {
        return piece.writable && piece.inode == one.inode && piece.offset != 0 && piece.begin <= block &&
               block < piece.end;
      };
      if (std::any_of(mapped.begin(), mapped.end(), holds)) found.push_back({file, block});
    } catch (const error&) {  // no ELF file, or none that we may read
    }
  }
  return found;
}

bool known_files::have_markers(const std::string& file) {
  struct stat there {};
  if (stat(file.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return false;
  const auto [entry, is_new] =
      known_.try_emplace({there.st_dev, there.st_ino, there.st_mtim.tv_sec, there.st_mtim.tv_nsec}, false);
  if (!is_new) return entry->second;
  try {
    entry->second = find_elf_markers(file).control_block != 0;
  } catch (const error&) {  // no ELF file, or none that we may read
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
