// What the kernel knows of this process's threads.
#ifndef ADAPTYST_LIB_SESSION_OWN_CONTEXT_HPP
#define ADAPTYST_LIB_SESSION_OWN_CONTEXT_HPP

#include <memory>

#include "../profile/context.hpp"
#include "sampling.hpp"

namespace adaptyst::lib {

class own_context {
 public:
  virtual ~own_context() = default;

  // ELF objects with markers have been loaded; the first time, all that there are. Thread-safe.
  virtual void adopt_objects() = 0;
  virtual context_sums read() = 0;
  virtual int threads() const = 0;  // see context_probes
  // Reads the processor's counters as well from now on. Throws error where there are none.
  virtual void count() = 0;
  // Takes samples as well from now on. Throws error where it cannot work.
  virtual void sample(const options& asked) = 0;
  virtual sampling* samples() = 0;  // null: none are taken
};

// To be made before an epoch begins. `among`: see context_probes. Throws error where it cannot work.
class kernel_rows;
std::unique_ptr<own_context> make_own_context(bool with_faults, const kernel_rows* among);

}  // namespace adaptyst::lib

#endif
