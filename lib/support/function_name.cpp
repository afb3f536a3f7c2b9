#include "function_name.hpp"

#include <algorithm>
#include <cstring>

namespace adaptyst::lib {

namespace {

// The beginning of the bracket that ends at `last`.
std::size_t bracket_before(std::string_view text, std::size_t last) {
  int depth = 0;
  for (std::size_t at = last + 1; at-- != 0;) {
    if (std::strchr(")>}]", text[at]) != nullptr) ++depth;
    if (std::strchr("(<{[", text[at]) != nullptr && --depth == 0) return at;
  }
  return 0;
}

}  // namespace

std::string without_arguments(std::string_view function) {
  const std::size_t clone = std::min(function.find(" [clone"), function.size());
  const std::string_view rest = function.substr(clone);
  std::string_view name = function.substr(0, clone);
  const std::size_t arguments = name.rfind(')');
  if (arguments == std::string_view::npos || name.find("operator") != std::string_view::npos)
    return std::string(function);
  name = name.substr(0, bracket_before(name, arguments));
  if (!name.empty() && name.back() == '>') name = name.substr(0, bracket_before(name, name.size() - 1));
  // Finds the return type.
  for (std::size_t at = name.size(); at-- != 0;) {
    if (std::strchr(")>}]", name[at]) != nullptr) at = bracket_before(name, at);
    else if (name[at] == ' ') name.remove_prefix(at + 1), at = 0;
    if (at == 0) break;
  }
  return std::string(name) + std::string(rest);
}

std::string without_abi_tags(std::string_view function) {
  std::string made;
  for (std::size_t at = 0; at != function.size();) {
    const std::size_t tag = std::min(function.find("[abi:", at), function.size());
    made += function.substr(at, tag - at);
    const std::size_t end = function.find(']', tag);
    at = end != std::string_view::npos ? end + 1 : function.size();
  }
  return made;
}

}  // namespace adaptyst::lib
