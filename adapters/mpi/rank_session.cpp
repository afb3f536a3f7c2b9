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
#include "collective_calls.hpp"
#include "communicator.hpp"

using namespace adaptyst::mpi_calls;

namespace {

// Neither object is ever destroyed: a library's destructors run when the program may still call MPI.
adaptyst::rank_collector* collector = nullptr;
adaptyst::mpi::transport* world_transport = nullptr;

void start_collector() noexcept {
  if (collector == nullptr) collector = new (std::nothrow) adaptyst::rank_collector();
}

// An observer collects and reports: calls are then only regions, and ranks need not meet.
bool has_observer() noexcept { return std::getenv("ADAPTYST_OBSERVER") != nullptr; }

__attribute__((constructor)) void start_at_load() noexcept {
  if (!is_mpi_loaded()) return;
  if (!has_observer()) start_collector();
#ifndef ADAPTYST_MPI_LINKED
  adaptyst::adapters::end_inheritance();
#endif
}

void warn_about_late_mpi() noexcept {
  static std::atomic_flag is_reported = ATOMIC_FLAG_INIT;
  if (!is_reported.test_and_set())
    std::fputs(
        "adaptyst: this program has loaded MPI after its start; its calls are not observed, and nothing is collected\n"
        "hint: if the program is a Python script, write \"import mpi4py\" in this script, and use\n"
        "      adaptyst run --with mpi -- python3 SCRIPT; otherwise use --functions mpi, or a collector in the program\n",
        stderr);
}

// $ADAPTYST_MPI_LIMIT: limit of rank waits.
std::chrono::seconds read_limit() noexcept {
  const char* const value = std::getenv("ADAPTYST_MPI_LIMIT");
  if (value == nullptr || *value == '\0') return adaptyst::mpi::default_limit;
  char* end = nullptr;
  const long seconds = std::strtol(value, &end, 10);
  constexpr long max_seconds = 86'400;
  if (*end == '\0' && seconds >= 1 && seconds <= max_seconds) return std::chrono::seconds(seconds);
  std::fprintf(stderr, "adaptyst: ADAPTYST_MPI_LIMIT=%s: not a number of seconds from 1 to %ld; %ld is used\n", value,
               max_seconds, static_cast<long>(adaptyst::mpi::default_limit.count()));
  return adaptyst::mpi::default_limit;
}

// A duplicate of MPI_COMM_WORLD; MPI_COMM_NULL after the limit, for example if another rank lacks the library.
// `pending` then leaks: a duplication cannot be cancelled, and MPI may still write to it.
MPI_Comm duplicate_world(std::chrono::seconds limit) noexcept {
  auto* const pending = new (std::nothrow) MPI_Comm(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  if (pending == nullptr || PMPI_Comm_idup(MPI_COMM_WORLD, pending, &request) != MPI_SUCCESS) return MPI_COMM_NULL;
  const auto begin = std::chrono::steady_clock::now();
  int is_done = 0;
  for (int attempt = 0; is_done == 0; ++attempt) {
    if (PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        (is_done == 0 && std::chrono::steady_clock::now() - begin > limit))
      return MPI_COMM_NULL;
    if (attempt > 1000) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  const MPI_Comm duplicate = *pending;
  delete pending;
  return duplicate;
}

void connect_ranks() noexcept {
  if (collector == nullptr || world_transport != nullptr) return;
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
  find_node_ranks(duplicate);
  world_transport = new (std::nothrow) adaptyst::mpi::transport(adaptyst::mpi::owned_communicator{duplicate}, limit);
}

void report() noexcept {
  if (collector == nullptr) return;
  if (world_transport == nullptr || !world_transport->is_ready())
    collector->stop_local("the ranks did not come together at MPI_Init");
  else collector->stop(*world_transport, recorded_collectives());
}

// Initialises MPI (`begin`), then connects the ranks.
template <class Call>
int begin_mpi(const call_scope& call, Call&& begin) {
  if (!is_mpi_loaded() && !has_observer()) warn_about_late_mpi();
  const int status = begin();
  if (status == MPI_SUCCESS && call.is_outermost()) connect_ranks();
  return status;
}

}  // namespace

#ifdef ADAPTYST_MPI_LINKED
bool adaptyst::mpi_calls::is_mpi_loaded() noexcept { return true; }
#else
bool adaptyst::mpi_calls::is_mpi_loaded() noexcept {
  static const bool is_present = [] { return dlsym(RTLD_NEXT, "PMPI_Init") != nullptr; }();
  return is_present;
}

void* adaptyst::mpi_calls::find_in_mpi(const char* name) noexcept {
  if (void* const found = dlsym(RTLD_NEXT, name); found != nullptr) return found;
    // MPI's symbols may not be global, for example if a Python module has loaded MPI.
#ifdef OPEN_MPI
  constexpr const char* libraries[] = {"libmpi.so.40", "libmpi.so.20"};
#else
  constexpr const char* libraries[] = {"libmpich.so.12", "libmpi.so.12"};
#endif
  for (const char* const text : libraries)
    if (void* const library = dlopen(text, RTLD_LAZY | RTLD_NOLOAD); library != nullptr) return dlsym(library, name);
  return nullptr;
}
#endif

ADAPTYST_MPI_EXPORTED int MPI_Init(int* count, char*** arguments) {
  ADAPTYST_MPI_NEXT(Init);
  const call_scope call;
  return begin_mpi(call, [&] {
    if (!call.is_outermost() || !is_mpi_loaded()) return next.in_pmpi(count, arguments);
    ADAPTYST_REGION("MPI_Init");
    return next.next_tool(count, arguments);
  });
}
ADAPTYST_MPI_OTHER_NAME(Init, (int* count, char*** arguments))

ADAPTYST_MPI_EXPORTED int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  ADAPTYST_MPI_NEXT(Init_thread);
  const call_scope call;
  return begin_mpi(call, [&] {
    if (!call.is_outermost() || !is_mpi_loaded()) return next.in_pmpi(count, arguments, required, provided);
    ADAPTYST_REGION("MPI_Init_thread");
    return next.next_tool(count, arguments, required, provided);
  });
}
ADAPTYST_MPI_OTHER_NAME(Init_thread, (int* count, char*** arguments, int required, int* provided))

ADAPTYST_MPI_EXPORTED int MPI_Finalize() {
  ADAPTYST_MPI_NEXT(Finalize);
  const call_scope call;
  if (!call.is_outermost()) return next.in_pmpi();
  report();
  return next.next_tool();
}
ADAPTYST_MPI_OTHER_NAME(Finalize, ())

// MPI kills the other ranks: this rank reports alone.
ADAPTYST_MPI_EXPORTED int MPI_Abort(MPI_Comm communicator, int code) {
  ADAPTYST_MPI_NEXT(Abort);
  const call_scope call;
  if (!call.is_outermost()) return next.in_pmpi(communicator, code);
  if (collector != nullptr) collector->stop_local("the program called MPI_Abort");
  return next.next_tool(communicator, code);
}
ADAPTYST_MPI_OTHER_NAME(Abort, (MPI_Comm communicator, int code))
