#include "bpf_loading.hpp"

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <cerrno>

namespace adaptyst::lib {

void link_destroyer::operator()(bpf_link* attached) const { bpf_link__destroy(attached); }

void silence_libbpf() {
  libbpf_set_print([](enum libbpf_print_level, const char*, va_list) { return 0; });
}

bool is_denied(int number) noexcept { return number == EPERM || number == EACCES; }

std::string hint_on(int number, std::string_view without, std::string_view otherwise) {
  if (!is_denied(number)) return std::string(otherwise);
  return fmt::format(
      "needs CAP_BPF and CAP_PERFMON (before Linux 6.10: CAP_SYS_ADMIN), or root{}{}. See docs/permissions.md",
      without.empty() ? "" : "; ", without);
}

}  // namespace adaptyst::lib
