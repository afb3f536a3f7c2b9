// A profile as a compact message, and the merge of two messages: profiles of many ranks become one.
//
// The merge of two messages is one pass over their bytes, row by row; only the parts that are being added are unpacked.
// All sums are integers, also those of doubles (exact_sum.hpp), and every list has a single order. The resulting bytes
// therefore do not depend on the order or grouping of ranks.
//
// Data that grows with the ranks is excluded: a message has the number and time of processes, and one rank for each
// extreme. details.hpp has the rest.
#ifndef ADAPTYST_LIB_MERGE_MESSAGE_HPP
#define ADAPTYST_LIB_MERGE_MESSAGE_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace adaptyst::lib {

// The maximum number of buckets of a row's histograms: for durations, and for its ranks. 0: unlimited. All merged
// messages must have the same limits.
struct message_limits {
  std::size_t durations = 0, ranks = 0;
};
// A row then takes about 300 bytes for 131,072 ranks; 14 buckets hold durations that differ by a factor of 2 within 3
// %, of 5 within 6 %, of 25 within 12 %.
inline constexpr message_limits short_histograms{14, 10};

// `place`: the rank of the profile, if it has one.
std::string write_message(const profile& profile, const std::optional<rank_place>& place, message_limits limits = {});

// merge_messages() and read_message() throw adaptyst::error for invalid bytes.
std::string merge_messages(std::string_view a, std::string_view b);
// The profile contains the number of its processes, but no list.
profile read_message(std::string_view message);

}  // namespace adaptyst::lib

#endif
