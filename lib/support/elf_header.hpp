// Checks the header of an ELF file before libelf reads it: the numbers in a damaged header would determine the memory
// that libelf takes for its tables.
#ifndef ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP
#define ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP

#include <elf.h>

namespace adaptyst::lib {

#if defined(__aarch64__)
constexpr unsigned this_machine = EM_AARCH64;
#else
constexpr unsigned this_machine = EM_X86_64;
#endif

// Whether the file is ELF with 64 bits and the byte order of this machine, with tables no larger than linkers make.
bool is_usual_elf(int descriptor);

}  // namespace adaptyst::lib

#endif
