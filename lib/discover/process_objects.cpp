// Goes through what a process has mapped, reads each file once, and keeps those with markers.
#include "process_objects.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <utility>

#include "../support/error.hpp"
#include "../support/process_maps.hpp"

namespace adaptyst::lib {

namespace {

constexpr unsigned max_times_loaded = 16;  // by dlmopen(), one for each namespace that glibc has

// A program may map a file as often as it likes: it is read once.
class files {
 public:
  explicit files(pid_t process) : process_(process) {}

  struct known {
    std::string name;
    std::shared_ptr<const elf_markers> markers;
    unsigned times_loaded = 0;
  };
  known& of(const mapping& piece) {
    const auto [entry, is_new] = known_.try_emplace(piece.identity);
    if (is_new) {
      entry->second.name = name_from_here(process_, piece);
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

}  // namespace

std::string why_no_probes(const std::vector<mapping>& mapped, const mapping& data, std::uint64_t block,
                          const elf_markers& markers) {
  for (const elf_probe& probe : markers.probes) {
    const mapping* const code = find_holder(mapped, block + (probe.address - markers.control_block));
    if (code == nullptr || !code->executable || code->identity != data.identity)
      return fmt::format("cannot attach to the probes of {}: the program has moved its code to other memory",
                         data.path);
  }
  return markers.no_probes_because;
}

std::vector<process_object> find_objects(pid_t process) {
  std::vector<mapping> mapped;
  const bool is_there = for_each_mapping(process, [&](mapping& piece) {
    if (piece.is_file()) mapped.push_back(std::move(piece));
  });
  if (!is_there) {
    const int why = errno;
    throw error(fmt::format("cannot look at process {}", process), std::to_string(process), why,
                why == ENOENT || why == ESRCH ? "no process has this number, or it has ended"
                : geteuid() == 0 ? "root needs CAP_SYS_PTRACE here, which containers may lack: `adaptyst doctor`"
                                 : "it must be yours; or be root");
  }
  std::vector<process_object> found;
  files seen(process);
  for (const mapping& one : mapped) {
    // A file is loaded in pieces; the piece that begins the file tells where all of it is.
    if (one.offset != 0) continue;
    files::known& file = seen.of(one);
    if (file.markers->control_block == 0) continue;
    const std::uint64_t block = one.begin + (file.markers->control_block - file.markers->first_address);
    // A program may have mapped the file as mere data, too: all in one piece.
    const mapping* const piece = find_holder(mapped, block);
    if (piece == nullptr || !piece->writable || piece->identity != one.identity || piece->offset == 0) continue;
    if (file.times_loaded++ < max_times_loaded)
      found.push_back({file.name, block, file.markers, why_no_probes(mapped, *piece, block, *file.markers)});
  }
  return found;
}

std::vector<foreign_object> find_foreign_objects(pid_t process) {
  std::vector<foreign_object> found;
  files seen(process);
  for_each_mapping(process, [&](const mapping& piece) {
    if (!piece.is_file() || piece.offset != 0) return;
    files::known& file = seen.of(piece);
    if (file.markers->other_abi != 0 && file.times_loaded++ == 0)
      found.push_back({piece.path, file.markers->other_abi});
  });
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
  } catch (const error& failed) {
    const bool is_passing = failed.number() == EMFILE || failed.number() == ENFILE || failed.number() == ENOMEM;
    if (is_passing) known_.erase(entry);
    return false;  // no ELF file, or none that we may read
  }
  return entry->second;
}

bool has_objects(pid_t process, known_files& files) {
  bool may_have = false;
  for_each_mapping(process, [&](const mapping& piece) {
    may_have = may_have || (piece.is_file() && piece.offset == 0 && files.have_markers(name_from_here(process, piece)));
  });
  if (!may_have) return false;
  try {
    return !find_objects(process).empty();
  } catch (const error&) {  // it has ended meanwhile
    return false;
  }
}

}  // namespace adaptyst::lib
