// How messages are made up: numbers in as few bytes as they need, each text once, in the order in which they are first
// used. What is read comes from another process and may be anything.
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

enum class message_kind : char { profile = 'p', plan = 'l', details = 'd', joint = 'j', variability = 'v' };

class message_writer {
 public:
  // Seven bits a byte, the lowest first.
  void put(std::uint64_t number) {
    constexpr std::size_t max_bytes = 10;
    if (body_.size() - used_ < max_bytes) grow(max_bytes);
    for (; number >= 0x80; number >>= 7U) body_[used_++] = static_cast<char>(number | 0x80U);
    body_[used_++] = static_cast<char>(number);
  }
  // Eight bytes: of what is spread over all 64 bits.
  void put_whole(std::uint64_t number);
  void put_bytes(const void* bytes, std::size_t count);
  void put_text(std::string_view text);

  // With the texts, which stand first.
  std::string finish(message_kind kind);

 private:
  void grow(std::size_t bytes);

  std::string body_;  // of which the first bytes are used: most of the time of a merge goes by here
  std::size_t used_ = 0;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint64_t> places_;
};

// Throws adaptyst::error where there is less than was asked for, or what no writer has written.
class message_reader {
 public:
  // Refers to the bytes.
  message_reader(std::string_view message, message_kind kind);

  std::uint64_t get() {
    if (at_ != all_.size() && static_cast<unsigned char>(all_[at_]) < 0x80)
      return static_cast<unsigned char>(all_[at_++]);  // most are
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
  // A number of things of which each takes a byte or more.
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
