#include "error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "text.hpp"

namespace adaptyst::lib {

namespace {

std::string compose(const std::string& what, int number, const std::string& hint) {
  std::string message = what;
  if (number != 0) {
    const char* const name = strerrorname_np(number);
    message += fmt::format(": {} ({})", std::strerror(number), name != nullptr ? name : std::to_string(number));
  }
  if (!hint.empty()) message += "\nhint: " + hint;
  return message;
}

}  // namespace

error::error(const std::string& what, int number, const std::string& hint)
    : std::runtime_error(compose(printable(what), number, printable(hint))), number_(number) {}

void print(const std::string& message) noexcept {
  std::string line = "adaptyst: ";
  for (const char c : message) {
    line += c;
    if (c == '\n') line += "          ";
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace adaptyst::lib
