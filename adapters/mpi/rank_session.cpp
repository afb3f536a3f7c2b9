// Collects in a rank from its start to MPI_Finalize, where the ranks make one common report.
#include <adaptyst/adapter/rank_transport.hpp>
#include <adaptyst/mpi.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

#include "../inheritance.hpp"
#include "calls.hpp"
#include "communicator.hpp"
#include "joint_calls.hpp"

using namespace adaptyst::mpi_calls;

namespace {

// Neither object is ever destroyed: a library's destructors run when the program may still call MPI.
adaptyst::rank_collector* collecting = nullptr;
adaptyst::mpi::transport* between_ranks = nullptr;

void collect() noexcept {
  if (collecting == nullptr) collecting = new (std::nothrow) adaptyst::rank_collector();
}

// An observer collects and reports: calls are then only regions, and ranks need not meet.
bool has_observer() noexcept { return std::getenv("ADAPTYST_OBSERVER") != nullptr; }

__attribute__((constructor)) void collect_from_start() noexcept {
  if (!is_mpi_there()) return;
  if (!has_observer()) collect();
#ifndef ADAPTYST_MPI_LINKED
  adaptyst::adapters::end_inheritance();
#endif
}

void complain_about_late_mpi() noexcept {
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  if (!said.test_and_set())
    std::fputs(
        "adaptyst: this program has loaded MPI after its start; its calls are not observed, and nothing is collected\n",
        stderr);
}

// $ADAPTYST_MPI_LIMIT: limit of rank waits.
std::chrono::seconds read_limit() noexcept {
  const char* const value = std::getenv("ADAPTYST_MPI_LIMIT");
  if (value == nullptr || *value == '\0') return adaptyst::mpi::usual_limit;
  char* end = nullptr;
  const long seconds = std::strtol(value, &end, 10);
  constexpr long max_seconds = 86'400;
  if (*end == '\0' && seconds >= 1 && seconds <= max_seconds) return std::chrono::seconds(seconds);
  std::fprintf(stderr, "adaptyst: ADAPTYST_MPI_LIMIT=%s: not a number of seconds from 1 to %ld; %ld is used\n", value,
               max_seconds, static_cast<long>(adaptyst::mpi::usual_limit.count()));
  return adaptyst::mpi::usual_limit;
}

// A duplicate of MPI_COMM_WORLD; MPI_COMM_NULL after the limit, for example if another rank lacks the library.
// `made` then leaks: a duplication cannot be cancelled, and MPI may still write to it.
MPI_Comm duplicate_world(std::chrono::seconds limit) noexcept {
  auto* const made = new (std::nothrow) MPI_Comm(MPI_COMM_NULL);
  MPI_Request making = MPI_REQUEST_NULL;
  if (made == nullptr || PMPI_Comm_idup(MPI_COMM_WORLD, made, &making) != MPI_SUCCESS) return MPI_COMM_NULL;
  const auto begin = std::chrono::steady_clock::now();
  int is_made = 0;
  for (int attempt = 0; is_made == 0; ++attempt) {
    if (PMPI_Test(&making, &is_made, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        (is_made == 0 && std::chrono::steady_clock::now() - begin > limit))
      return MPI_COMM_NULL;
    if (attempt > 1000) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  const MPI_Comm duplicate = *made;
  delete made;
  return duplicate;
}

void meet_ranks() noexcept {
  if (collecting == nullptr || between_ranks != nullptr) return;
  const std::chrono::seconds limit = read_limit();
  const MPI_Comm duplicate = duplicate_world(limit);
  if (duplicate == MPI_COMM_NULL) {
    std::fprintf(
        stderr,
        "adaptyst: not all ranks of this job have called MPI_Init with this library within %ld s; start all of "
        "its programs with `adaptyst run --with mpi`\n",
        static_cast<long>(limit.count()));
    return;
  }
  meet_node(duplicate);
  between_ranks = new (std::nothrow) adaptyst::mpi::transport(adaptyst::mpi::own_communicator{duplicate}, limit);
}

void report() noexcept {
  if (collecting == nullptr) return;
  if (between_ranks == nullptr || !between_ranks->is_ready())
    collecting->stop_alone("the ranks did not come together at MPI_Init");
  else collecting->stop(*between_ranks, noted_joint_calls());
}

// Initialises MPI (`begin`), then connects the ranks.
template <class Call>
int begin_mpi(const open_call& call, Call&& begin) {
  if (!is_mpi_there() && !has_observer()) complain_about_late_mpi();
  const int failed = begin();
  if (failed == MPI_SUCCESS && call.is_outermost()) meet_ranks();
  return failed;
}

}  // namespace

#ifdef ADAPTYST_MPI_LINKED
bool adaptyst::mpi_calls::is_mpi_there() noexcept { return true; }
#else
bool adaptyst::mpi_calls::is_mpi_there() noexcept {
  static const bool is_there = [] { return dlsym(RTLD_NEXT, "PMPI_Init") != nullptr; }();
  return is_there;
}

void* adaptyst::mpi_calls::find_in_mpi(const char* name) noexcept {
  if (void* const found = dlsym(RTLD_NEXT, name); found != nullptr) return found;
    // MPI's symbols may not be global, for example if a Python module has loaded MPI.
#ifdef OPEN_MPI
  constexpr const char* libraries[] = {"libmpi.so.40", "libmpi.so.20"};
#else
  constexpr const char* libraries[] = {"libmpich.so.12", "libmpi.so.12"};
#endif
  for (const char* const one : libraries)
    if (void* const library = dlopen(one, RTLD_LAZY | RTLD_NOLOAD); library != nullptr) return dlsym(library, name);
  return nullptr;
}
#endif

ADAPTYST_MPI_EXPORTED int MPI_Init(int* count, char*** arguments) {
  ADAPTYST_MPI_NEXT(Init);
  const open_call call;
  return begin_mpi(call, [&] {
    if (!call.is_outermost() || !is_mpi_there()) return next.in_mpi(count, arguments);
    ADAPTYST_REGION("MPI_Init");
    return next.following(count, arguments);
  });
}
ADAPTYST_MPI_OTHER_NAME(Init, (int* count, char*** arguments))

ADAPTYST_MPI_EXPORTED int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  ADAPTYST_MPI_NEXT(Init_thread);
  const open_call call;
  return begin_mpi(call, [&] {
    if (!call.is_outermost() || !is_mpi_there()) return next.in_mpi(count, arguments, required, provided);
    ADAPTYST_REGION("MPI_Init_thread");
    return next.following(count, arguments, required, provided);
  });
}
ADAPTYST_MPI_OTHER_NAME(Init_thread, (int* count, char*** arguments, int required, int* provided))

ADAPTYST_MPI_EXPORTED int MPI_Finalize() {
  ADAPTYST_MPI_NEXT(Finalize);
  const open_call call;
  if (!call.is_outermost()) return next.in_mpi();
  report();
  return next.following();
}
ADAPTYST_MPI_OTHER_NAME(Finalize, ())

// MPI kills the other ranks: this rank reports alone.
ADAPTYST_MPI_EXPORTED int MPI_Abort(MPI_Comm communicator, int code) {
  ADAPTYST_MPI_NEXT(Abort);
  const open_call call;
  if (!call.is_outermost()) return next.in_mpi(communicator, code);
  if (collecting != nullptr) collecting->stop_alone("the program called MPI_Abort");
  return next.following(communicator, code);
}
ADAPTYST_MPI_OTHER_NAME(Abort, (MPI_Comm communicator, int code))
