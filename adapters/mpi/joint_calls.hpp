// How long each call lasted that no rank leaves before all have come: the rank with the shortest one came last, and the
// others waited for it. docs/mpi.md
#ifndef ADAPTYST_ADAPTERS_MPI_JOINT_CALLS_HPP
#define ADAPTYST_ADAPTERS_MPI_JOINT_CALLS_HPP

#include <mpi.h>

#include <adaptyst/adapter/rank_transport.hpp>
#include <adaptyst/region.hpp>
#include <cstdint>

#include "communicator.hpp"

namespace adaptyst::mpi_calls {

// One such call, as long as it lasts. It is counted while nothing listens, too: all ranks must number them alike.
class joint_call {
 public:
  explicit joint_call(MPI_Comm in) noexcept : in_(find_communicator(in)) {
    if (in_ == nullptr) return;
    number_ = in_->joint_calls.fetch_add(1, std::memory_order_relaxed);
    begin_ns_ = detail::is_awake() ? detail::monotonic_ns() : 0;
  }
  ~joint_call() {
    if (begin_ns_ != 0) note(detail::monotonic_ns() - begin_ns_);
  }
  joint_call(const joint_call&) = delete;
  joint_call& operator=(const joint_call&) = delete;

 private:
  void note(std::uint64_t time_ns) const noexcept;

  communicator* in_;
  std::uint32_t number_ = 0;
  std::uint64_t begin_ns_ = 0;
};

// What this rank has noted: all calls, or where these were too many, every second, fourth, … of each communicator.
joint_calls noted_joint_calls();

}  // namespace adaptyst::mpi_calls

#endif
