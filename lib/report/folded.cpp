#include "stacks.hpp"

#include <algorithm>
#include <map>

namespace adaptyst::lib {

namespace {

// A name must not contain ";" or a line break. Readers take the text after the last space for the number.
void append(std::string& line, std::string_view name) {
  if (!line.empty()) line += ';';
  const std::size_t begin = line.size();
  line += name.empty() ? std::string_view("(no name)") : name;
  const auto breaks_line = [](char character) {
    return character == ';' || static_cast<unsigned char>(character) < ' ';
  };
  std::replace_if(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), breaks_line, '_');
}

}  // namespace

std::string_view to_label(thread_state state) {
  switch (state) {
    case thread_state::blocked: return "[blocked]";
    case thread_state::waiting: return "[waiting]";
    default: return "[on-cpu]";
  }
}

std::string to_folded(const std::vector<sampled_stack>& stacks) {
  std::map<std::string, std::uint64_t> lines;
  for (const sampled_stack& stack : stacks) {
    std::string line;
    append(line, stack.program);
    for (const std::string& name : stack.region) append(line, name);
    if (stack.region.empty()) append(line, "(outside)");
    append(line, to_label(stack.state));
    for (const std::string& name : stack.frames) append(line, name);
    lines[line] += stack.weight_ns;
  }
  std::string text;
  for (const auto& [line, weight_ns] : lines)
    if (const std::uint64_t weight_us = (weight_ns + 500) / 1000; weight_us != 0)
      text += line + ' ' + std::to_string(weight_us) + '\n';
  return text;
}

}  // namespace adaptyst::lib
