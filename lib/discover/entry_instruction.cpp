#include "entry_instruction.hpp"

#include <cstring>

namespace adaptyst::lib {

namespace {

constexpr unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
constexpr unsigned char nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

bool begins_with(const unsigned char* code, std::size_t bytes, const unsigned char* what, std::size_t length) {
  return bytes >= length && std::memcmp(code, what, length) == 0;
}

entry_kind find_kind(const unsigned char* code, std::size_t bytes) {
  if (bytes == 0) return entry_kind::single_stepped;
  const auto is_push = [](unsigned char opcode) { return (opcode & 0xf8) == 0x50; };
  const unsigned char first = code[0];
  if (first == 0x90) return entry_kind::nop1;
  if (is_push(first)) return entry_kind::push;
  if (first == 0x41 && bytes >= 2 && is_push(code[1])) return entry_kind::push;              // r8 to r15
  if (first == 0xeb && bytes >= 2) return entry_kind::emulated;                              // jmp, 8 bits
  if ((first == 0xe9 || first == 0xe8) && bytes >= 5) return entry_kind::emulated;           // jmp, call
  if ((first & 0xf0) == 0x70 && bytes >= 2) return entry_kind::emulated;                     // jcc, 8 bits
  if (first == 0x0f && bytes >= 6 && (code[1] & 0xf0) == 0x80) return entry_kind::emulated;  // jcc
  return entry_kind::single_stepped;
}

}  // namespace

entry_instruction find_entry_instruction(const unsigned char* code, std::size_t bytes) {
  std::uint32_t at = begins_with(code, bytes, endbr64, sizeof endbr64) ? sizeof endbr64 : 0;
  const bool is_patchable = begins_with(code + at, bytes - at, nop5, sizeof nop5);
  if (is_patchable) at += sizeof nop5;
  const entry_kind kind = find_kind(code + at, bytes - at);
  if (kind == entry_kind::single_stepped && !is_patchable) return {};
  return {kind, at};
}

}  // namespace adaptyst::lib
