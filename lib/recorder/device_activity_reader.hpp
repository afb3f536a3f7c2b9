// Reads a process's device activity buffer while its threads write it, and sweeps the remaining entries in a copy.
#ifndef ADAPTYST_LIB_RECORDER_DEVICE_ACTIVITY_READER_HPP
#define ADAPTYST_LIB_RECORDER_DEVICE_ACTIVITY_READER_HPP

#include <adaptyst/detail/process.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

struct device_activity {
  std::vector<detail::device_entry> devices;    // in the order of their numbers
  std::unique_ptr<detail::activity_sums> sums;  // null: nothing has been booked
  std::uint64_t skipped = 0;                    // entries that could not be booked
};

// Everything that has been booked for the collector of this epoch, up to now.
device_activity read_device_activity(const process_state& state, std::uint64_t epoch, std::uint64_t now_ns);

// A device of the process, by its number there, with a terminated name.
std::optional<detail::device_entry> read_device(const process_state& state, std::uint32_t number);

}  // namespace adaptyst::lib

#endif
