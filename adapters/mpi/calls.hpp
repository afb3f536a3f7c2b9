// How a call of MPI becomes a region: the two names under which it is called, and what comes next.
#ifndef ADAPTYST_ADAPTERS_MPI_CALLS_HPP
#define ADAPTYST_ADAPTERS_MPI_CALLS_HPP

#include <dlfcn.h>
#include <mpi.h>

#include "joint_calls.hpp"
#include "message.hpp"
#include "weak_symbols.hpp"

namespace adaptyst::mpi_calls {

// How many calls of MPI are open on this thread. The library is there when the program starts, so the quick model of
// thread-local storage will do.
inline thread_local unsigned open_calls __attribute__((tls_model("initial-exec"))) = 0;

class open_call {
 public:
  open_call() noexcept : is_outermost_(open_calls++ == 0) {}
  ~open_call() { --open_calls; }
  open_call(const open_call&) = delete;
  open_call& operator=(const open_call&) = delete;

  bool is_outermost() const noexcept { return is_outermost_; }

 private:
  bool is_outermost_;
};

// What comes behind our function.
template <class Function>
struct next_functions {
  Function* behind_us;  // MPI's, or that of another tool
  Function* own;        // MPI's
};

// Whether MPI was there when this library was loaded. A program may load it later, as Python does: then what this library
// needs of it is missing, and calls are only passed on.
bool is_mpi_there() noexcept;

// MPI's function, wherever the program has it.
void* find_in_mpi(const char* name) noexcept;

template <class Function>
next_functions<Function> find_next(const char* name, const char* own_name) noexcept {
  auto* const own = reinterpret_cast<Function*>(find_in_mpi(own_name));
  auto* const behind_us = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return {behind_us != nullptr ? behind_us : own, own};
}

}  // namespace adaptyst::mpi_calls

#define ADAPTYST_MPI_EXPORTED extern "C" __attribute__((visibility("default")))

// ADAPTYST_MPI_LINKED: the program is linked with this library, and perhaps with a static MPI, which then has the one name
// only. Otherwise the library is loaded before MPI, and stands before both names.
#ifdef ADAPTYST_MPI_LINKED
#define ADAPTYST_MPI_NEXT(name) \
  constexpr ::adaptyst::mpi_calls::next_functions<decltype(MPI_##name)> next { &PMPI_##name, &PMPI_##name }
#define ADAPTYST_MPI_OTHER_NAME(name, parameters)
#else
#define ADAPTYST_MPI_NEXT(name) \
  static const auto next = ::adaptyst::mpi_calls::find_next<decltype(MPI_##name)>("MPI_" #name, "PMPI_" #name)
#define ADAPTYST_MPI_OTHER_NAME(name, parameters) \
  ADAPTYST_MPI_EXPORTED int PMPI_##name parameters __attribute__((alias("MPI_" #name)));
#endif

// `begun` begins what lasts as long as the call.
#define ADAPTYST_MPI_FUNCTION(name, parameters, arguments, begun)                                  \
  ADAPTYST_MPI_EXPORTED int MPI_##name parameters {                                                \
    ADAPTYST_MPI_NEXT(name);                                                                       \
    const ::adaptyst::mpi_calls::open_call call;                                                   \
    if (!call.is_outermost() || !::adaptyst::mpi_calls::is_mpi_there()) return next.own arguments; \
    begun;                                                                                         \
    return next.behind_us arguments;                                                               \
  }                                                                                                \
  ADAPTYST_MPI_OTHER_NAME(name, parameters)

#define ADAPTYST_MPI_CALL(name, parameters, arguments, message) \
  ADAPTYST_MPI_FUNCTION(name, parameters, arguments, ADAPTYST_REGION("MPI_" #name, message))

// One that no rank leaves before all have come, unless it `is_loose`.
#define ADAPTYST_MPI_JOINT_CALL(name, parameters, arguments, message, is_loose)              \
  ADAPTYST_MPI_FUNCTION(name, parameters, arguments, ADAPTYST_REGION("MPI_" #name, message); \
                        const ::adaptyst::mpi_calls::joint_call joint(communicator, [&] { return is_loose; }))

#endif
