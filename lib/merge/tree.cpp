// Sends and receives messages along a binomial tree of ranks, in pieces that MPI can send, and reports ranks without an
// answer.
#include "tree.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t length_bytes = 8;

// The time that is left until a moment.
class deadline {
 public:
  deadline(clock::time_point end, std::chrono::nanoseconds least) : end_(end), least_(least) {}
  // `least` if the moment has passed.
  std::chrono::nanoseconds left() const {
    return std::max(std::chrono::duration_cast<std::chrono::nanoseconds>(end_ - clock::now()), least_);
  }

 private:
  clock::time_point end_;
  std::chrono::nanoseconds least_;
};

}  // namespace

bool send_whole(rank_transport& over, std::string_view message, std::uint32_t destination,
                std::chrono::nanoseconds patience, std::size_t max_bytes) {
  const deadline end(clock::now() + patience, over.limit());
  std::string length;
  for (unsigned byte = 0; byte != length_bytes; ++byte)
    length += static_cast<char>(static_cast<std::uint64_t>(message.size()) >> 8 * byte);
  if (!over.send(length, destination, patience)) return false;
  for (std::size_t at = 0; at < message.size(); at += max_bytes)
    if (!over.send(message.substr(at, max_bytes), destination, end.left())) return false;
  return true;
}

// The received message may be shorter or longer than announced; memory is allocated only for received bytes.
std::optional<std::string> receive_whole(rank_transport& over, std::uint32_t from, std::chrono::nanoseconds patience) {
  const deadline end(clock::now() + patience, over.limit());
  const std::optional<std::string> head = over.receive(from, patience);
  if (!head || head->size() != length_bytes) return std::nullopt;
  std::uint64_t length = 0;
  for (unsigned byte = 0; byte != length_bytes; ++byte)
    length |= std::uint64_t{static_cast<unsigned char>((*head)[byte])} << 8 * byte;
  std::string message;
  while (message.size() < length) {
    const std::optional<std::string> piece = over.receive(from, end.left());
    if (!piece || piece->empty() || piece->size() > length - message.size()) return std::nullopt;
    message += *piece;
  }
  return message;
}

bool reduce(rank_transport& over, const reduction& how, absent_ranks& absent) {
  const std::uint64_t rank = over.rank(), size = over.size();
  const clock::time_point begin = clock::now();
  const auto until = [&](unsigned limits) {
    return deadline(begin + limits * over.limit(), std::chrono::nanoseconds(0)).left();
  };
  unsigned level = 0;
  for (std::uint64_t step = 1; step < size; step *= 2, ++level) {
    if ((rank & step) != 0) {  // the upper rank continues
      const auto parent = static_cast<std::uint32_t>(rank - step);
      if (absent.count(parent) == 0 && !send_whole(over, how.message(), parent, until(level + 2), how.max_bytes))
        absent.insert(parent);
      return false;
    }
    const std::uint64_t other = rank + step;
    if (other >= size) continue;
    const auto child = static_cast<std::uint32_t>(other);
    bool is_added = false;
    if (absent.count(child) != 0) continue;
    if (const std::optional<std::string> message = receive_whole(over, child, until(level + 1))) {
      try {
        how.add(*message);
        is_added = true;
      } catch (const error& wrong) {
        complain(wrong.what());
      }
    }
    if (is_added) continue;
    absent.insert(child);
    how.on_missing(child, static_cast<std::uint32_t>(std::min(other + step, size)));
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
    unsigned limits = 2;  // the first rank may wait for others on all levels
    for (std::uint64_t ranks = 1; ranks < size; ranks *= 2) ++limits;
    std::optional<std::string> came =
        receive_whole(over, static_cast<std::uint32_t>(rank - step), limits * over.limit());
    if (!came) return std::nullopt;
    message = std::move(*came);
  }
  for (step /= 2; step != 0; step /= 2) {
    const auto child = static_cast<std::uint32_t>(rank + step);
    if (rank + step < size && absent.count(child) == 0) send_whole(over, message, child, over.limit(), max_bytes);
  }
  return message;
}

}  // namespace adaptyst::lib
