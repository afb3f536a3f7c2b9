// How the ranks of a parallel program make one report: for authors of a bridge to a library that sends bytes from rank to
// rank. <adaptyst/mpi.hpp> is the one to MPI.
//
// Profiles are merged along a binomial tree. What a rank sends follows its regions, not the number of ranks: some 300
// bytes a region (docs/mpi.md). Nothing is sent before stop().
#ifndef ADAPTYST_ADAPTER_RANK_TRANSPORT_HPP
#define ADAPTYST_ADAPTER_RANK_TRANSPORT_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../detail/error.hpp"
#include "../options.hpp"
#include "../profile.hpp"

namespace adaptyst { inline namespace v1 {

// Sends bytes between the ranks of a group, numbered from 0. All functions are called on the thread that has asked for the
// merge.
class rank_transport {
 public:
  rank_transport() = default;
  rank_transport(const rank_transport&) = delete;
  rank_transport& operator=(const rank_transport&) = delete;
  virtual ~rank_transport() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;
  // By how much ranks may come later than others. How long a rank waits for another one follows from it: on each level of
  // the tree that long.
  virtual std::chrono::nanoseconds limit() const = 0;
  // Bytes arrive whole, and between two ranks in the order in which they were sent; at most 1 GiB at a time. False: it
  // was not taken within `patience`, or cannot be sent.
  virtual bool send(std::string_view bytes, std::uint32_t destination, std::chrono::nanoseconds patience) = 0;
  // Empty: nothing came from that rank within `patience`, or nothing comes from it any more.
  virtual std::optional<std::string> receive(std::uint32_t from, std::chrono::nanoseconds patience) = 0;
};

// How long a rank was in calls that no rank of a group leaves before all have come, such as MPI_Barrier. The one with the
// shortest time came last; by so much as theirs is longer, the others waited for it. So no clocks are compared.
struct joint_calls {
  struct call {
    std::uint64_t group = 0;   // the same on all ranks of the group
    std::uint64_t number = 0;  // of the call in the group, from 0, the same on all of them
    std::uint32_t ranks = 0;   // in the group
    std::uint64_t region = 0;  // the id of the region that the call is; 0: not known
    std::uint64_t time_ns = 0;
    bool is_loose = false;  // this rank has nothing to send to some rank, or nothing to receive: some may leave early
  };

  // Of too many calls one of `step` stays, on all ranks the same ones: which, a hash says.
  static constexpr bool is_left_out(std::uint64_t group, std::uint64_t number, std::uint64_t step) noexcept {
    std::uint64_t mixed = (group ^ number * 0x9E3779B97F4A7C15U) * 0xD6E8FEB86659FD93U;
    mixed = (mixed ^ mixed >> 32U) * 0xD6E8FEB86659FD93U;
    return ((mixed ^ mixed >> 32U) & (step - 1)) != 0;
  }

  std::uint64_t step = 1;  // a power of two
  std::vector<call> calls;
};

struct merged_ranks {
  std::optional<profile> all;  // at rank 0: the profile of all ranks that came
  bool is_delivered = false;   // this rank is in it, as far as can be known
};

// Makes one profile of the profiles of all ranks. To be called by each of them, each with its own profile. Ranks of which
// nothing comes are named in the result (profile::about_ranks). Throws adaptyst::error where memory is short.
merged_ranks merge_ranks(const profile& own, rank_transport& over, const joint_calls& joint = {});

// A collector, with the same options, whose report is that of all ranks: rank 0 prints it and writes the files. Timelines
// and stacks are each rank's own.
//
// Where the ranks do not come together, each writes the profile that it has, under a name with its rank, and says so. At
// exit() without stop(), too. Nothing here throws. One collector at a time in a process.
class rank_collector {
 public:
  explicit rank_collector(std::string_view options = {}) noexcept;
  explicit rank_collector(const options& options) noexcept;
  ~rank_collector();  // stop_alone(), unless it has been stopped
  rank_collector(const rank_collector&) = delete;
  rank_collector& operator=(const rank_collector&) = delete;

  // Of this rank, up to now. Thread-safe.
  profile snapshot() const noexcept;

  // Ends the collection and merges, on all ranks. Returns the profile of all at rank 0, and that of the rank itself at the
  // others. Further calls return it again.
  profile stop(rank_transport& over, const joint_calls& joint = {}) noexcept;
  // Ends the collection without the others. `why`: told on standard error.
  profile stop_alone(std::string_view why) noexcept;

  // Why nothing is collected, or who does it instead; null while something is.
  const adaptyst::error* error() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
