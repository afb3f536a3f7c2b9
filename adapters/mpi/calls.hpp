// Turns a call of MPI into a region. Each function of MPI has two names, MPI_… and PMPI_…; a tool defines MPI_… and
// calls PMPI_… in it.
#ifndef ADAPTYST_ADAPTERS_MPI_CALLS_HPP
#define ADAPTYST_ADAPTERS_MPI_CALLS_HPP

#include <dlfcn.h>
#include <mpi.h>

#include "collective_calls.hpp"
#include "message.hpp"
#include "weak_symbols.hpp"

namespace adaptyst::mpi_calls {

// Number of open calls of MPI on this thread. The library is loaded with the program, and not later by dlopen(), so the
// fast model of thread-local storage is allowed.
inline thread_local unsigned call_depth __attribute__((tls_model("initial-exec"))) = 0;

// Counts a call while it is open. Only the outermost becomes a region: MPI, or another tool, makes the inner ones.
class call_scope {
 public:
  call_scope() noexcept : is_outermost_(call_depth++ == 0) {}
  ~call_scope() { --call_depth; }
  call_scope(const call_scope&) = delete;
  call_scope& operator=(const call_scope&) = delete;

  bool is_outermost() const noexcept { return is_outermost_; }

 private:
  bool is_outermost_;
};

// The functions that a function of this library may call. `next_tool` is the next one of its name in the order in which
// libraries were loaded: another tool's, or MPI's; `in_pmpi` is MPI's own.
template <class Function>
struct next_functions {
  Function* next_tool;
  Function* in_pmpi;
};

// Whether MPI was loaded when this library was loaded. A program may load MPI later, as Python does: then the symbols
// of MPI that this library uses are missing, and calls are only passed on.
bool is_mpi_loaded() noexcept;

// MPI's function, from the library that the program has loaded; null if there is none.
void* find_in_mpi(const char* name) noexcept;

template <class Function>
next_functions<Function> find_next(const char* name, const char* name_in_mpi) noexcept {
  auto* const in_pmpi = reinterpret_cast<Function*>(find_in_mpi(name_in_mpi));
  auto* const next_tool = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return {next_tool != nullptr ? next_tool : in_pmpi, in_pmpi};
}

}  // namespace adaptyst::mpi_calls

#define ADAPTYST_MPI_EXPORTED extern "C" __attribute__((visibility("default")))

// ADAPTYST_MPI_LINKED: the program is linked with this library, and possibly with a static MPI. Then this library
// defines only MPI_…, and PMPI_… is MPI's. Otherwise, it is loaded before MPI and defines both, so that it receives
// calls of both.
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

// Defines MPI_`name`. `objects` declares objects that live as long as the call, such as its region.
#define ADAPTYST_MPI_FUNCTION(name, parameters, arguments, objects)                                     \
  ADAPTYST_MPI_EXPORTED int MPI_##name parameters {                                                     \
    ADAPTYST_MPI_NEXT(name);                                                                            \
    const ::adaptyst::mpi_calls::call_scope call;                                                       \
    if (!call.is_outermost() || !::adaptyst::mpi_calls::is_mpi_loaded()) return next.in_pmpi arguments; \
    objects;                                                                                            \
    return next.next_tool arguments;                                                                    \
  }                                                                                                     \
  ADAPTYST_MPI_OTHER_NAME(name, parameters)

// A call that becomes a region with `message` as its payload.
#define ADAPTYST_MPI_CALL(name, parameters, arguments, message) \
  ADAPTYST_MPI_FUNCTION(name, parameters, arguments, ADAPTYST_REGION("MPI_" #name, message))

// An N-to-N collective, which also needs the parameter `communicator`. `is_loose` is an expression: whether a rank may
// leave this call before all ranks arrive, since it has nothing to send or to receive.
#define ADAPTYST_MPI_COLLECTIVE_CALL(name, parameters, arguments, message, is_loose) \
  ADAPTYST_MPI_FUNCTION(                                                             \
      name, parameters, arguments, ADAPTYST_REGION("MPI_" #name, message);           \
      const ::adaptyst::mpi_calls::collective_call collective(communicator, [&] { return is_loose; }))

#endif
