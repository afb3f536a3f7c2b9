#include "function_request.hpp"

#include <algorithm>
#include <string_view>

#include "../support/error.hpp"
#include "elf_symbols.hpp"

namespace adaptyst::lib {

namespace {

std::string_view base_name(std::string_view file) { return file.substr(file.rfind('/') + 1); }

// "libmpi" for "/usr/lib/libmpi.so.40.30.4" and for "libmpi_cxx.so.40"; empty: not a library.
std::string_view find_family(std::string_view file) {
  const std::string_view name = base_name(file);
  if (name.find(".so") == std::string_view::npos) return {};
  std::string_view family = name.substr(0, name.find_first_of("._-"));
  for (const std::string_view binding : {"fort", "cxx"})  // MPICH writes both without a separator: libmpifort.so
    if (family.size() > binding.size() && family.substr(family.size() - binding.size()) == binding)
      family.remove_suffix(binding.size());
  return family;
}

}  // namespace

std::set<std::string> imported_functions(const std::vector<std::string>& files, const std::set<std::string>& wanted,
                                         const std::set<std::string>& from) {
  const auto is_provider = [&](std::string_view file) {
    return std::any_of(from.begin(), from.end(), [&](const std::string& text) {
      const std::string_view family = find_family(text);
      return !family.empty() && find_family(file) == family;
    });
  };
  std::set<std::string> found;
  for (const std::string& file : files) {
    if (is_provider(file)) continue;
    try {
      const elf_symbols in(file);
      for (const elf_symbol& symbol : in.all())
        if (symbol.is_imported && wanted.count(symbol.name) != 0) found.insert(symbol.name);
    } catch (const error&) {  // mapped data, or a removed file
    }
  }
  return found;
}

}  // namespace adaptyst::lib
