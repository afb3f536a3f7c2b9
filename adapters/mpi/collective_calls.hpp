// Measures the duration of N-to-N collectives on each rank: the rank with the shortest duration arrived last, and the
// others waited for it. docs/mpi.md
#ifndef ADAPTYST_ADAPTERS_MPI_COLLECTIVE_CALLS_HPP
#define ADAPTYST_ADAPTERS_MPI_COLLECTIVE_CALLS_HPP

#include <mpi.h>

#include <adaptyst/adapter/rank_transport.hpp>
#include <adaptyst/region.hpp>
#include <cstdint>

#include "communicator.hpp"

namespace adaptyst::mpi_calls {

// Whether a rank of the communicator has nothing to send or to receive, by these counts.
bool has_zero(const int* counts, MPI_Comm communicator) noexcept;

// One such call, while it is open. Also counted without an attached tool: all ranks must number the calls alike.
class collective_call {
 public:
  // `is_loose()` returns whether a rank may leave before all ranks arrive, since it has nothing to send or to receive.
  template <class Test>
  collective_call(MPI_Comm in, const Test& is_loose) noexcept {
    const std::uint64_t begin_ns = detail::is_enabled() ? detail::monotonic_ns() : 0;
    in_ = find_agreed_communicator(in);
    if (in_ == nullptr) return;
    number_ = in_->collective_calls.fetch_add(1, std::memory_order_relaxed);
    is_loose_ = begin_ns != 0 && is_loose();
    begin_ns_ = begin_ns;
  }
  ~collective_call() {
    if (begin_ns_ != 0) note(detail::monotonic_ns() - begin_ns_);
  }
  collective_call(const collective_call&) = delete;
  collective_call& operator=(const collective_call&) = delete;

 private:
  void note(std::uint64_t time_ns) const noexcept;

  communicator* in_ = nullptr;
  std::uint32_t number_ = 0;
  bool is_loose_ = false;
  std::uint64_t begin_ns_ = 0;
};

// The calls that this rank has noted: all calls or, if these were too many, one of two, of four, ….
collective_calls recorded_collectives();

}  // namespace adaptyst::mpi_calls

#endif
