// Spans that one rank has read and another rank analyses.
#ifndef ADAPTYST_LIB_DISTRIBUTE_RANK_EXCHANGE_HPP
#define ADAPTYST_LIB_DISTRIBUTE_RANK_EXCHANGE_HPP

#include <adaptyst/adapter/rank_transport.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../analyse/variability/parts.hpp"
#include "name_table.hpp"

namespace adaptyst::lib {

class rank_exchange {
 public:
  rank_exchange(rank_transport& over, name_table& names);

  // All ranks must call it equally often. `outgoing`: by destination rank; emptied. Each pair of ranks meets once and
  // the lower rank sends first, so there is no deadlock. An exception from `take` is thrown after all have met, because
  // the others would wait for a missing rank.
  void swap(std::vector<std::vector<kept_span>>& outgoing, const std::function<void(const kept_span&)>& take);

  std::uint64_t bytes() const noexcept { return bytes_; }
  // Ranks that did not come or did not receive; they are skipped from then on.
  const std::set<std::uint32_t>& absent() const noexcept { return absent_; }

 private:
  std::string pack(std::uint32_t to, std::vector<kept_span>& spans);
  void unpack(std::uint32_t from, const std::string& message, const std::function<void(const kept_span&)>& take);

  rank_transport& over_;
  name_table& names_;
  std::vector<std::size_t> sent_names_;                  // by rank
  std::vector<std::vector<std::uint32_t>> known_names_;  // by rank: from its numbers to the local ones
  std::set<std::uint32_t> absent_;
  std::uint64_t bytes_ = 0;
};

}  // namespace adaptyst::lib

#endif
