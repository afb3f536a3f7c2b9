// function_list FILE PATTERN [clones]: what the search finds, a line each, for a script to compare.
#include <cstdio>
#include <cstring>

#include "discover/elf_functions.hpp"
#include "support/error.hpp"

int main(int count, char** arguments) {
  using namespace adaptyst::lib;
  if (count < 3) return 2;
  static const char* const kinds[] = {"nop1", "push", "emulated", "single_stepped"};
  try {
    const bool with_clones = count > 3 && std::strcmp(arguments[3], "clones") == 0;
    const auto places =
        find_functions(arguments[1], arguments[2], with_clones ? clones::with_their_function : clones::as_spelled);
    for (const function_place& place : places) {
      std::printf("%s\t%s\t%s\t%llx\t%llx\t%u\t%s\t%s\t", place.symbol.c_str(), place.version.c_str(),
                  place.name.c_str(), static_cast<unsigned long long>(place.address),
                  static_cast<unsigned long long>(place.offset), place.past_entry,
                  place.refused.empty() ? kinds[static_cast<int>(place.entry)] : "refused", place.refused.c_str());
      for (const std::string& alias : place.aliases) std::printf("%s ", alias.c_str());
      std::puts("");
    }
    if (places.empty()) std::puts(explain_no_function(arguments[1], arguments[2]).what());
  } catch (const error& failed) {
    complain(failed.what());
    return 1;
  }
  return 0;
}
