// Reads the recorders of a process while their threads write them.
#ifndef ADAPTYST_LIB_RECORD_RECORDER_READER_HPP
#define ADAPTYST_LIB_RECORD_RECORDER_READER_HPP

#include <cstdint>
#include <vector>

#include "../profile/measured.hpp"
#include "memory.hpp"

namespace adaptyst::lib {

// Where in the memory of a process its recorders are.
struct process_state {
  const memory* in;
  std::uint64_t address;               // of detail::process; 0: no marker was awake yet
  std::vector<std::uint64_t> objects;  // addresses of the control blocks
};

// That of this process, as it is now.
process_state own_state(std::uint64_t address);

// All rows and the account of the current epoch. Each recorder's account is of one moment; rows are read one by one, so
// beside running threads their sum may be some events ahead of it. Whatever is damaged is left out.
measured read_recorders(const process_state& of);

// Whether the state was laid out by headers like those that this was compiled with; so it is where there is none yet.
bool has_known_layout(const process_state& of);

}  // namespace adaptyst::lib

#endif
