// libadaptyst-ranks-openmpi.so and -mpich.so: what the command `adaptyst` loads where a launcher has started several of it,
// so that it need not be linked with any MPI.
#include <adaptyst/mpi.hpp>
#include <chrono>
#include <new>

namespace {

adaptyst::mpi::transport* between_ranks = nullptr;

}  // namespace

// Null: MPI could not begin.
extern "C" __attribute__((visibility("default"))) adaptyst::rank_transport* adaptyst_begin_ranks() noexcept {
  int provided = 0;
  if (between_ranks != nullptr || MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return nullptr;
  // A rank may have much more to read than others. One that is lost need not be waited for: its launcher ends them all.
  constexpr std::chrono::seconds limit = std::chrono::hours(24);
  between_ranks = new (std::nothrow) adaptyst::mpi::transport(MPI_COMM_WORLD, limit);
  return between_ranks != nullptr && between_ranks->is_ready() ? between_ranks : nullptr;
}

// 0: all ranks come here. Otherwise the others are ended as well: one that is lost would be waited for, for ever.
extern "C" __attribute__((visibility("default"))) void adaptyst_end_ranks(int status) noexcept {
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  delete between_ranks;
  between_ranks = nullptr;
  MPI_Finalize();
}
