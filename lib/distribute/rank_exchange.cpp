// Each pair of ranks meets once per round. The lower rank sends first, so no two ranks wait for each other.
#include "rank_exchange.hpp"

#include <chrono>
#include <cstring>
#include <exception>

#include "../merge/tree.hpp"
#include "../merge/wire.hpp"
#include "../support/error.hpp"

namespace adaptyst::lib {

rank_exchange::rank_exchange(rank_transport& over, name_table& names)
    : over_(over), names_(names), sent_names_(over.size()), known_names_(over.size()) {}

// Names that the other rank does not have, then the spans in their memory layout: all ranks run the same program.
std::string rank_exchange::pack(std::uint32_t to, std::vector<kept_span>& spans) {
  message_writer made;
  const std::vector<std::string>& texts = names_.texts();
  made.put(texts.size() - sent_names_[to]);
  for (; sent_names_[to] != texts.size(); ++sent_names_[to]) made.put_text(texts[sent_names_[to]]);
  made.put(spans.size());
  if (!spans.empty()) made.put_bytes(spans.data(), spans.size() * sizeof(kept_span));
  spans.clear();
  return made.finish(message_kind::variability);
}

void rank_exchange::unpack(std::uint32_t from, const std::string& message,
                           const std::function<void(const kept_span&)>& take) {
  message_reader in(message, message_kind::variability);
  std::vector<std::uint32_t>& numbers = known_names_[from];
  for (std::size_t left = in.get_count(); left != 0; --left) numbers.push_back(names_.find(std::string(in.get_text())));
  const std::size_t count = in.get_count();
  const std::string_view bytes = in.get_bytes(count * sizeof(kept_span));
  for (std::size_t at = 0; at != count; ++at) {
    kept_span span;
    std::memcpy(&span, bytes.data() + at * sizeof span, sizeof span);
    if (!span.is_copy()) {
      if (span.name >= numbers.size()) in.fail("has a name that was not sent");
      span.name = numbers[span.name];
    }
    take(span);
  }
}

void rank_exchange::swap(std::vector<std::vector<kept_span>>& outgoing,
                         const std::function<void(const kept_span&)>& take) {
  const std::uint32_t rank = over_.rank(), size = over_.size();
  const std::chrono::nanoseconds patience = 4 * over_.limit();  // another rank may still be reading the rows of a step
  std::exception_ptr failed;
  for (std::uint32_t round = 0; round != size; ++round) {
    const std::uint32_t other = (round + size - rank) % size;
    if (other == rank || absent_.count(other) != 0) continue;
    const auto send = [&] {
      const std::string message = pack(other, outgoing[other]);
      bytes_ += message.size();
      return send_whole(over_, message, other, patience);
    };
    const auto receive = [&] {
      const std::optional<std::string> message = receive_whole(over_, other, patience);
      if (!message) return false;
      try {
        unpack(other, *message, take);
      } catch (const std::exception&) {
        if (failed == nullptr) failed = std::current_exception();
      }
      return true;
    };
    const bool is_done = rank < other ? send() && receive() : receive() && send();
    if (!is_done) absent_.insert(other);
  }
  if (failed != nullptr) std::rethrow_exception(failed);
}

}  // namespace adaptyst::lib
