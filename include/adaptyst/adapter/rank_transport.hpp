// Merges the profiles of a parallel program's ranks into one report. For authors of a bridge to a communication
// library; <adaptyst/mpi.hpp> is the bridge to MPI.
//
// Profiles are merged along a binomial tree after stop(). A message has about 300 bytes per region, whatever the number
// of ranks (docs/mpi.md).
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

// Sends bytes between the ranks of a group, numbered from 0. All functions are called on the thread that requests the
// merge.
class rank_transport {
 public:
  rank_transport() = default;
  rank_transport(const rank_transport&) = delete;
  rank_transport& operator=(const rank_transport&) = delete;
  virtual ~rank_transport() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;
  // Longest wait for late ranks, on each level of the tree.
  virtual std::chrono::nanoseconds limit() const = 0;
  // Messages arrive whole, and in order between two ranks; at most 1 GiB each. False if it was not accepted within
  // `patience`, or cannot be sent.
  virtual bool send(std::string_view bytes, std::uint32_t destination, std::chrono::nanoseconds patience) = 0;
  // Empty if nothing arrived from that rank within `patience`, or nothing can arrive.
  virtual std::optional<std::string> receive(std::uint32_t from, std::chrono::nanoseconds patience) = 0;
};

// Time of a rank in N-to-N collectives, such as MPI_Barrier. The rank with the shortest time arrived last; the
// differences to it are the other ranks' waits. Clocks are not compared.
struct collective_calls {
  struct call {
    std::uint64_t group = 0;   // equal on all ranks of the group
    std::uint64_t number = 0;  // of the call in the group, from 0, equal on all ranks
    std::uint32_t ranks = 0;   // in the group
    std::uint64_t region = 0;  // id of the call's region; 0: unknown
    std::uint64_t time_ns = 0;
    bool is_loose = false;  // this rank sends nothing to, or receives nothing from, some rank: ranks may leave early
  };

  // With too many calls, one of `step` is kept. A hash selects them, equally on all ranks.
  static constexpr bool is_left_out(std::uint64_t group, std::uint64_t number, std::uint64_t step) noexcept {
    std::uint64_t mixed = (group ^ number * 0x9E3779B97F4A7C15U) * 0xD6E8FEB86659FD93U;
    mixed = (mixed ^ mixed >> 32U) * 0xD6E8FEB86659FD93U;
    return ((mixed ^ mixed >> 32U) & (step - 1)) != 0;
  }

  std::uint64_t step = 1;  // a power of two
  std::vector<call> calls;
};

struct merged_ranks {
  std::optional<profile> all;  // at rank 0: the merged profile
  bool is_delivered = false;   // this rank is part of the result, as far as is known
};

// Merges the profiles of all ranks; collective. Ranks without data are listed in the result (profile::about_ranks).
// Throws adaptyst::error if memory is short.
merged_ranks merge_ranks(const profile& own, rank_transport& over, const collective_calls& collective = {});

// A collector with one report for all ranks: rank 0 prints it and writes the files. Timelines and stacks are written
// per rank.
//
// If ranks fail to communicate, or exit() comes before stop(), each rank reports this. It then writes its own profile,
// with its rank in the file name. Nothing throws. One collector per process.
class rank_collector {
 public:
  explicit rank_collector(std::string_view options = {}) noexcept;
  explicit rank_collector(const options& options) noexcept;
  ~rank_collector();  // calls stop_local(), unless it is stopped
  rank_collector(const rank_collector&) = delete;
  rank_collector& operator=(const rank_collector&) = delete;

  // The profile of this rank up to now. Thread-safe.
  profile snapshot() const noexcept;

  // Stops and merges; collective. Returns the merged profile at rank 0, and a rank's own profile elsewhere. Further
  // calls return the same profile.
  profile stop(rank_transport& over, const collective_calls& collective = {}) noexcept;
  // Stops without the other ranks. `why` is printed on standard error.
  profile stop_local(std::string_view why) noexcept;

  // Why the collector does not run, or which tool collects instead; null if it runs.
  const adaptyst::error* error() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
