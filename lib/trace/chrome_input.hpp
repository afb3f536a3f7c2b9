// Reads the events of a Chrome trace one after the other, also from a gzip file: neither the text nor all events are in
// memory. Files of PyTorch's profiler (kineto) have this form, with further members that are read here.
//
// A text may contain any bytes. A surrogate without its other half becomes U+FFFD.
#ifndef ADAPTYST_LIB_TRACE_CHROME_INPUT_HPP
#define ADAPTYST_LIB_TRACE_CHROME_INPUT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// The members of an event as they are in the file. Numbers are texts, because a double is not exact to a nanosecond for
// times since 1970.
struct chrome_event {
  enum field { phase, name, category, process, thread, time, duration, id, fields };
  // Members of "args" by name.
  enum argument { correlation, device, stream, bytes, given_name, color, input_dims, arguments };
  struct number {
    std::string name, value;
  };

  std::uint64_t offset = 0;  // of its first byte, uncompressed
  std::array<std::string, fields> texts;
  bool is_local_id = false;
  bool is_of_kineto = false;  // members before it show that PyTorch's profiler wrote the file
  // Empty: absent. Arrays and objects are skipped, but "Input Dims" is "[8x3x64x64],[]".
  std::array<std::string, arguments> values;
  // All numbers in "args" of a counter (phase C): the first `used_numbers`.
  std::vector<number> numbers;
  std::size_t used_numbers = 0;

  // Empty: absent, or no number.
  std::optional<std::uint64_t> number_of(argument which) const;
};

// Members of the file other than events.
struct chrome_file {
  std::optional<std::int64_t> base_ns;  // the time of day at time 0
  std::optional<std::uint32_t> rank;
  std::map<std::uint32_t, std::string> devices;  // names by number
  bool is_kineto = false, is_simulated = false;
  std::string cut;  // why the file is incomplete, with the byte; empty: it is complete
};

// Whether a file, or the content of a gzip file, begins like JSON.
bool is_chrome_json(const std::string& file);

// Calls `take` for each event. Throws error if the file has no event.
chrome_file read_chrome_events(const std::string& file, const std::function<void(const chrome_event&)>& take);

// Decimal microseconds in ns, rounded once. Empty: no number, or beyond 73 years.
std::optional<std::int64_t> read_microseconds(std::string_view text);

}  // namespace adaptyst::lib

#endif
