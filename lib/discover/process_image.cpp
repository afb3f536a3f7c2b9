#include "process_image.hpp"

#include <fmt/format.h>

#include <fstream>

namespace adaptyst::lib {

std::string image_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(status, text);
  constexpr int before_code = 24;  // of the fields behind the name, in proc(5)
  std::size_t at = text.rfind(')');
  for (int field = 0; field != before_code && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return {};
  const std::size_t end = text.find(' ', text.find(' ', text.find(' ', at + 1) + 1) + 1);
  return text.substr(at, end - at);
}

}  // namespace adaptyst::lib
