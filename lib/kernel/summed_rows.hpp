// Rows in the maps of the programs in probes/: parts on each processor, histograms in pieces.
#ifndef ADAPTYST_LIB_KERNEL_SUMMED_ROWS_HPP
#define ADAPTYST_LIB_KERNEL_SUMMED_ROWS_HPP

#include <cstdint>
#include <vector>

#include "../../probes/kernel_layout.h"
#include "../model/measurements.hpp"
#include "../model/ranks.hpp"

struct bpf_map;

namespace adaptyst::lib {

// Sets the size of the table of rows by the number of CPUs, before it is made, and returns its limit of unnecessary parts.
std::uint32_t size_rows(bpf_map* rows);

// Adds a part of a row.
void add_part(measured_row& sum, const adaptyst_kernel_row& row);

// Adds the rows and paths of these maps, all parts together. `groups`: null, or receives the counts of groups, with
// their numbers from 1 on instead of ranks. Throws error.
void read_summed_rows(measurements& into, const bpf_map* rows, const bpf_map* paths, rank_times* groups = nullptr);

// Books a part on its group.
void add_to_group(rank_times& times, const adaptyst_kernel_row_key& key, std::uint64_t events, std::uint64_t total_ns);

// Adds the named markers. Throws error.
void read_sites(measurements& into, const bpf_map* sites);

// Removes all parts of one row. Throws error.
void delete_row(const bpf_map* rows, std::uint64_t path);

// Removes the first parts of a row outside the groups, and returns their events. Unlike delete_row(), it does not read
// the whole table.
std::uint64_t take_first_parts(const bpf_map* rows, std::uint64_t path);

// The counters of a per-CPU array, each summed over the processors.
std::vector<std::uint64_t> read_kernel_counters(const bpf_map* counters, std::uint32_t count);

}  // namespace adaptyst::lib

#endif
