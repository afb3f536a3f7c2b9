// A look at an ELF file before any library sees it: what says how much memory its tables would take.
#ifndef ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP
#define ADAPTYST_LIB_SUPPORT_ELF_HEADER_HPP

namespace adaptyst::lib {

// Whether it is one for this kind of machine, 64 bits and byte order, with tables of a size that programs have.
bool is_usual_elf(int descriptor);

}  // namespace adaptyst::lib

#endif
