// Common functions for loading BPF programs: silencing libbpf, owners of skeletons, and hints for the kernel's
// refusals.
#ifndef ADAPTYST_LIB_KERNEL_BPF_LOADING_HPP
#define ADAPTYST_LIB_KERNEL_BPF_LOADING_HPP

#include <memory>
#include <string>
#include <string_view>

#include "../support/threads.hpp"

struct bpf_link;

namespace adaptyst::lib {

// libbpf prints its actions; this library prints the messages that a user needs.
void silence_libbpf();

// Owns a skeleton, and frees it with the skeleton's own function.
template <class Programs>
using owned_programs = std::unique_ptr<Programs, void (*)(Programs*)>;

struct link_destroyer {
  void operator()(bpf_link* attached) const;
};
using owned_link = std::unique_ptr<bpf_link, link_destroyer>;

// As `<skeleton>__open` and `<skeleton>__destroy`; null, with the reason in errno, if it fails.
template <class Programs>
owned_programs<Programs> open_programs(Programs* (*open)(), void (*destroy)(Programs*)) {
  silence_libbpf();
  return {open(), destroy};
}

// For the types of the kernel, of which libbpf makes two copies of some 6 MB.
heap_room room_for_types();

// Loads programs that need these types. Not in the heap of the program: while a forked child has the same pages, each
// write copies one.
template <class Programs>
int load_with_types(Programs* programs, int (*load)(Programs*)) {
  int failed = 0;
  run_on_thread([&] { failed = load(programs); }, room_for_types());
  return failed;
}

bool is_denied(int number) noexcept;

// A hint on the errno `number`: if rights are missing, their names, and `without`: what works without them; else
// `otherwise`.
std::string hint_on(int number, std::string_view without, std::string_view otherwise);

}  // namespace adaptyst::lib

#endif
