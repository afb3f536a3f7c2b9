#include "elf_header.hpp"

#include <elf.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace adaptyst::lib {

namespace {

// More than linkers make for a program or a library. Each section or header takes about 250 bytes in libelf.
constexpr std::uint64_t max_sections = 65536;
constexpr std::uint64_t max_headers = 65536;

template <class T>
bool read_at(int descriptor, std::uint64_t offset, T& value) {
  return pread(descriptor, &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
}

}  // namespace

bool is_usual_elf(int descriptor) {
  constexpr unsigned char our_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  Elf64_Ehdr header;
  if (!read_at(descriptor, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != our_order)
    return false;
  if ((header.e_shnum != 0 && header.e_phnum != PN_XNUM) || header.e_shoff == 0) return true;
  Elf64_Shdr first;  // contains the numbers of sections and headers that need more than 16 bits
  return !read_at(descriptor, header.e_shoff, first) || (first.sh_size <= max_sections && first.sh_info <= max_headers);
}

}  // namespace adaptyst::lib
