// Rows as the programs in probes/ leave them in their maps: a part on each processor, histograms in pieces.
#ifndef ADAPTYST_LIB_RECORD_SUMMED_ROWS_HPP
#define ADAPTYST_LIB_RECORD_SUMMED_ROWS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../profile/measured.hpp"

struct bpf_map;

namespace adaptyst::lib {

// How many processors a per-CPU map has values for. Throws error.
std::size_t possible_processors();

// Adds the rows and paths of these maps, all parts together.
void read_summed_rows(measured& into, const bpf_map* rows, const bpf_map* groups, const bpf_map* paths);

// The counters of a per-CPU array, each summed over the processors.
std::vector<std::uint64_t> read_kernel_counters(const bpf_map* counters, std::uint32_t count);

}  // namespace adaptyst::lib

#endif
