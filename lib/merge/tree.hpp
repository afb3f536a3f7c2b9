// Messages of all ranks to the first one, and from it to all, over whatever can send bytes from rank to rank.
//
// A binomial tree: in its step s = 1, 2, 4, …, rank r with that bit set sends what it has to r - s, which adds it to its
// own, and is done. After log2 P steps the first rank has it all. A rank waits only for the ranks below it.
//
// Ranks come at different times, at most the transport's limit apart, or some never come. A rank waits for the one below it
// on level k = 0, 1, … until k + 1 limits after it came itself: so long that one may wait for its own lower levels first. A
// rank that sends waits a limit longer, and the first rank's answer comes before log2 P + 2 limits have passed.
#ifndef ADAPTYST_LIB_MERGE_TREE_HPP
#define ADAPTYST_LIB_MERGE_TREE_HPP

#include <adaptyst/adapter/rank_transport.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace adaptyst::lib {

// What MPI can count the bytes of.
constexpr std::size_t max_sent_bytes = std::size_t{1} << 30U;

// A message of any length, in pieces of at most `max_bytes`. `patience` is for the first of them: later ones have one limit
// at least. False: not all of it was taken.
bool send_whole(rank_transport& over, std::string_view message, std::uint32_t destination,
                std::chrono::nanoseconds patience, std::size_t max_bytes = max_sent_bytes);
// Likewise.
std::optional<std::string> receive_whole(rank_transport& over, std::uint32_t from, std::chrono::nanoseconds patience);

struct reduction {
  // Adds what has come from others.
  std::function<void(const std::string& message)> add;
  // Nothing has come of the ranks from `begin` to below `end`.
  std::function<void(std::uint32_t begin, std::uint32_t end)> miss;
  // All that there is by now.
  std::function<std::string()> message;
  std::size_t max_bytes = max_sent_bytes;
};

// The neighbours in the tree that are not there: below, those of which nothing came; above, one that took nothing. They are
// not waited for again, and nothing is sent to them: so they learn that they are on their own.
using absent_ranks = std::set<std::uint32_t>;

// True for the first rank, to which all has been added.
bool reduce(rank_transport& over, const reduction& how, absent_ranks& absent);

// The first rank's message, for all. Empty: it did not come.
std::optional<std::string> broadcast(rank_transport& over, std::string message, const absent_ranks& absent,
                                     std::size_t max_bytes = max_sent_bytes);

}  // namespace adaptyst::lib

#endif
