// Functions in which a thread waits for others, by their names in the interfaces that the sets of functions know.
#ifndef ADAPTYST_LIB_DISCOVER_WAITING_FUNCTIONS_HPP
#define ADAPTYST_LIB_DISCOVER_WAITING_FUNCTIONS_HPP

#include <string_view>

namespace adaptyst::lib {

// Such a call mostly takes long, so the cost of a probe on it is small in comparison, whatever its first instruction
// is. The same for its names in Fortran, mpi_waitall_ and MPI_WAITALL.
bool waits_for_others(std::string_view symbol);

}  // namespace adaptyst::lib

#endif
