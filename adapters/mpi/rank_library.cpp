// libadaptyst-ranks-openmpi.so and -mpich.so: if an MPI launcher has started the command `adaptyst` as several ranks,
// the command loads one of them. The command itself links no MPI. One is also preloaded into Python, which would load
// MPI after its start.
#include <adaptyst/mpi.hpp>
#include <chrono>
#include <new>
#include <thread>

#include "../inheritance.hpp"

namespace {

__attribute__((constructor)) void end_at_load() noexcept { adaptyst::adapters::end_inheritance(); }

adaptyst::mpi::transport* world_transport = nullptr;

}  // namespace

// Null: failure or a second call.
extern "C" __attribute__((visibility("default"))) adaptyst::rank_transport* adaptyst_begin_ranks() noexcept {
  int provided = 0;
  if (world_transport != nullptr || MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return nullptr;
  // Long, since one rank may have much more to read than others. If a rank is lost, its launcher ends all ranks.
  constexpr std::chrono::seconds limit = std::chrono::hours(24);
  world_transport = new (std::nothrow) adaptyst::mpi::transport(MPI_COMM_WORLD, limit);
  return world_transport != nullptr && world_transport->is_ready() ? world_transport : nullptr;
}

// `status` 0: collective. Otherwise, aborts all ranks, since they would wait for this rank for ever.
extern "C" __attribute__((visibility("default"))) void adaptyst_end_ranks(int status) noexcept {
  if (status != 0) {
    // MPICH's launcher drops what a rank has written just before, and on a busy machine the message was missing.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  delete world_transport;
  world_transport = nullptr;
  MPI_Finalize();
}
