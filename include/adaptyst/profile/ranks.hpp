// How the ranks of an MPI program differ: docs/mpi.md. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_RANKS_HPP
#define ADAPTYST_PROFILE_RANKS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "histogram.hpp"

namespace adaptyst { inline namespace v1 {

// A sum of 128 bits, which stays at its greatest value where more would not fit.
struct wide_sum {
  std::uint64_t high = 0, low = 0;

  void add(const wide_sum& more);
  void add_square(std::uint64_t value);

  friend bool operator==(const wide_sum& a, const wide_sum& b) { return a.high == b.high && a.low == b.low; }
};

// A figure of each rank, over all ranks that have it: integers alone, so that neither the number of ranks nor the order
// of adding leaves a trace. If extremes are equal, the lowest rank is given.
struct rank_totals {
  std::uint64_t min = 0, max = 0;
  std::uint32_t min_rank = 0, max_rank = 0;
  std::string min_host, max_host;
  wide_sum sum, squares;
  histogram values;

  void add(std::uint64_t value, std::uint32_t rank, const std::string& host);
  void merge(const rank_totals& other);

  // Empty where no rank has it. The standard deviation is that of these ranks, not an estimate for others; it is empty
  // where the squares do not fit.
  std::optional<double> mean() const;
  std::optional<double> stddev() const;
  std::optional<std::uint64_t> quantile(double q) const;
};

// How the ranks of an MPI program differ in a region.
struct rank_spread {
  std::uint64_t ranks = 0;  // that have it
  rank_totals total_ns;

  void merge(const rank_spread& other);
  std::optional<double> imbalance() const;  // the greatest over the mean, less 1; empty: no time
};

// Calls that no rank leaves before all have come: how long ranks waited in them for the last one.
struct joint_waits {
  std::uint64_t calls = 0;      // that were looked at: each once, whatever the number of its ranks
  std::uint64_t step = 1;       // one call of so many was
  std::uint64_t time_ns = 0;    // in these, a sum over ranks
  std::uint64_t waited_ns = 0;  // of it: waiting for the last one
  // For whom that was waited longest: the rank, how often it was the last, and how long the others waited then.
  std::uint32_t last_rank = 0;
  std::string last_host;  // empty: not known
  std::uint64_t last_calls = 0;
  std::uint64_t last_waited_ns = 0;
};

struct rank_place {
  std::uint32_t rank = 0;
  std::string host;
};

// A group of ranks: how many, and the lowest of them.
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

// Ranks of one host, and a time of all of them.
struct node_time {
  std::string host;
  std::uint64_t ranks = 0;
  std::uint64_t time_ns = 0;
};

// Standard errors of a time of each rank, in whole nanoseconds.
struct rank_errors {
  wide_sum squares;               // of all ranks
  std::uint64_t greatest_ns = 0;  // of one rank

  void merge(const rank_errors& other);
};

// How long the ranks of an MPI program were in MPI and outside, and POP's efficiencies: the parallel one is the product of
// load balance and communication, load balance that of its parts within nodes and between nodes (docs/mpi.md). Empty where
// there is no time, or where the nodes are not known.
// Where an overhead budget has thinned calls of MPI, the efficiencies are estimates: each has a standard error, and is
// empty where that is greater than the efficiency.
struct mpi_usage {
  std::uint64_t longest_ns = 0;               // the run of the rank that took longest, from the end of MPI_Init on
  std::uint64_t ranks_without = 0;            // in which no call of MPI was seen: they are in no other figure
  rank_spread outside;                        // of each rank: of that run, the time outside MPI
  std::optional<rank_errors> outside_errors;  // empty: all of these times are exact
  std::optional<node_time> busiest;  // the node whose ranks were outside it longest on average; empty: not known

  void merge(const mpi_usage& other);
  std::optional<double> parallel_efficiency() const;
  std::optional<double> load_balance() const;
  std::optional<double> load_balance_in() const;   // within nodes
  std::optional<double> load_balance_out() const;  // between nodes
  std::optional<double> communication_efficiency() const;
  // Their standard errors; empty where they are exact, or there is no such efficiency.
  std::optional<double> parallel_error() const;
  std::optional<double> load_balance_error() const;
  std::optional<double> load_balance_in_error() const;
  std::optional<double> load_balance_out_error() const;
  std::optional<double> communication_error() const;
};

// Facts about the ranks of a merged profile, in addition to their figures.
struct rank_account {
  std::uint64_t end = 0;  // one more than the greatest rank
  // All hosts if there are fewer than max_hosts; otherwise the hosts with the lowest hashes, from which their number
  // is estimated.
  static constexpr std::size_t max_hosts = 256;
  std::vector<std::string> hosts;
  static constexpr std::size_t max_programs = 32;
  std::vector<program_ranks> programs;  // the first by the alphabet
  rank_list without_regions;
  rank_list killed;   // see process_info
  rank_list missing;  // nothing came of them

  void merge(const rank_account& other);
  std::uint64_t count_hosts() const;  // within 7 % where there are max_hosts or more
};

// The time of the largest rows by rank: bin b holds the ranks from b * ranks_per_bin on. Empty: none of them has the row.
struct heat_row {
  using times = std::vector<std::optional<std::uint64_t>>;
  std::uint64_t region = 0;
  std::uint32_t device = 0;
  times mean_ns;
  times min_ns, max_ns;  // no elements where a bin holds one rank
};
struct heat_map {
  static constexpr std::size_t max_rows = 64, max_bins = 1024;
  std::uint64_t ranks = 0;  // they are numbered from 0 to below this
  std::uint64_t ranks_per_bin = 1;
  std::vector<heat_row> rows;
};

}}  // namespace adaptyst::v1

#endif
