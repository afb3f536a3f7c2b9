// Checks the header of an ELF file before libelf reads it: the numbers in a damaged header would determine the memory
// that libelf takes for its tables.
#ifndef ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP
#define ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP

#include <elf.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace adaptyst::lib {

#if defined(__aarch64__)
constexpr unsigned this_machine = EM_AARCH64;
#else
constexpr unsigned this_machine = EM_X86_64;
#endif

// Whether the file is ELF with 64 bits and the byte order of this machine, with tables no larger than linkers make. A
// section or header takes about 250 bytes in libelf.
inline bool is_usual_elf(int descriptor) {
  constexpr unsigned char our_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  constexpr std::uint64_t max_sections = 65536;
  constexpr std::uint64_t max_headers = 65536;
  const auto reads = [descriptor](std::uint64_t offset, void* value, std::size_t bytes) {
    return pread(descriptor, value, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  };
  Elf64_Ehdr header;
  if (!reads(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != our_order)
    return false;
  if ((header.e_shnum != 0 && header.e_phnum != PN_XNUM) || header.e_shoff == 0) return true;
  Elf64_Shdr first;  // contains the numbers of sections and headers that need more than 16 bits
  return !reads(header.e_shoff, &first, sizeof first) ||
         (first.sh_size <= max_sections && first.sh_info <= max_headers);
}

}  // namespace adaptyst::lib

#endif
