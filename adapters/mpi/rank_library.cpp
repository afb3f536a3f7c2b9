// libadaptyst-ranks-openmpi.so and -mpich.so: if a launcher has started the command `adaptyst` several times, the
// command loads one of these libraries. It is therefore linked with no MPI.
#include <adaptyst/mpi.hpp>
#include <chrono>
#include <new>

namespace {

adaptyst::mpi::transport* between_ranks = nullptr;

}  // namespace

// Null: MPI could not be initialised.
extern "C" __attribute__((visibility("default"))) adaptyst::rank_transport* adaptyst_begin_ranks() noexcept {
  int provided = 0;
  if (between_ranks != nullptr || MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return nullptr;
  // A rank may have much more to read than others. A lost rank is no reason to wait less: its launcher ends all ranks.
  constexpr std::chrono::seconds limit = std::chrono::hours(24);
  between_ranks = new (std::nothrow) adaptyst::mpi::transport(MPI_COMM_WORLD, limit);
  return between_ranks != nullptr && between_ranks->is_ready() ? between_ranks : nullptr;
}

// 0: all ranks call it. Otherwise, it ends the other ranks as well: they would wait for a lost rank for ever.
extern "C" __attribute__((visibility("default"))) void adaptyst_end_ranks(int status) noexcept {
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  delete between_ranks;
  between_ranks = nullptr;
  MPI_Finalize();
}
