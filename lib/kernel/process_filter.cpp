#include "process_filter.hpp"

#include <bpf/bpf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr ino_t first_pid_namespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO

}  // namespace

adaptyst_kernel_filter filter_for(process_filter processes) {
  adaptyst_kernel_filter filter{};
  if (processes == process_filter::listed) filter.listed = 1;
  if (processes == process_filter::this_process) filter.pid = static_cast<std::uint32_t>(getpid());
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) != 0)
    throw error("cannot find the PID namespace in /proc/self/ns/pid", errno, "mount /proc");
  if (space.st_ino != first_pid_namespace) {
    filter.namespace_device = space.st_dev;
    filter.namespace_inode = space.st_ino;
  }
  return filter;
}

void add_process(int map, pid_t process, const adaptyst_kernel_process& identity) {
  const auto key = static_cast<std::uint32_t>(process);
  if (bpf_map_update_elem(map, &key, &identity, BPF_ANY) != 0)
    throw error("cannot list a process for the eBPF programs", errno, "observe fewer processes at once");
}

void remove_process(int map, pid_t process) {
  const auto key = static_cast<std::uint32_t>(process);
  bpf_map_delete_elem(map, &key);
}

}  // namespace adaptyst::lib
