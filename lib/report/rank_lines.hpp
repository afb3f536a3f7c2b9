// What a report says of the ranks of an MPI program.
#ifndef ADAPTYST_LIB_REPORT_RANK_LINES_HPP
#define ADAPTYST_LIB_REPORT_RANK_LINES_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <string>

namespace adaptyst::lib {

// "16 ranks on 4 hosts"; empty: no ranks were merged.
std::string count_ranks(const profile& profile);

// "rank 17 on n03"
std::string rank_label(std::uint32_t rank, const std::string& host);

// Lines on those that are not like the others: killed, missing, without regions, with another program.
std::string odd_ranks_text(const profile& profile, std::size_t line_columns);

// "MPI: parallel efficiency 62.0% = load balance 80.1% (within nodes 92.0%, between nodes 87.1%) x communication 77.4%";
// empty where that is not known.
std::string efficiency_text(const profile& profile);

// "ranks: 12% imbalance; slowest: rank 17 on n03 (232 ms), mean 207 ms, fastest: …"; empty where all take
// as long; "in 3 of 8 ranks".
std::string spread_text(const profile& profile, const region& row);

// "98.7% of it waiting for the last rank; most for rank 2 on n01, the last in 5 of 6 calls"; empty where that took no time
// to speak of.
std::string joint_text(const profile& profile, const region& row);

}  // namespace adaptyst::lib

#endif
