// Calls in which ranks meet, each once, of all ranks: how long all of them were in it together, and who came last.
#ifndef ADAPTYST_LIB_MERGE_JOINT_SUM_HPP
#define ADAPTYST_LIB_MERGE_JOINT_SUM_HPP

#include <adaptyst/adapter/rank_transport.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// The same whatever the order in which ranks were added. What there is of it grows neither with ranks nor with calls: of
// too many, one of two stays, of four, …, the same ones on all ranks.
class joint_sum {
 public:
  static constexpr std::size_t max_calls = 8192;  // some 20 bytes each in a message

  void add(const joint_calls& own, std::uint32_t rank, const std::string& host);
  // Of others. Throws adaptyst::error where it is no message.
  void add(std::string_view message);
  std::string message() const;

  // To the regions that these calls are, of calls in which all ranks of their group were seen, and which none could leave
  // early.
  void add_to(profile& merged) const;

 private:
  struct call {
    std::uint64_t group = 0, number = 0;
    std::uint32_t ranks = 0;  // in the group
    std::uint32_t came = 0;   // that were added
    std::uint64_t region = 0;
    std::uint64_t sum_ns = 0;
    std::uint64_t min_ns = 0;  // the time of the last one
    std::uint32_t last = 0;    // its rank
    bool is_loose = false;
  };
  static bool is_before(const call& a, const call& b);
  void add(std::vector<call> more, std::uint64_t step);
  void leave_out(std::uint64_t step);
  void forget_other_hosts();

  std::uint64_t step_ = 1;
  std::vector<call> calls_;                     // sorted
  std::map<std::uint32_t, std::string> hosts_;  // of ranks that were the last
};

}  // namespace adaptyst::lib

#endif
