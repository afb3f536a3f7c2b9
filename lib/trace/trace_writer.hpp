// Where the events of a trace go: a file for viewers, or our own store.
//
// The model is small. A *site* is a name with its kind, its device and the call path around it; an *event* is a span of
// time at a site, on a thread or on a queue of a device, or a number, or an instant (traced_event.hpp). That an operation
// was submitted is a message from a thread to a queue. All times are ns.
#ifndef ADAPTYST_LIB_TRACE_TRACE_WRITER_HPP
#define ADAPTYST_LIB_TRACE_TRACE_WRITER_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "../model/traced_event.hpp"

namespace adaptyst::lib {

struct traced_process {
  std::string name;
  std::int64_t number = 0;            // in its system; by it alone processes of several machines are not told apart
  std::string host;                   // empty: not known
  std::optional<std::uint32_t> rank;  // where a launcher numbered it
};

// "solver, rank 3 on node1", as far as it is known.
inline std::string to_text(const traced_process& what) {
  std::string made = what.name;
  if (what.rank) made += ", rank " + std::to_string(*what.rank);
  if (!what.host.empty()) made += " on " + what.host;
  return made;
}

struct traced_device {
  std::string name;
  std::uint32_t physical = 0;  // its number on the machine, which need not be the process's own
  std::string uuid;            // empty: not known
};

// What a marker's name is for people, asked once for each.
using name_speller = std::function<std::string(const std::string&)>;

class trace_writer {
 public:
  trace_writer() = default;
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;
  virtual ~trace_writer() = default;

  virtual void name_process(std::int64_t process, const traced_process& what) = 0;
  virtual void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) = 0;
  virtual bool knows_thread(std::int64_t process, std::uint32_t thread) const = 0;
  // A device of a process, by its number there; before its first operation.
  virtual void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) = 0;
  virtual bool knows_device(std::int64_t process, std::uint32_t device) const = 0;

  // Whether scopes of a thread have to come by their begins, or by their ends, and the longer first: to be asked before a
  // reader puts them in order.
  virtual bool needs_order() const noexcept { return false; }
  // Sites are known by their addresses: each must live until finish().
  virtual void add(std::int64_t process, const traced_event& event) = 0;
  // Events of a process that are in no trace, and why.
  virtual void add_loss(std::int64_t /*process*/, const std::string& /*reason*/, std::uint64_t /*events*/) {}

  // The size of the file with all that was added, roughly; 0: not known.
  virtual std::uint64_t bytes() const noexcept { return 0; }

  // Events that did not reach the file because it could not be written.
  virtual std::uint64_t lost() const noexcept = 0;
  virtual std::uint64_t unchanged() const noexcept { return 0; }

  // Throws error if something since the last call could not be written; after that, nothing more is written.
  virtual void flush() = 0;
  // Nothing more comes. Throws error.
  virtual void finish() = 0;
};

}  // namespace adaptyst::lib

#endif
