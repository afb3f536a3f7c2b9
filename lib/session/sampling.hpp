// Samples from the kernel to the files of flame graphs: takes them, gives regions their share, and writes the stacks.
//
//   sampling->look_at(pid);                  while the process lives, so that its stacks can be named
//   sampling->read();                        before the regions' rows
//   sampling->add_to(rows);                  after their context
//   sampling->write(asked);                  at the end
#ifndef ADAPTYST_LIB_SESSION_SAMPLING_HPP
#define ADAPTYST_LIB_SESSION_SAMPLING_HPP

#include <sys/types.h>

#include <memory>
#include <string>

#include "../kernel/audience.hpp"
#include "../profile/measured.hpp"
#include "../support/options.hpp"

namespace adaptyst::lib {

class context_probes;

class sampling {
 public:
  virtual ~sampling() = default;

  // Of a process that is new, or may have loaded something.
  virtual void look_at(pid_t process) = 0;
  virtual void call(pid_t process, const std::string& command) = 0;
  virtual void read() = 0;
  virtual void add_to(measured& rows) = 0;
  virtual sample_usage usage() const = 0;
  // The files of stacks that were asked for. Complains of one that cannot be written, and of what could not be named.
  virtual void write(const options& asked) = 0;
};

// Where the collector can use eBPF; `of` must outlive it. Throws error.
std::unique_ptr<sampling> make_sampling(const options& asked, const context_probes& of, audience whose);

}  // namespace adaptyst::lib

#endif
