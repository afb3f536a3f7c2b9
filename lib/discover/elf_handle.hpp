// libelf for untrusted files: limits the bytes that are read from a file.
#ifndef ADAPTYST_LIB_DISCOVER_ELF_HANDLE_HPP
#define ADAPTYST_LIB_DISCOVER_ELF_HANDLE_HPP

#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "../support/regular_file.hpp"

namespace adaptyst::lib {

using elf_handle = std::unique_ptr<Elf, int (*)(Elf*)>;

// Null: not a 64-bit ELF file as linkers make them. The file is read, not mapped: if another process shortened a mapped
// file, a signal would end this process.
elf_handle open_elf(const regular_file& file);

struct elf_segment {
  std::uint64_t address, offset, bytes;  // as linked, and in the file
  bool is_code;
};

// The segments of a type, such as PT_LOAD, in the order of the file; empty if the file has none.
std::vector<elf_segment> find_segments(Elf* elf, std::uint32_t type);

// The bytes of a section; null if it is damaged, or larger than any valid section of its kind.
Elf_Data* section_data(Elf_Scn* section, std::uint64_t max_bytes);

}  // namespace adaptyst::lib

#endif
