// Rows as the programs in probes/ leave them in their maps: a part on each processor, histograms in pieces.
#ifndef ADAPTYST_LIB_KERNEL_SUMMED_ROWS_HPP
#define ADAPTYST_LIB_KERNEL_SUMMED_ROWS_HPP

#include <cstdint>
#include <vector>

#include "../../probes/record.h"
#include "../profile/measured.hpp"

struct bpf_map;

namespace adaptyst::lib {

// What one processor has of a row.
measured_row row_of(const adaptyst_kernel_row& part);
// Adds the buckets of a group.
void add_group(measured_row& to, std::uint64_t number, const adaptyst_kernel_group& group);

// Adds the rows and paths of these maps, all parts together.
void read_summed_rows(measured& into, const bpf_map* rows, const bpf_map* groups, const bpf_map* paths);

// Adds the markers that have been named.
void read_named_sites(measured& into, const bpf_map* sites);

// Takes one row away, wherever parts of it are.
void forget_summed_row(const bpf_map* rows, const bpf_map* groups, std::uint64_t path);

// The counters of a per-CPU array, each summed over the processors.
std::vector<std::uint64_t> read_kernel_counters(const bpf_map* counters, std::uint32_t count);

}  // namespace adaptyst::lib

#endif
