// Reads each file that a process has mapped once, and keeps those with markers.
#include "process_objects.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "../support/error.hpp"
#include "../support/process_maps.hpp"
#include "../support/reading_process.hpp"

namespace adaptyst::lib {

namespace {

constexpr unsigned max_times_loaded = 16;  // by dlmopen(): one for each of glibc's namespaces

// The markers of a file, read once for all processes that have mapped it. The identity uses the change time, which the
// owner cannot set.
std::shared_ptr<const elf_markers> find_markers(const std::string& name, struct stat there) {
  using key = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;
  constexpr std::size_t max_files = 4096;
  static std::mutex mutex;
  static auto& cached_objects = *new std::map<key, std::shared_ptr<const elf_markers>>;
  if (there.st_ino == 0 && find_status(name, there) != 0) return std::make_shared<const elf_markers>();
  const key file{there.st_dev, there.st_ino, there.st_size, there.st_ctim.tv_sec, there.st_ctim.tv_nsec};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = cached_objects.find(file); found != cached_objects.end()) return found->second;
  }
  try {
    auto made = std::make_shared<const elf_markers>(find_elf_markers(name));
    const std::lock_guard lock(mutex);
    if (cached_objects.size() == max_files) cached_objects.clear();
    cached_objects[file] = made;
    return made;
  } catch (const error&) {  // no ELF file, or no right to read it
    return std::make_shared<const elf_markers>();
  }
}

// Each file is read once, even if a program maps it many times.
class files {
 public:
  explicit files(pid_t process) : process_(process) {}

  struct cached_file {
    std::string name;
    std::shared_ptr<const elf_markers> markers;
    unsigned times_loaded = 0;
  };
  // Queries all files together, which is faster than one by one.
  void prepare(const std::vector<mapping>& all) {
    if (process_ == getpid()) return;
    std::vector<std::string> names;
    std::vector<file_identity> identities;
    for (const mapping& piece : all) {
      if (piece.offset != 0 || !statuses_.try_emplace(piece.identity).second) continue;
      names.push_back(fmt::format("/proc/{}/root{}", process_, piece.path));
      identities.push_back(piece.identity);
    }
    const std::vector<struct stat> found = find_statuses(process_, names);
    for (std::size_t at = 0; at != names.size(); ++at)
      if (found[at].st_ino == identities[at].second && found[at].st_dev == identities[at].first)
        statuses_[identities[at]] = found[at];
  }
  cached_file& of(const mapping& piece) {
    const auto [entry, is_new] = cached_.try_emplace(piece.identity);
    if (is_new) {
      const auto status = statuses_.find(piece.identity);
      const bool is_known = status != statuses_.end() && status->second.st_ino != 0;
      entry->second.name =
          is_known ? fmt::format("/proc/{}/root{}", process_, piece.path) : name_from_here(process_, piece);
      const struct stat none {};
      entry->second.markers = find_markers(entry->second.name, is_known ? status->second : none);
    }
    return entry->second;
  }

 private:
  pid_t process_;
  std::map<file_identity, cached_file> cached_;
  std::map<file_identity, struct stat> statuses_;  // inode 0: not found by its name
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
  const bool is_present = for_each_mapping(process, [&](mapping& piece) {
    if (piece.is_file()) mapped.push_back(std::move(piece));
  });
  if (!is_present) {
    const int why = errno;
    throw error(fmt::format("cannot read process {}", process), std::to_string(process), why,
                why == ENOENT || why == ESRCH ? "no process has this number, or it has ended"
                : geteuid() == 0 ? "root needs CAP_SYS_PTRACE here, which containers may lack: `adaptyst doctor`"
                                 : "name a process of your user, or be root");
  }
  std::vector<process_object> found;
  files seen(process);
  seen.prepare(mapped);
  for (const mapping& candidate : mapped) {
    // A file is mapped in parts; the address of its first part gives the address of all.
    if (candidate.offset != 0) continue;
    files::cached_file& file = seen.of(candidate);
    if (file.markers->control_block == 0) continue;
    const std::uint64_t block = candidate.begin + (file.markers->control_block - file.markers->first_address);
    // A program may also have mapped the file as mere data, in one part.
    const mapping* const piece = find_holder(mapped, block);
    if (piece == nullptr || !piece->writable || piece->identity != candidate.identity || piece->offset == 0) continue;
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
    files::cached_file& file = seen.of(piece);
    if (file.markers->other_abi != 0 && file.times_loaded++ == 0)
      found.push_back({piece.path, file.markers->other_abi});
  });
  return found;
}

bool file_cache::have_markers(const std::string& file) {
  struct stat there {};
  if (find_status(file, there) != 0 || !S_ISREG(there.st_mode)) return false;
  const auto [entry, is_new] =
      cached_.try_emplace({there.st_dev, there.st_ino, there.st_mtim.tv_sec, there.st_mtim.tv_nsec}, false);
  if (!is_new) return entry->second;
  try {
    entry->second = find_elf_markers(file).control_block != 0;
  } catch (const error& failed) {
    const bool is_passing = failed.number() == EMFILE || failed.number() == ENFILE || failed.number() == ENOMEM;
    if (is_passing) cached_.erase(entry);
    return false;  // no ELF file, or no right to read it
  }
  return entry->second;
}

bool has_objects(pid_t process, file_cache& files) {
  bool may_have = false;
  for_each_mapping(process, [&](const mapping& piece) {
    may_have = may_have || (piece.is_file() && piece.offset == 0 && files.have_markers(name_from_here(process, piece)));
  });
  if (!may_have) return false;
  try {
    return !find_objects(process).empty();
  } catch (const error&) {  // the process has ended
    return false;
  }
}

}  // namespace adaptyst::lib
