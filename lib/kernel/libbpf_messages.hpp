// libbpf prints what it does; what a user has to know we say ourselves.
#ifndef ADAPTYST_LIB_KERNEL_LIBBPF_MESSAGES_HPP
#define ADAPTYST_LIB_KERNEL_LIBBPF_MESSAGES_HPP

#include <bpf/libbpf.h>

namespace adaptyst::lib {

inline void silence_libbpf() {
  libbpf_set_print([](enum libbpf_print_level, const char*, va_list) { return 0; });
}

}  // namespace adaptyst::lib

#endif
