// Makes, maps and removes the file that holds a store. It refuses remote file systems, where a page that is written
// late may fail and kill the program.
#include "kept_file.hpp"

#include <adaptyst/region.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <utility>

#include "../support/error.hpp"
#include "../support/launch_rank.hpp"
#include "../support/process_stat.hpp"
#include "device_reader.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{1} << 30;

// File systems on which another machine may not see the data written here, or a late write of a page may fail.
bool is_remote(const descriptor& file) {
  constexpr std::array<std::uint32_t, 10> kinds = {NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC, SMB2_SUPER_MAGIC,
                                                   CIFS_SUPER_MAGIC, AFS_SUPER_MAGIC, CEPH_SUPER_MAGIC,
                                                   V9FS_MAGIC,
                                                   0x0BD00BD0,   // Lustre
                                                   0x47504653,   // GPFS
                                                   0x65735546};  // FUSE
  struct statfs of {};
  if (fstatfs(file.get(), &of) != 0) return false;
  return std::find(kinds.begin(), kinds.end(), static_cast<std::uint32_t>(of.f_type)) != kinds.end();
}

std::array<std::uint64_t, 2> read_boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::array<std::uint64_t, 2> number{};
  unsigned digits = 0;
  for (char digit = 0; digits != 32 && in.get(digit);) {
    const char* const all = "0123456789abcdef";
    const char* const at = std::strchr(all, digit);
    if (at == nullptr || digit == '\0') continue;
    std::uint64_t& half = number[digits++ / 16];
    half = half << 4 | static_cast<std::uint64_t>(at - all);
  }
  return number;
}

std::uint64_t own_cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
}

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
  std::strncpy(to, text.c_str(), N - 1);  // the rest of a new file is zero
}

[[noreturn]] void fail(const std::string& what, const std::string& file, int number, const char* hint) {
  throw error(fmt::format("cannot keep the recorder in {}{}", file, what), file, number, hint);
}

}  // namespace

kept_file::kept_file(const std::string& directory) : process_(getpid()), began_cpu_ns_(own_cpu_ns()) {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  // The program may change its directory.
  const std::unique_ptr<char, decltype(&std::free)> path(realpath(directory.c_str(), nullptr), &std::free);
  if (!path) fail("", directory, errno, "name a directory that can be written");
  const std::string stem = fmt::format("{}/adaptyst-{}-{}-{}", path.get(), host, process_, own_start());
  descriptor file;
  for (int again = 0; !file && again != 1000; ++again) {  // a process may run several programs in turn, by exec()
    name_ = again == 0 ? stem + ".kept" : fmt::format("{}-{}.kept", stem, again);
    file.reset(open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file && errno != EEXIST) break;
  }
  if (!file) fail("", name_, errno, "name a directory that can be written");
  try {
    map(file);
    put(store_->owner.host, host);
    const detail::process* const own = detail::find_process(adaptyst_object_v5, store_);
    if (own == nullptr) fail("", name_, ENOMEM, "raise the limit on address space (ulimit -v)");
    if (own->store != store_)
      fail(": markers have recorded elsewhere before", name_, 0, "keep= is for the first collector of a process");
    has_markers_ = true;
    note_alive();
    alive_ = std::make_unique<periodic>(
        std::chrono::milliseconds(between_signs_of_life_ns / 1'000'000), [this] { note_alive(); },
        [] {
          return heap_room{0, 0};
        });
  } catch (...) {
    remove();
    if (store_ != nullptr && !has_markers_) munmap(store_, bytes_);
    throw;
  }
}

kept_file::~kept_file() = default;

void kept_file::map(const descriptor& file) {
  if (is_remote(file))
    fail(": it is not on a disk of this machine", name_, 0, "name a directory of a local file system");
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  bytes_ = max_file_bytes;
  while (bytes_ > limit.rlim_cur) bytes_ /= 2;
  if (bytes_ < detail::smallest_store) fail("", name_, EFBIG, "raise the limit on the size of files (ulimit -f)");
  if (ftruncate(file.get(), static_cast<off_t>(bytes_)) != 0)
    fail("", name_, errno, "name a directory of a local file system");
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) fail("", name_, errno, "raise the limit on address space (ulimit -v)");
  store_ = static_cast<detail::recorder_store*>(mapped);
  madvise(mapped, bytes_, MADV_DONTDUMP);
  constexpr std::size_t page = detail::page_bytes;
  if (madvise(mapped, (offsetof(detail::recorder_store, arena) + page - 1) & ~(page - 1),
              detail::system::populate_to_write) != 0)
    fail("", name_, errno == EFAULT ? ENOSPC : errno,
         "name a directory of a file system with free space; needs Linux 5.14");
  detail::begin_store(mapped, bytes_);
  store_->head.is_kept = 1;
  detail::store_owner& owner = store_->owner;
  const std::array<std::uint64_t, 2> boot = read_boot_id();
  std::copy(boot.begin(), boot.end(), owner.boot);
  owner.process = static_cast<std::uint64_t>(process_);
  owner.started = own_start();
  owner.began_ns = owner.last_ns = detail::monotonic_ns();
  owner.began_s = static_cast<std::uint64_t>(std::time(nullptr));
  owner.cpus = usable_cpus();
  if (const std::optional<std::uint32_t> rank = find_rank(process_)) owner.rank = std::uint64_t{*rank} + 1;
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  put(owner.command, std::string(program, static_cast<std::size_t>(std::max<ssize_t>(length, 0))));
}

void kept_file::note_alive() const {
  detail::store(store_->owner.cpu_ns, own_cpu_ns() - began_cpu_ns_);
  detail::store(store_->owner.last_ns, detail::monotonic_ns());
}

void kept_file::remove() noexcept {
  if (process_ != getpid()) return;
  alive_.reset();
  unlink(name_.c_str());
}

std::optional<kept_head> read_kept_head(const descriptor& file) noexcept {
  kept_head head{};
  struct stat status {};
  static_assert(offsetof(detail::recorder_store, owner) == offsetof(kept_head, owner));
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      pread(file.get(), &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head) ||
      head.store.magic != detail::store_magic)
    return std::nullopt;
  return head;
}

kept_owner check_owner(const detail::store_owner& owner) {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  if (std::strncmp(host, owner.host, sizeof owner.host) != 0 || owner.process == 0 || owner.process > INT_MAX)
    return kept_owner::was_elsewhere;
  const std::array<std::uint64_t, 2> boot = read_boot_id();
  const auto process = static_cast<pid_t>(owner.process);
  if (!std::equal(boot.begin(), boot.end(), owner.boot) || !is_running(process, owner.started))
    return kept_owner::has_ended;
  const std::string program = find_program(process);  // empty: hidden by the system
  return program.empty() || program.compare(0, sizeof owner.command - 1, owner.command) == 0
             ? kept_owner::runs
             : kept_owner::runs_another_program;
}

}  // namespace adaptyst::lib
