// Messages of all ranks to the first one, and from it to all, over whatever can send bytes from rank to rank.
//
// A binomial tree: in its step s = 1, 2, 4, …, rank r with that bit set sends what it has to r - s, which adds it to its
// own, and is done. After log2 P steps the first rank has it all. Nobody waits for anybody but those below it.
#ifndef ADAPTYST_LIB_MERGE_TREE_HPP
#define ADAPTYST_LIB_MERGE_TREE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace adaptyst::lib {

class rank_transport {
 public:
  rank_transport() = default;
  rank_transport(const rank_transport&) = delete;
  rank_transport& operator=(const rank_transport&) = delete;
  virtual ~rank_transport() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;
  // Bytes arrive whole, and between two ranks in the order in which they were sent.
  virtual void send(std::string_view bytes, std::uint32_t to) = 0;
  // Empty: nothing comes from it any more.
  virtual std::optional<std::string> receive(std::uint32_t from) = 0;
};

// What MPI can count the bytes of.
constexpr std::size_t max_sent_bytes = std::size_t{1} << 30U;

// A message of any length, in pieces of at most `max_bytes`.
void send_whole(rank_transport& over, std::string_view message, std::uint32_t to,
                std::size_t max_bytes = max_sent_bytes);
std::optional<std::string> receive_whole(rank_transport& over, std::uint32_t from);

struct reduction {
  // Adds what has come from others.
  std::function<void(const std::string& message)> add;
  // Nothing has come of the ranks from `begin` to below `end`.
  std::function<void(std::uint32_t begin, std::uint32_t end)> miss;
  // All that there is by now.
  std::function<std::string()> message;
  std::size_t max_bytes = max_sent_bytes;
};

// True for the first rank, to which all has been added.
bool reduce(rank_transport& over, const reduction& how);

// The first rank's message, for all. Empty: it did not come.
std::optional<std::string> broadcast(rank_transport& over, std::string message, std::size_t max_bytes = max_sent_bytes);

}  // namespace adaptyst::lib

#endif
