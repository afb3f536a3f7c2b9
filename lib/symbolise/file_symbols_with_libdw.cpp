#include <adaptyst/adapter/demangle.hpp>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "../support/elf_header.hpp"
#include "file_symbols.hpp"

namespace adaptyst::lib {

namespace {

// By build id in the usual place. Not the standard way, which may ask a server on the network.
char* debug_path = nullptr;

Dwfl_Callbacks offline_callbacks() {
  Dwfl_Callbacks calls{};
  calls.find_elf = dwfl_build_id_find_elf;
  calls.find_debuginfo = dwfl_build_id_find_debuginfo;
  calls.section_address = dwfl_offline_section_address;
  calls.debuginfo_path = &debug_path;
  return calls;
}

std::string written(const char* symbol) {
  const auto text = demangled(symbol);
  return text ? text.get() : std::string(symbol, std::strcspn(symbol, "@"));  // a version follows
}

}  // namespace

struct file_symbols::state {
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> files{nullptr, dwfl_end};
  Dwfl_Module* module = nullptr;
};

file_symbols::file_symbols(int descriptor) : state_(std::make_unique<state>()) {
  static const Dwfl_Callbacks calls = offline_callbacks();
  state_->files.reset(dwfl_begin(&calls));
  if (state_->files == nullptr) return;
  if (!is_usual_elf(descriptor)) return;  // libdw would also open archives, and decompress whatever it is given
  dwfl_report_begin(state_->files.get());
  const int own = dup(descriptor);  // which the module closes
  if (own < 0) return;
  state_->module = dwfl_report_offline(state_->files.get(), "file", "", own);
  if (state_->module == nullptr) close(own);
  dwfl_report_end(state_->files.get(), nullptr, nullptr);
}

file_symbols::~file_symbols() = default;

std::string file_symbols::function_at(std::uint64_t offset) const {
  GElf_Addr bias = 0;
  Elf* const elf = state_->module != nullptr ? dwfl_module_getelf(state_->module, &bias) : nullptr;
  std::size_t segments = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &segments) != 0) return {};
  for (std::size_t at = 0; at != segments; ++at) {
    GElf_Phdr one;
    if (gelf_getphdr(elf, static_cast<int>(at), &one) == nullptr) return {};
    if (one.p_type != PT_LOAD || offset < one.p_offset || offset - one.p_offset >= one.p_filesz ||
        (one.p_flags & PF_X) == 0)
      continue;
    GElf_Off into = 0;
    GElf_Sym symbol{};
    const char* const name = dwfl_module_addrinfo(state_->module, offset - one.p_offset + one.p_vaddr + bias, &into,
                                                  &symbol, nullptr, nullptr, nullptr);
    // libdw also offers the nearest label before: in a stripped file that is another function.
    if (name == nullptr || into >= symbol.st_size || GELF_ST_TYPE(symbol.st_info) == STT_SECTION) return {};
    return written(name);
  }
  return {};
}

bool file_symbols::are_read() noexcept { return true; }

}  // namespace adaptyst::lib
