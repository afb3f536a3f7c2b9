// Writes and reads messages byte by byte: numbers of variable length, texts, a header. The reader checks everything,
// because the bytes come from another process.
#include "wire.hpp"

#include <fmt/format.h>

#include <cstring>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::string_view magic = "ADm1";  // "ADm", and the number of the layout

void append(std::string& text, std::uint64_t number) {
  char bytes[10];
  std::size_t count = 0;
  for (; number >= 0x80; number >>= 7U) bytes[count++] = static_cast<char>(number | 0x80U);
  bytes[count++] = static_cast<char>(number);
  text.append(bytes, count);
}

}  // namespace

void message_writer::grow(std::size_t bytes) { body_.resize(2 * body_.size() + bytes + 1024); }

void message_writer::put_whole(std::uint64_t number) {
  char bytes[8];
  for (unsigned byte = 0; byte != 8; ++byte) bytes[byte] = static_cast<char>(number >> 8 * byte);
  put_bytes(bytes, sizeof bytes);
}

void message_writer::put_bytes(const void* bytes, std::size_t count) {
  if (body_.size() - used_ < count) grow(count);
  std::memcpy(body_.data() + used_, bytes, count);
  used_ += count;
}

void message_writer::put_text(std::string_view text) {
  auto entry = places_.find(text);
  if (entry == places_.end()) entry = places_.emplace(texts_.emplace_back(text), places_.size()).first;
  put(entry->second);
}

std::string message_writer::finish(message_kind kind) {
  std::size_t bytes = used_ + 32;
  for (const std::string& text : texts_) bytes += text.size() + 8;
  std::string made(magic);
  made.reserve(bytes);
  made += static_cast<char>(kind);
  append(made, texts_.size());
  for (const std::string& text : texts_) {
    append(made, text.size());
    made += text;
  }
  return made.append(body_, 0, used_);
}

message_reader::message_reader(std::string_view message, message_kind kind) : all_(message) {
  if (message.substr(0, magic.size()) != magic) fail("is not of this version of adaptyst");
  at_ = magic.size();
  if (get_bytes(1)[0] != static_cast<char>(kind)) fail("is of another kind");
  const std::size_t count = get_count();
  texts_.reserve(count);
  for (std::size_t text = 0; text != count; ++text) texts_.push_back(get_bytes(get_count()));
}

std::uint64_t message_reader::get_long() {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (at_ == all_.size()) fail("ends in the middle");
    const auto byte = static_cast<unsigned char>(all_[at_++]);
    if (shift == 63 && byte > 1) fail("has a number of more than 64 bits");
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
}

std::uint64_t message_reader::get_whole() {
  const std::string_view bytes = get_bytes(8);
  std::uint64_t number = 0;
  for (unsigned byte = 0; byte != 8; ++byte)
    number |= std::uint64_t{static_cast<unsigned char>(bytes[byte])} << 8 * byte;
  return number;
}

std::string_view message_reader::get_bytes(std::size_t count) {
  if (count > all_.size() - at_) fail("ends in the middle");
  const std::string_view bytes = all_.substr(at_, count);
  at_ += count;
  return bytes;
}

std::string_view message_reader::get_text() {
  const std::uint64_t place = get();
  if (place >= texts_.size()) fail("refers to a text that it does not contain");
  return texts_[static_cast<std::size_t>(place)];
}

std::size_t message_reader::get_count() { return static_cast<std::size_t>(get(all_.size() - at_)); }

void message_reader::require_end() const {
  if (at_ != all_.size()) fail("continues after its end");
}

void message_reader::fail(const char* what) const {
  throw error(fmt::format("cannot merge: a message from another rank {} (byte {} of {})", what, at_, all_.size()), "",
              0, "run the same version of adaptyst on all ranks");
}

}  // namespace adaptyst::lib
