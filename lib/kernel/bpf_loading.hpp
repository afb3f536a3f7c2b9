// What loading BPF programs takes, whichever they are: a libbpf that is quiet, owners of what it makes, and what to say
// when the kernel refuses.
#ifndef ADAPTYST_LIB_KERNEL_BPF_LOADING_HPP
#define ADAPTYST_LIB_KERNEL_BPF_LOADING_HPP

#include <memory>
#include <string>
#include <string_view>

struct bpf_link;

namespace adaptyst::lib {

// libbpf prints what it does; the messages that a user needs are our own.
void silence_libbpf();

// Owns a skeleton, and frees it with the skeleton's own function.
template <class Programs>
using owned_programs = std::unique_ptr<Programs, void (*)(Programs*)>;

struct link_destroyer {
  void operator()(bpf_link* attached) const;
};
using owned_link = std::unique_ptr<bpf_link, link_destroyer>;

// As `<skeleton>__open` and `<skeleton>__destroy`; null, with the reason in errno, when it fails.
template <class Programs>
owned_programs<Programs> open_programs(Programs* (*open)(), void (*destroy)(Programs*)) {
  silence_libbpf();
  return {open(), destroy};
}

bool is_denied(int number) noexcept;

// A hint on the errno `number`: if rights are missing, which ones, and `without`, what works without them; else
// `otherwise`.
std::string hint_on(int number, std::string_view without, std::string_view otherwise);

}  // namespace adaptyst::lib

#endif
