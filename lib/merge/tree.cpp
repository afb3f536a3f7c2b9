// Sends and receives messages along a binomial tree of ranks, in pieces that MPI can send, and reports the ranks that
// did not answer.
#include "tree.hpp"

#include <algorithm>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t length_bytes = 8;

}  // namespace

bool send_whole(rank_transport& over, std::string_view message, std::uint32_t destination, std::size_t max_bytes) {
  std::string length;
  for (unsigned byte = 0; byte != length_bytes; ++byte)
    length += static_cast<char>(static_cast<std::uint64_t>(message.size()) >> 8 * byte);
  if (!over.send(length, destination)) return false;
  for (std::size_t at = 0; at < message.size(); at += max_bytes)
    if (!over.send(message.substr(at, max_bytes), destination)) return false;
  return true;
}

// What comes may be shorter or longer than was announced; room is made for what has come.
std::optional<std::string> receive_whole(rank_transport& over, std::uint32_t from, unsigned patience) {
  const std::optional<std::string> head = over.receive(from, patience);
  if (!head || head->size() != length_bytes) return std::nullopt;
  std::uint64_t length = 0;
  for (unsigned byte = 0; byte != length_bytes; ++byte)
    length |= std::uint64_t{static_cast<unsigned char>((*head)[byte])} << 8 * byte;
  std::string message;
  while (message.size() < length) {
    const std::optional<std::string> piece = over.receive(from, patience);
    if (!piece || piece->empty() || piece->size() > length - message.size()) return std::nullopt;
    message += *piece;
  }
  return message;
}

bool reduce(rank_transport& over, const reduction& how, absent_ranks& absent) {
  const std::uint64_t rank = over.rank(), size = over.size();
  unsigned patience = 1;  // the other may wait for ranks below it first
  for (std::uint64_t step = 1; step < size; step *= 2, ++patience) {
    if ((rank & step) != 0) {
      const auto parent = static_cast<std::uint32_t>(rank - step);
      if (!send_whole(over, how.message(), parent, how.max_bytes)) absent.insert(parent);
      return false;
    }
    const std::uint64_t other = rank + step;
    if (other >= size) continue;
    const auto child = static_cast<std::uint32_t>(other);
    bool is_added = false;
    if (absent.count(child) != 0) continue;
    if (const std::optional<std::string> message = receive_whole(over, child, patience)) {
      try {
        how.add(*message);
        is_added = true;
      } catch (const error& wrong) {
        complain(wrong.what());
      }
    }
    if (is_added) continue;
    absent.insert(child);
    how.miss(child, static_cast<std::uint32_t>(std::min(other + step, size)));
  }
  return true;
}

std::optional<std::string> broadcast(rank_transport& over, std::string message, const absent_ranks& absent,
                                     std::size_t max_bytes) {
  const std::uint64_t rank = over.rank(), size = over.size();
  std::uint64_t step = 1;
  while (step < size && (rank & step) == 0) step *= 2;
  if (rank != 0) {
    if (absent.count(static_cast<std::uint32_t>(rank - step)) != 0) return std::nullopt;
    unsigned patience = 2;  // the first rank may wait for others on all levels
    for (std::uint64_t ranks = 1; ranks < size; ranks *= 2) ++patience;
    std::optional<std::string> came = receive_whole(over, static_cast<std::uint32_t>(rank - step), patience);
    if (!came) return std::nullopt;
    message = std::move(*came);
  }
  for (step /= 2; step != 0; step /= 2) {
    const auto child = static_cast<std::uint32_t>(rank + step);
    if (rank + step < size && absent.count(child) == 0) send_whole(over, message, child, max_bytes);
  }
  return message;
}

}  // namespace adaptyst::lib
