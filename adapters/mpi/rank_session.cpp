// Collects in a rank from its start to MPI_Finalize, where the ranks make one report of all.
#include <adaptyst/adapter/rank_transport.hpp>
#include <adaptyst/mpi.hpp>
#include <new>

#include "calls.hpp"
#include "communicator.hpp"
#include "joint_calls.hpp"

using namespace adaptyst::mpi_calls;

namespace {

// Neither is ever destroyed: a library's destructors run when the program may still call MPI.
adaptyst::rank_collector* collecting = nullptr;
adaptyst::mpi::transport* between_ranks = nullptr;

void collect() noexcept {
  if (collecting == nullptr) collecting = new (std::nothrow) adaptyst::rank_collector();
}

bool is_mpi_there() noexcept {
#ifdef ADAPTYST_MPI_LINKED
  return true;
#else
  return dlsym(RTLD_NEXT, "PMPI_Init") != nullptr;
#endif
}

// A program that is linked with MPI collects from its start. One that loads it later, as Python does, from MPI_Init.
__attribute__((constructor)) void collect_from_start() noexcept {
  if (is_mpi_there()) collect();
}

void meet_ranks() noexcept {
  if (collecting == nullptr || between_ranks != nullptr) return;
  meet_node();
  between_ranks = new (std::nothrow) adaptyst::mpi::transport(MPI_COMM_WORLD);
}

void report() noexcept {
  if (collecting == nullptr) return;
  if (between_ranks == nullptr || !between_ranks->is_ready())
    collecting->stop_alone("MPI made no communicator for the report");
  else collecting->stop(*between_ranks, noted_joint_calls());
}

// Calls one of the two functions that begin MPI.
template <class Call>
int begin_mpi(const open_call& call, Call&& begin) {
  const int failed = begin();
  if (failed == MPI_SUCCESS && call.is_outermost()) meet_ranks();
  return failed;
}

}  // namespace

ADAPTYST_MPI_EXPORTED int MPI_Init(int* count, char*** arguments) {
  ADAPTYST_MPI_NEXT(Init);
  const open_call call;
  collect();
  return begin_mpi(call, [&] {
    if (!call.is_outermost()) return next.own(count, arguments);
    ADAPTYST_REGION("MPI_Init");
    return next.behind_us(count, arguments);
  });
}
ADAPTYST_MPI_OTHER_NAME(Init, (int* count, char*** arguments))

ADAPTYST_MPI_EXPORTED int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  ADAPTYST_MPI_NEXT(Init_thread);
  const open_call call;
  collect();
  return begin_mpi(call, [&] {
    if (!call.is_outermost()) return next.own(count, arguments, required, provided);
    ADAPTYST_REGION("MPI_Init_thread");
    return next.behind_us(count, arguments, required, provided);
  });
}
ADAPTYST_MPI_OTHER_NAME(Init_thread, (int* count, char*** arguments, int required, int* provided))

ADAPTYST_MPI_EXPORTED int MPI_Finalize() {
  ADAPTYST_MPI_NEXT(Finalize);
  const open_call call;
  if (!call.is_outermost()) return next.own();
  report();
  return next.behind_us();
}
ADAPTYST_MPI_OTHER_NAME(Finalize, ())

// The others are killed: what is known here is all that there will be.
ADAPTYST_MPI_EXPORTED int MPI_Abort(MPI_Comm communicator, int code) {
  ADAPTYST_MPI_NEXT(Abort);
  const open_call call;
  if (!call.is_outermost()) return next.own(communicator, code);
  if (collecting != nullptr) collecting->stop_alone("the program called MPI_Abort");
  return next.behind_us(communicator, code);
}
ADAPTYST_MPI_OTHER_NAME(Abort, (MPI_Comm communicator, int code))
