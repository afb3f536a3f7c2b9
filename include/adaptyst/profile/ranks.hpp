// Differences between the ranks of an MPI program: docs/mpi.md. Part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_RANKS_HPP
#define ADAPTYST_PROFILE_RANKS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "histogram.hpp"

namespace adaptyst { inline namespace v1 {

// A sum of 128 bits; saturates.
struct wide_sum {
  std::uint64_t high = 0, low = 0;

  void add(const wide_sum& more);
  void add_square(std::uint64_t value);

  friend bool operator==(const wide_sum& a, const wide_sum& b) { return a.high == b.high && a.low == b.low; }
};

// Statistics of one value per rank. Integers only: the result is independent of the number of ranks and the order of
// adding. If extremes are equal, the lowest rank is kept.
struct rank_totals {
  std::uint64_t min = 0, max = 0;
  std::uint32_t min_rank = 0, max_rank = 0;
  std::string min_host, max_host;
  wide_sum sum, squares;
  histogram values;

  void add(std::uint64_t value, std::uint32_t rank, const std::string& host);
  void merge(const rank_totals& other);

  // Empty if no rank has a value. The standard deviation is that of these ranks, not an estimate for others; it is
  // empty if the squares overflow.
  std::optional<double> mean() const;
  std::optional<double> stddev() const;
  std::optional<std::uint64_t> quantile(double q) const;
};

// Spread of a region over the ranks of an MPI program.
struct rank_spread {
  std::uint64_t ranks = 0;  // ranks with this region
  rank_totals total_ns;

  void merge(const rank_spread& other);
  std::optional<double> imbalance() const;  // maximum / mean - 1; empty without time
};

// Waits of ranks in an N-to-N collective for the last rank.
struct collective_waits {
  std::uint64_t calls = 0;      // analysed calls; each counts once, whatever the number of ranks
  std::uint64_t step = 1;       // one of this many calls was analysed
  std::uint64_t time_ns = 0;    // in these calls, summed over ranks
  std::uint64_t waited_ns = 0;  // part of time_ns spent waiting for the last rank
  // The rank with the longest waits for it: its number, calls in which it was last, and the others' waits in them.
  std::uint32_t last_rank = 0;
  std::string last_host;  // empty: unknown
  std::uint64_t last_calls = 0;
  std::uint64_t last_waited_ns = 0;
};

struct rank_place {
  std::uint32_t rank = 0;
  std::string host;
};

// A group of ranks: their number, and the lowest ranks.
struct rank_list {
  static constexpr std::size_t max_first = 16;
  std::uint64_t count = 0;
  std::vector<rank_place> first{};

  void add(std::uint32_t rank, const std::string& host);
  void merge(const rank_list& other);
};

struct program_ranks {
  std::string program;
  rank_list ranks;
};

// Ranks of one host, and their total time.
struct node_time {
  std::string host;
  std::uint64_t ranks = 0;
  std::uint64_t time_ns = 0;
};

// Standard errors of one time per rank, in whole ns.
struct rank_errors {
  wide_sum squares;               // of all ranks
  std::uint64_t greatest_ns = 0;  // of one rank

  void merge(const rank_errors& other);
};

// Time in and outside MPI, and POP's efficiencies. Parallel efficiency = load balance × communication efficiency; load
// balance = balance within nodes × balance between nodes (docs/mpi.md). Empty without time, or if nodes are unknown. If
// an overhead budget sampled MPI calls, efficiencies are estimates with a standard error; an efficiency below its error
// is empty.
struct mpi_usage {
  std::uint64_t longest_ns = 0;               // run of the slowest rank, from the end of MPI_Init
  std::uint64_t ranks_without = 0;            // ranks without observed MPI calls; not in other figures
  rank_spread outside;                        // time outside MPI, per rank
  std::optional<rank_errors> outside_errors;  // empty: all times are exact
  // The node with the longest mean time outside MPI; empty: unknown.
  std::optional<node_time> busiest;

  void merge(const mpi_usage& other);
  std::optional<double> parallel_efficiency() const;
  std::optional<double> load_balance() const;
  std::optional<double> load_balance_in() const;   // within nodes
  std::optional<double> load_balance_out() const;  // between nodes
  std::optional<double> communication_efficiency() const;
  // Standard errors; empty if exact, or without an efficiency.
  std::optional<double> parallel_error() const;
  std::optional<double> load_balance_error() const;
  std::optional<double> load_balance_in_error() const;
  std::optional<double> load_balance_out_error() const;
  std::optional<double> communication_error() const;
};

// Facts about the ranks of a merged profile.
struct rank_account {
  std::uint64_t end = 0;  // greatest rank + 1
  // All hosts if there are fewer than max_hosts; otherwise the hosts with the lowest hashes, from which their number is
  // estimated.
  static constexpr std::size_t max_hosts = 256;
  std::vector<std::string> hosts;
  static constexpr std::size_t max_programs = 32;
  std::vector<program_ranks> programs;  // alphabetically first
  rank_list without_regions;
  rank_list killed;   // see process_info
  rank_list missing;  // no data arrived

  void merge(const rank_account& other);
  std::uint64_t count_hosts() const;  // within 7 % from max_hosts on
};

// Time of the largest rows by rank: bin b holds the ranks from b * ranks_per_bin. Empty: no rank of the bin has the
// row.
struct heat_row {
  using times = std::vector<std::optional<std::uint64_t>>;
  std::uint64_t region = 0;
  std::uint32_t device = 0;
  times mean_ns;
  times min_ns, max_ns;  // no elements if a bin holds one rank
};
struct heat_map {
  static constexpr std::size_t max_rows = 64, max_bins = 1024;
  std::uint64_t ranks = 0;  // numbered from 0
  std::uint64_t ranks_per_bin = 1;
  std::vector<heat_row> rows;
};

}}  // namespace adaptyst::v1

#endif
