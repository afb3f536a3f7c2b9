// Several traces as one: the same devices have the same numbers, and times count from the begin of the first.
#ifndef ADAPTYST_LIB_DISTRIBUTE_TRACE_SET_HPP
#define ADAPTYST_LIB_DISTRIBUTE_TRACE_SET_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

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

  bool is_simulated() const;
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  struct one {
    std::unique_ptr<trace_input> in;
    std::int64_t shift_ns = 0;
    std::map<std::uint32_t, std::uint32_t> devices;  // those with another number
  };
  void require_different() const;
  void align();
  void number_devices();

  std::vector<one> all_;
  std::vector<std::string> remarks_;
};

}  // namespace adaptyst::lib

#endif
