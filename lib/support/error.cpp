#include "error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "text.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

// A name such as "ENOENT"; glibc has a function for it since 2.32.
std::string error_name(int number) {
  if (number == lib::not_supported_by_kernel) return "ENOTSUPP";
#if __GLIBC_PREREQ(2, 32)
  if (const char* const name = strerrorname_np(number)) return name;
#endif
  return std::to_string(number);
}

std::string summary_from(const std::string& what, int number) {
  std::string sentence = lib::printable(what);
  if (number == 0) return sentence;
  const char* const reason = number == lib::not_supported_by_kernel ? "Not supported" : std::strerror(number);
  return fmt::format("{}: {} ({})", sentence, reason, error_name(number));
}

std::string compose(const std::string& what, int number, const std::string& hint) {
  const std::string summary = summary_from(what, number);
  return hint.empty() ? summary : summary + "\nhint: " + lib::printable(hint);
}

}  // namespace

error::error(const std::string& what, const std::string& subject, int number, const std::string& hint)
    : std::runtime_error(compose(what, number, hint)),
      summary_(summary_from(what, number)),
      subject_(subject),
      number_(number),
      hint_(lib::printable(hint)) {}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

error to_error(const std::exception& failed) {
  const auto* const ours = dynamic_cast<const error*>(&failed);
  return ours != nullptr ? *ours : error(failed.what(), 0, "");
}

void complain(const std::string& message) noexcept {
  std::string line = "adaptyst: ";
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    line += printable(message.substr(at, end - at)) + '\n';
    if (end == message.size()) break;
    line += "          ";
    at = end + 1;
  }
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace adaptyst::lib
