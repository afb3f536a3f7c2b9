#include "elf_handle.hpp"

#include <cstddef>

#include "../support/elf_header.hpp"

namespace adaptyst::lib {

elf_handle open_elf(const regular_file& file) {
  elf_version(EV_CURRENT);
  elf_handle opened(is_usual_elf(file.descriptor()) ? elf_begin(file.descriptor(), ELF_C_READ, nullptr) : nullptr,
                    elf_end);
  if (opened != nullptr && elf_kind(opened.get()) != ELF_K_ELF) opened.reset();
  return opened;
}

std::vector<elf_segment> find_segments(Elf* elf, std::uint32_t type) {
  constexpr std::size_t max_headers = 65536 / sizeof(Elf64_Phdr);  // Linux runs no program with more
  std::vector<elf_segment> found;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0 || count > max_headers) return found;
  for (std::size_t at = 0; at != count; ++at) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(at), &segment) != nullptr && segment.p_type == type)
      found.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz, (segment.p_flags & PF_X) != 0});
  }
  return found;
}

Elf_Data* section_data(Elf_Scn* section, std::uint64_t max_bytes) {
  GElf_Shdr header;
  if (gelf_getshdr(section, &header) == nullptr || header.sh_size > max_bytes) return nullptr;
  return elf_getdata(section, nullptr);
}

}  // namespace adaptyst::lib
