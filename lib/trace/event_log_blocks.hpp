// Splits an event log into blocks and compares their checksums, and splits a block into records within its limits.
#ifndef ADAPTYST_LIB_TRACE_EVENT_LOG_BLOCKS_HPP
#define ADAPTYST_LIB_TRACE_EVENT_LOG_BLOCKS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../model/traced_event.hpp"
#include "../support/regular_file.hpp"
#include "event_log_format.hpp"

namespace adaptyst::lib {

[[noreturn]] void throw_damaged(const std::string& file, std::uint64_t offset, std::string_view what);

class event_log_blocks {
 public:
  static bool is_event_log(const std::string& file);

  // Throws error if the file is no event log, or of a later version.
  explicit event_log_blocks(const std::string& file);

  const std::string& file() const noexcept { return name_; }
  std::uint64_t version() const noexcept { return version_; }
  std::uint64_t first() const noexcept { return first_; }

  struct head {
    std::uint64_t offset = 0;  // of the head
    std::uint32_t bytes = 0, checksum = 0;
    bool has_names = false;
    std::uint64_t body() const noexcept { return offset + sizeof(log_block_head); }
    std::uint64_t next() const noexcept { return body() + bytes; }
  };
  // Empty: the file ends there, or within the block. Throws error.
  std::optional<head> find(std::uint64_t offset);
  // Valid until the next call. Throws error.
  std::string_view read(const head& block);

 private:
  const char* at(std::uint64_t offset, std::size_t bytes);

  std::string name_;
  regular_file file_;
  std::uint64_t version_ = 0, first_ = 0;
  std::vector<char> buffer_;
  std::uint64_t from_ = 0;  // the part of the file that is in the buffer
  std::size_t size_ = 0;
};

// An event in the form of the log.
struct logged_event {
  traced_as as = traced_as::instant_event;
  std::int64_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t site = 0;
  std::uint64_t begin_ns = 0, duration_ns = 0, submitted_ns = 0;
  std::uint64_t queue = 0, correlation = 0, bytes = 0;
  double value = 0;
};

// Whether a record with this first byte is an event or the place of events.
inline bool is_event_or_place(std::uint8_t first) noexcept {
  return first >= static_cast<std::uint8_t>(log_record::span) || first == static_cast<std::uint8_t>(log_record::place);
}

// Reads a block. Throws error if a record is invalid.
class event_log_cursor {
 public:
  event_log_cursor(const std::string& file, const event_log_blocks::head& of, std::string_view records)
      : file_(file), offset_(of.body()), all_(records), at_(records.data()), end_(records.data() + records.size()) {}

  bool is_at_end() const noexcept { return at_ == end_; }
  std::uint64_t offset() const noexcept { return offset_ + static_cast<std::uint64_t>(at_ - all_.data()); }

  std::uint8_t byte();
  std::uint64_t number();
  std::uint32_t small_number();
  std::string text();
  double real();
  // Skips the rest of a record that names something.
  void skip(log_record what);

  // `first`: the byte that was already read. False: a place for the following events.
  bool read_event(std::uint8_t first, std::uint64_t sites, logged_event& to);

  [[noreturn]] void damaged(std::string_view what) const { throw_damaged(file_, offset(), what); }

 private:
  std::uint64_t long_number(std::uint8_t first);

  const std::string& file_;
  std::uint64_t offset_;
  std::string_view all_;
  const char* at_;
  const char* end_;
  bool has_place_ = false;
  std::int64_t process_ = 0;
  std::uint32_t thread_ = 0;
  std::uint64_t begin_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
