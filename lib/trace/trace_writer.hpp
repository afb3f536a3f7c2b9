// The output for events of a trace: a file for viewers, or a trace store.
//
// A *site* is a name with its kind, its device and the call path around it. An *event* at a site is a span of time on a
// thread or device queue, a number, or an instant (traced_event.hpp). The submission of an operation is a message from
// a thread to a queue. All times are ns.
#ifndef ADAPTYST_LIB_TRACE_TRACE_WRITER_HPP
#define ADAPTYST_LIB_TRACE_TRACE_WRITER_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../model/traced_event.hpp"

namespace adaptyst::lib {

struct traced_process {
  std::string name;
  std::int64_t number = 0;            // on its machine; not unique across machines
  std::string host;                   // empty: unknown
  std::optional<std::uint32_t> rank;  // if a launcher assigned it
};

// "solver, rank 3 on node1", as far as known.
inline std::string to_text(const traced_process& what) {
  std::string made = what.name;
  if (what.rank) made += ", rank " + std::to_string(*what.rank);
  if (!what.host.empty()) made += " on " + what.host;
  return made;
}

struct traced_device {
  std::string name;
  std::uint32_t physical = 0;  // number on the machine, which may differ from the process's number
  std::string uuid;            // empty: unknown
};

// Makes the readable name of a marker; called once for each.
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
  // A device of a process, by the process's number; call it before the device's first operation.
  virtual void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) = 0;
  virtual bool knows_device(std::int64_t process, std::uint32_t device) const = 0;

  // Whether scopes of a thread must come sorted by begin or by end, the longer first; call it before reading.
  virtual bool needs_order() const noexcept { return false; }
  // Sites are identified by address: each must live until finish().
  virtual void add(std::int64_t process, const traced_event& event) = 0;
  // Events of a process that are missing in the trace, and the reason.
  virtual void add_loss(std::int64_t /*process*/, const std::string& /*reason*/, std::uint64_t /*events*/) {}

  // The approximate size of the file with all events so far; 0: unknown.
  virtual std::uint64_t bytes() const noexcept { return 0; }

  // Events that are missing in the file because a write failed.
  virtual std::uint64_t lost() const noexcept = 0;
  virtual std::uint64_t unchanged() const noexcept { return 0; }
  // Texts about what the format cannot hold, with counts; each follows the name of the file.
  virtual std::vector<std::string> remarks() const {
    if (lost() == 0) return {};
    return {"lacks " + std::to_string(lost()) + " values of metrics: the format cannot represent them"};
  }

  // Throws error if a write has failed since the last call; after that, nothing more is written.
  virtual void flush() = 0;
  // Call it after the last event. Throws error.
  virtual void finish() = 0;
};

}  // namespace adaptyst::lib

#endif
