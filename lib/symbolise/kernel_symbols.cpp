#include "kernel_symbols.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "../support/never_destroyed.hpp"

namespace adaptyst::lib {

kernel_symbols::kernel_symbols(std::istream&& list) {
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    function symbol{};
    char kind = 0;
    if (!(words >> std::hex >> symbol.address >> kind >> symbol.name) || symbol.address == 0) continue;
    if (kind == 't' || kind == 'T' || kind == 'w' || kind == 'W') functions_.push_back(std::move(symbol));
  }
  std::stable_sort(functions_.begin(), functions_.end(),
                   [](const function& a, const function& b) { return a.address < b.address; });
}

const std::string& kernel_symbols::function_at(std::uint64_t address) const {
  static const auto& unknown = never_destroyed<std::string>({});
  const auto above =
      std::upper_bound(functions_.begin(), functions_.end(), address,
                       [](std::uint64_t wanted, const function& symbol) { return wanted < symbol.address; });
  return above != functions_.begin() ? std::prev(above)->name : unknown;
}

}  // namespace adaptyst::lib
