// Checks the header of an ELF file before libelf reads it: the numbers in a damaged header decide how much memory
// libelf takes for its tables.
#ifndef ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP
#define ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP

namespace adaptyst::lib {

// Whether the file is ELF with 64 bits and the byte order of this machine, and its tables are not larger than those
// that linkers make.
bool is_usual_elf(int descriptor);

}  // namespace adaptyst::lib

#endif
