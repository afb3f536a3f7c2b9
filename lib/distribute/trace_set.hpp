// Combines several traces: equal devices have equal numbers, processes of different machines have different numbers,
// and times count from the first begin.
#ifndef ADAPTYST_LIB_DISTRIBUTE_TRACE_SET_HPP
#define ADAPTYST_LIB_DISTRIBUTE_TRACE_SET_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../analyse/variability/variability.hpp"
#include "../trace/trace_input.hpp"

namespace adaptyst::lib {

class trace_set {
 public:
  // The same on all ranks. Throws error if a trace cannot be read, or is given twice.
  explicit trace_set(const std::vector<std::string>& files);

  std::size_t size() const noexcept { return all_.size(); }
  trace_input& trace(std::size_t number) const { return *all_[number].in; }
  // The offset that is added to the trace's times.
  std::int64_t shift_ns(std::size_t number) const { return all_[number].shift_ns; }
  // The common number of a device of one trace.
  std::uint32_t device(std::size_t number, std::uint32_t physical) const;
  // The group of a process: its rank if ranks identify processes, otherwise the process.
  std::uint32_t group_of_process(std::size_t number, std::uint32_t process) const;
  variability_group describe_group(std::uint32_t group) const;
  // The UUIDs of devices by common number, of devices with a UUID.
  std::map<std::uint32_t, std::string> uuids() const;
  // The ranks of devices that only one rank uses, by common number.
  std::map<std::uint32_t, std::uint32_t> user_ranks() const;

  // The time of day at time 0; empty: unknown.
  std::optional<std::int64_t> utc_ns() const;
  // Writes all events of all traces; returns their number. Throws error.
  std::uint64_t read(trace_writer& to, bad_rows& bad) const;
  // The events without a certain place in a call path, as text for each trace.
  std::vector<std::string> without_place() const;

  bool is_simulated() const;
  bool is_complete() const;
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  struct opened_trace {
    std::unique_ptr<trace_input> in;
    std::int64_t shift_ns = 0;
    std::map<std::uint32_t, std::uint32_t> devices;  // devices with a different common number
    std::map<std::int64_t, traced_process> processes;
  };
  void require_different() const;
  void align();
  bool align_by_machine();
  void number_devices();
  void find_ranks();

  std::vector<opened_trace> all_;
  bool has_ranks_ = true;
  bool is_aligned_ = false;  // by the clocks of the machines
  std::vector<std::string> remarks_;
};

}  // namespace adaptyst::lib

#endif
