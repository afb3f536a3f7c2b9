// libelf for files that may be made to deceive: bounds how much of a file is read.
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

// Null: not an ELF file of 64 bits such as linkers make. It is read, not mapped: if another process shortened a mapped
// file, a signal would end us.
elf_handle open_elf(const regular_file& file);

struct elf_segment {
  std::uint64_t address, offset, bytes;  // as linked, and in the file
  bool is_code;
};

// The segments of a type, PT_LOAD, in the order of the file; empty if the file does not say.
std::vector<elf_segment> find_segments(Elf* elf, std::uint32_t type);

// The bytes of a section, or null: damaged, or larger than what one section of the kind would ever hold.
Elf_Data* section_data(Elf_Scn* section, std::uint64_t max_bytes);

}  // namespace adaptyst::lib

#endif
