// Sends messages of all ranks to the first one, and from it to all, with any transport between ranks.
//
// The ranks are a binomial tree: in its step s = 1, 2, 4, …, a rank r with that bit set sends its data to r - s, which
// adds it, and is done. After log2 P steps, the first rank has all data. A rank waits only for the ranks below it.
//
// Ranks come at different times, at most the transport's limit apart, or never. A rank waits for the rank below it on
// level k = 0, 1, … until k + 1 limits after its own begin. The lower rank may first wait for its lower levels. A
// sending rank waits a limit longer. The answer of the first rank comes before log2 P + 2 limits have passed.
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

// MPI's limit for the number of bytes.
constexpr std::size_t max_sent_bytes = std::size_t{1} << 30U;

// Sends a message of any length in pieces of at most `max_bytes`. `patience` is for the first piece; later ones have at
// least one limit. False: not everything was received.
bool send_whole(rank_transport& over, std::string_view message, std::uint32_t destination,
                std::chrono::nanoseconds patience, std::size_t max_bytes = max_sent_bytes);
// Receives in the same way.
std::optional<std::string> receive_whole(rank_transport& over, std::uint32_t from, std::chrono::nanoseconds patience);

struct reduction {
  // Adds data of other ranks.
  std::function<void(const std::string& message)> add;
  // Called if ranks from `begin` to below `end` sent nothing.
  std::function<void(std::uint32_t begin, std::uint32_t end)> on_missing;
  // All data so far.
  std::function<std::string()> message;
  std::size_t max_bytes = max_sent_bytes;
};

// Missing neighbours in the tree: lower ranks that sent nothing, and an upper rank that received nothing. They are
// skipped from then on. Nothing is sent to them, so they learn that they must continue alone.
using absent_ranks = std::set<std::uint32_t>;

// True for the first rank: it now has the data of all ranks, except absent ones. False for all other ranks, even if the
// upper rank has not received their data.
bool reduce(rank_transport& over, const reduction& how, absent_ranks& absent);

// The first rank's message for all. Empty: it did not arrive.
std::optional<std::string> broadcast(rank_transport& over, std::string message, const absent_ranks& absent,
                                     std::size_t max_bytes = max_sent_bytes);

}  // namespace adaptyst::lib

#endif
