// The encoding of messages: numbers in as few bytes as possible, and each text once, in the order of first use. Read
// data comes from another process and may contain any bytes.
#ifndef ADAPTYST_LIB_MERGE_WIRE_HPP
#define ADAPTYST_LIB_MERGE_WIRE_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace adaptyst::lib {

constexpr std::uint64_t max_rank = std::numeric_limits<std::uint32_t>::max();

enum class message_kind : char { profile = 'p', plan = 'l', details = 'd', collective = 'j', variability = 'v' };

class message_writer {
 public:
  // Seven bits per byte, the lowest first.
  void put(std::uint64_t number) {
    constexpr std::size_t max_bytes = 10;
    if (body_.size() - used_ < max_bytes) grow(max_bytes);
    for (; number >= 0x80; number >>= 7U) body_[used_++] = static_cast<char>(number | 0x80U);
    body_[used_++] = static_cast<char>(number);
  }
  // Eight bytes, for numbers that use all 64 bits.
  void put_whole(std::uint64_t number);
  void put_bytes(const void* bytes, std::size_t count);
  void put_text(std::string_view text);

  // Includes the texts, which come first.
  std::string finish(message_kind kind);

 private:
  void grow(std::size_t bytes);

  std::string body_;  // only its beginning is used; a merge spends most of its time on it
  std::size_t used_ = 0;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint64_t> places_;
};

// Throws adaptyst::error if there are too few bytes, or invalid ones.
class message_reader {
 public:
  // Refers to the bytes of `message`.
  message_reader(std::string_view message, message_kind kind);

  std::uint64_t get() {
    if (at_ != all_.size() && static_cast<unsigned char>(all_[at_]) < 0x80)
      return static_cast<unsigned char>(all_[at_++]);  // most numbers have one byte
    return get_long();
  }
  // At most `max`.
  std::uint64_t get(std::uint64_t max) {
    const std::uint64_t number = get();
    if (number > max) fail("has a number that is too large");
    return number;
  }
  std::uint64_t get_whole();
  std::string_view get_bytes(std::size_t count);
  std::string_view get_text();
  // The number of elements that each need at least one byte.
  std::size_t get_count();
  void require_end() const;
  [[noreturn]] void fail(const char* what) const;

 private:
  std::uint64_t get_long();

  std::string_view all_;
  std::size_t at_ = 0;
  std::vector<std::string_view> texts_;
};

}  // namespace adaptyst::lib

#endif
