// A profile as a compact message, and two messages as one: how profiles of many ranks become one.
//
// Two messages make the message of both in one pass over their bytes, row by row: nothing is unpacked but what is being
// added. All sums are integers, those of doubles as well (exact_sum.hpp), and all that is listed has one order. So the
// bytes that come out do not depend on the order or grouping in which ranks were merged.
//
// What grows with the ranks stays out: of processes the number and the time, of extremes one rank. See details.hpp for
// the rest.
#ifndef ADAPTYST_LIB_MERGE_MESSAGE_HPP
#define ADAPTYST_LIB_MERGE_MESSAGE_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace adaptyst::lib {

// How many buckets a row's histograms may have: of durations, and of its ranks. 0: all that they have. The same for all
// messages that are merged.
struct message_limits {
  std::size_t durations = 0, ranks = 0;
};
// With these a row takes some 300 bytes behind 131,072 ranks. 14 buckets hold durations that differ by a factor of 2 to
// within 3 %, of 5 to within 6 %, of 25 to within 12 %.
inline constexpr message_limits short_histograms{14, 10};

// `place`: the rank whose profile it is, where it is of one.
std::string write_message(const profile& profile, const std::optional<rank_place>& place, message_limits limits = {});

// Both throw adaptyst::error where bytes are no message.
std::string merge_messages(std::string_view a, std::string_view b);
// Its processes are counted, and not listed.
profile read_message(std::string_view message);

}  // namespace adaptyst::lib

#endif
