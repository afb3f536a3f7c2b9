// How events are caught and summed while a collector runs.
#ifndef ADAPTYST_LIB_SESSION_ENGINE_HPP
#define ADAPTYST_LIB_SESSION_ENGINE_HPP

#include <cstdint>

#include <adaptyst/detail/process.hpp>
#include <memory>
#include <string>

#include "../profile/measured.hpp"
#include "../support/options.hpp"
#include "own_context.hpp"

namespace adaptyst::lib {

class engine {
 public:
  virtual ~engine() = default;

  virtual std::string name() const = 0;       // ebpf, inline
  virtual std::string mechanism() const = 0;  // for the report
  // What one region costs the program; known after start().
  virtual double region_cost_ns() const = 0;

  // Measures the program's part of that cost, with markers whose events belong to no collection: to be called when the
  // clock is calibrated and before the new epoch begins.
  virtual void calibrate() = 0;
  // Asks the kernel about threads as well: to be called before the new epoch begins. Throws error.
  virtual std::unique_ptr<own_context> ask_for_context(bool with_faults) = 0;
  // Begins to listen, in a new epoch.
  virtual void start() = 0;
  // An ELF object with markers has been loaded.
  virtual void adopt_objects() = 0;
  // All that has ended so far.
  virtual measured read() = 0;
  // Stops listening; the program is as it was before start().
  virtual void stop() = 0;
};

// Both throw error when the engine cannot work here.
std::unique_ptr<engine> make_inline_engine(detail::process& in);
std::unique_ptr<engine> make_ebpf_engine(detail::process& in, const options& asked);

}  // namespace adaptyst::lib

#endif
