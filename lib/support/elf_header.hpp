// Checks the header of an ELF file before libelf reads it: the numbers in a damaged header would determine the memory
// that libelf takes for its tables.
#ifndef ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP
#define ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP

namespace adaptyst::lib {

// Whether the file is ELF with 64 bits and the byte order of this machine, with tables no larger than linkers make.
bool is_usual_elf(int descriptor);

}  // namespace adaptyst::lib

#endif
