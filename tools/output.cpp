#include "output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace adaptyst::tools {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void complain(const std::string& message) {
  std::string lines = "adaptyst: ";
  for (const char c : message) lines += c == '\n' ? "\n          " : std::string(1, c);
  lines += '\n';
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

void end_with(exit_status status) { throw CLI::RuntimeError(status); }

bool flushed() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  complain(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

void add_format(CLI::App& to, std::string& format) {
  to.add_option("--format", format, "What is printed: a table for people, or JSON")
      ->check(CLI::IsMember(std::vector<std::string>{"table", "json"}))
      ->capture_default_str();
}

}  // namespace adaptyst::tools
