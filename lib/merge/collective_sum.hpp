// Calls in which ranks meet, each once for all ranks: the time that all ranks were in the call, and the last rank.
#ifndef ADAPTYST_LIB_MERGE_COLLECTIVE_SUM_HPP
#define ADAPTYST_LIB_MERGE_COLLECTIVE_SUM_HPP

#include <adaptyst/adapter/rank_transport.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// The result does not depend on the order of ranks. Its size is limited for any number of ranks and calls: of too many
// calls, one of 2, 4, … is kept, the same ones on all ranks.
class collective_sum {
 public:
  static constexpr std::size_t max_calls = 8192;  // some 20 bytes each in a message

  void add(const collective_calls& own, std::uint32_t rank, const std::string& host);
  // Adds other ranks. Throws adaptyst::error if it is not such a message.
  void add(std::string_view message);
  std::string message() const;

  // Adds to the regions of these calls, for calls in which all ranks of their group were recorded and which no rank can
  // leave early.
  void add_to(profile& merged) const;

 private:
  struct call {
    std::uint64_t group = 0, number = 0;
    std::uint32_t ranks = 0;  // in the group
    std::uint32_t came = 0;   // ranks that were added
    std::uint64_t region = 0;
    std::uint64_t sum_ns = 0;
    std::uint64_t min_ns = 0;  // the time of the last rank
    std::uint32_t last = 0;    // the last rank
    bool is_loose = false;
  };
  static bool is_before(const call& a, const call& b);
  void add(std::vector<call> more, std::uint64_t step);
  void leave_out(std::uint64_t step);
  void forget_other_hosts();

  std::uint64_t step_ = 1;
  std::vector<call> calls_;                     // sorted
  std::map<std::uint32_t, std::string> hosts_;  // of the last ranks
};

}  // namespace adaptyst::lib

#endif
