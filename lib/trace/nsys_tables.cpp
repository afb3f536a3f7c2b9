#include "nsys_tables.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace adaptyst::lib::nsys {

std::string select(const sqlite_database& in, const std::string& table, std::initializer_list<const char*> wanted) {
  const std::vector<std::string> known = in.columns(table);
  std::string made = "SELECT ";
  bool is_first = true;
  for (std::string_view names : wanted) {
    std::string column = "NULL";
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find('|'));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      if (std::find(known.begin(), known.end(), name) == known.end()) continue;
      column = quoted_name(name);
      break;
    }
    if (!is_first) made += ", ";
    is_first = false;
    made += column;
  }
  return made + ", rowid FROM " + quoted_name(table);
}

const char* copy_kind(std::int64_t kind) {
  static constexpr std::array names = {"copy, kind unknown",     "copy host to device",
                                       "copy device to host",    "copy host to array",
                                       "copy array to host",     "copy array to array",
                                       "copy array to device",   "copy device to array",
                                       "copy device to device",  "copy host to host",
                                       "copy device to another", "unified memory to device",
                                       "unified memory to host", "unified memory, device to device"};
  return kind >= 0 && static_cast<std::size_t>(kind) < names.size() ? names[static_cast<std::size_t>(kind)] : names[0];
}

}  // namespace adaptyst::lib::nsys
