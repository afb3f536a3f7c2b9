#include "bpf_loading.hpp"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace adaptyst::lib {

void link_destroyer::operator()(bpf_link* attached) const { bpf_link__destroy(attached); }

void silence_libbpf() {
  libbpf_set_print([](enum libbpf_print_level, const char*, va_list) { return 0; });
}

heap_room room_for_types() {
  constexpr std::size_t spare = std::size_t{4} << 20, most = std::size_t{56} << 20;  // the heap of a thread has 64 MiB
  struct stat types {};
  const bool is_known = stat("/sys/kernel/btf/vmlinux", &types) == 0;
  const std::size_t copies = std::min(is_known ? 2 * static_cast<std::size_t>(types.st_size) : 0, most);
  return {copies + spare, copies + spare / 2};
}

bool is_denied(int number) noexcept { return number == EPERM || number == EACCES; }

std::string hint_on(int number, std::string_view without, std::string_view otherwise) {
  if (!is_denied(number)) return std::string(otherwise);
  return fmt::format(
      "needs CAP_BPF and CAP_PERFMON (before Linux 6.10: CAP_SYS_ADMIN), or root{}{}. See docs/permissions.md",
      without.empty() ? "" : "; ", without);
}

}  // namespace adaptyst::lib
