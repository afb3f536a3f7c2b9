// Several traces as one: the same devices have the same numbers, processes of different machines different ones, and times
// count from the begin of the first.
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
  // The same on all ranks. Throws error: where one cannot be read, or is there twice.
  explicit trace_set(const std::vector<std::string>& files);

  std::size_t size() const noexcept { return all_.size(); }
  trace_input& trace(std::size_t number) const { return *all_[number].in; }
  // What is added to its times.
  std::int64_t shift_ns(std::size_t number) const { return all_[number].shift_ns; }
  // The number that a device of one trace has among those of all.
  std::uint32_t device(std::size_t number, std::uint32_t physical) const;
  // The group that what a process did belongs to: its rank, where ranks tell processes apart, else itself.
  std::uint32_t group_of_process(std::size_t number, std::uint32_t process) const;
  variability_group describe_group(std::uint32_t group) const;

  // When time 0 was; nothing: not known.
  std::optional<std::int64_t> utc_ns() const;
  // All events of all of them; returns how many there are. Throws error.
  std::uint64_t read(trace_writer& to, bad_rows& bad) const;
  // What of the events that were read has no sure place in a call path, for people, by trace.
  std::vector<std::string> without_place() const;

  bool is_simulated() const;
  bool is_complete() const;
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  struct one {
    std::unique_ptr<trace_input> in;
    std::int64_t shift_ns = 0;
    std::map<std::uint32_t, std::uint32_t> devices;  // those with another number
    std::map<std::int64_t, traced_process> processes;
  };
  void require_different() const;
  void align();
  void number_devices();
  void find_ranks();

  std::vector<one> all_;
  bool has_ranks_ = true;
  bool is_aligned_ = false;  // by the machines' clocks
  std::vector<std::string> remarks_;
};

}  // namespace adaptyst::lib

#endif
