// Matches patterns with the symbols of an ELF file. Symbols of the same code become one function, clones follow their
// function, and each function without a possible probe has a reason.
#include "elf_functions.hpp"

#include <adaptyst/adapter/demangle.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "../support/function_name.hpp"
#include "../support/nearest.hpp"
#include "elf_symbols.hpp"
#include "function_request.hpp"

namespace adaptyst::lib {

namespace {

std::string demangle(const std::string& symbol) {
  const auto text = demangled(symbol.c_str());
  return text ? text.get() : symbol;
}

// The position of a clone's suffix; npos: no clone. Names in C, C++ and Fortran contain no dot.
std::size_t clone_suffix(std::string_view symbol) {
  std::size_t first = std::string_view::npos;
  for (const std::string_view suffix :
       {".cold", ".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias"})
    first = std::min(first, symbol.find(suffix));
  return first == 0 ? std::string_view::npos : first;
}

// The function jumps to this part, so the stack has no return address: a return probe would use a wrong value.
bool is_cold_part(std::string_view symbol) {
  const std::size_t suffix = clone_suffix(symbol);
  if (suffix == std::string_view::npos) return false;
  const std::size_t cold = symbol.find(".cold", suffix);
  return cold != std::string_view::npos && (cold + 5 == symbol.size() || symbol[cold + 5] == '.');
}

class pattern {
 public:
  pattern(const std::vector<std::string>& globs, clones wanted) : globs_(globs), wanted_(wanted) {
    for (const std::string& glob : globs) any_cxx_ = any_cxx_ || is_cxx(glob);
  }

  bool fits(const std::string& symbol) const {
    // A pattern such as "solve*" excludes parts that the compiler split off.
    if (wanted_ == clones::as_spelled && is_cold_part(symbol))
      return std::find(globs_.begin(), globs_.end(), symbol) != globs_.end();
    if (fits_whole(symbol)) return true;
    const std::size_t suffix = clone_suffix(symbol);
    return wanted_ == clones::with_their_function && suffix != std::string::npos &&
           fits_whole(symbol.substr(0, suffix));
  }

  // Whether one of the patterns equals this name.
  bool spells(const std::string& symbol) const {
    const std::string name = any_cxx_ ? demangle(symbol) : std::string();
    return std::any_of(globs_.begin(), globs_.end(),
                       [&](const std::string& glob) { return glob == (is_cxx(glob) ? name : symbol); });
  }

 private:
  // A C++ name matches with or without arguments, and with or without ABI tags.
  bool fits_whole(const std::string& symbol) const {
    const bool is_mangled = symbol.compare(0, 2, "_Z") == 0;
    const std::string name = is_mangled ? demangle(symbol) : std::string();
    const std::string bare = is_mangled ? without_arguments(name) : std::string();
    const auto fits = [](const std::string& glob, const std::string& whole) {
      return matches(glob, whole) || matches(glob, without_abi_tags(whole));
    };
    return std::any_of(globs_.begin(), globs_.end(), [&](const std::string& glob) {
      if (!is_mangled) return matches(glob, symbol);
      return fits(glob, bare) || (is_cxx(glob) ? fits(glob, name) : matches(glob, symbol));
    });
  }

  const std::vector<std::string>& globs_;
  clones wanted_;
  bool any_cxx_ = false;
};

// Sorts names, the plainest first: write before __write and __libc_write.
auto plainness(const elf_symbol& symbol) {
  return std::make_tuple(symbol.name.find_first_not_of('_'), symbol.name.size(), symbol.name);
}

struct same_code {
  const elf_symbol* best = nullptr;  // the plainest match
  std::set<std::string> names;
  std::uint64_t bytes = 0;
};

// glibc's implementations, such as __strlen_avx2 for strlen.
using inner_names = std::set<std::string_view>;

inner_names collect_inner_names(const elf_symbols& in) {
  inner_names found;
  for (const elf_symbol& symbol : in.all())
    if (symbol.kind == symbol_kind::function && !symbol.is_imported && symbol.name.compare(0, 2, "__") == 0 &&
        !matches("*_chk", symbol.name))
      found.insert(symbol.name);
  return found;
}

std::string why_indirect(const inner_names& functions, const std::string& name) {
  const std::string beginning = "__" + name + "_";
  std::vector<std::string_view> others;
  for (auto candidate = functions.lower_bound(beginning);
       candidate != functions.end() && candidate->substr(0, beginning.size()) == beginning && others.size() < 4;
       ++candidate)
    others.push_back(*candidate);
  const std::string why = "the loader chooses one of several implementations; name one of them";
  return others.empty() ? why : fmt::format("{}, such as {}", why, fmt::join(others, ", "));
}

std::string why_imported(const elf_symbol& symbol) {
  return symbol.imported_from.empty() ? "imported from another file; name the library that defines it"
                                      : fmt::format("imported from {}; name that library", symbol.imported_from);
}

// Sets the place of the probe, or the reason why no probe is possible.
void place_probe(function_place& into, const elf_symbols& in, std::uint64_t bytes) {
  constexpr std::size_t enough = 16;  // the longest instruction has 15 bytes
  if (is_cold_part(into.symbol)) {
    into.refused = "a part of another function that is jumped into, not called";
    return;
  }
  const std::optional<std::uint64_t> offset = in.code_offset(into.address);
  if (!offset) {
    into.refused = "its address is outside the code of the file";
    return;
  }
  std::vector<unsigned char> code = in.bytes(*offset, enough);
  if (bytes != 0 && bytes < code.size()) code.resize(static_cast<std::size_t>(bytes));
  if (code.empty()) {
    into.refused = "the file ends before its code";
    return;
  }
  const entry_instruction found = find_entry_instruction(code.data(), code.size());
  into.entry = found.kind;
  into.past_entry = found.past_entry;
  into.offset = *offset + found.past_entry;
}

// The name without arguments and wildcards.
std::string stem(std::string_view name) {
  std::string bare(name.substr(0, name.find('(')));
  bare.erase(std::remove_if(bare.begin(), bare.end(), [](char c) { return c == '*' || c == '?'; }), bare.end());
  return bare;
}

std::vector<std::string> nearest_functions(const elf_symbols& in, std::string_view glob) {
  constexpr std::size_t shown = 3;
  constexpr std::size_t longest = 200;  // template names may be very long and similar to no other name
  const std::string wanted_stem = stem(glob).substr(0, longest);
  std::set<std::pair<std::size_t, std::string>> near;
  for (const elf_symbol& symbol : in.all()) {
    if (symbol.kind != symbol_kind::function || symbol.is_imported) continue;
    const std::string name = demangle(symbol.name);
    const std::string bare = stem(name);
    if (bare.size() > longest || wanted_stem.empty()) continue;
    const std::size_t behind = bare.rfind("::");
    const std::string_view last = std::string_view(bare).substr(behind == std::string::npos ? 0 : behind + 2);
    const std::size_t steps = std::min(distance(wanted_stem, bare), distance(wanted_stem, last));
    if (steps > max_distance(wanted_stem)) continue;
    near.emplace(steps, name);
    if (near.size() > shown) near.erase(std::prev(near.end()));
  }
  std::vector<std::string> names;
  names.reserve(near.size());
  for (const auto& [steps, name] : near) names.push_back(name);
  return names;
}

}  // namespace

std::vector<function_place> find_functions(const std::string& file, std::string_view glob, clones wanted) {
  return find_functions(file, std::vector<std::string>{std::string(glob)}, wanted);
}

std::vector<function_place> find_functions(const std::string& file, const std::vector<std::string>& globs,
                                           clones wanted) {
  const elf_symbols in(file);
  const pattern requested_pattern(globs, wanted);
  const inner_names inner_functions = collect_inner_names(in);
  std::map<std::string, function_place> without_code;
  std::map<std::uint64_t, same_code> with_code;
  for (const elf_symbol& symbol : in.all()) {
    if (symbol.kind == symbol_kind::other || (symbol.kind == symbol_kind::label && !symbol.is_imported)) continue;
    const bool has_code = symbol.kind == symbol_kind::function && !symbol.is_imported;
    if (!requested_pattern.fits(symbol.name)) continue;
    if (symbol.is_imported && !requested_pattern.spells(symbol.name))
      continue;  // libmpi_mpifh.so calls everything in libmpi.so
    if (has_code) {
      same_code& code = with_code[symbol.address];
      if (code.best == nullptr || plainness(symbol) < plainness(*code.best)) code.best = &symbol;
    } else {
      function_place& refused = without_code[symbol.name + "@" + symbol.version];
      if (!refused.refused.empty() && symbol.imported_from.empty()) continue;
      refused.symbol = symbol.name;
      refused.version = symbol.version;
      refused.name = demangle(symbol.name);
      refused.refused = symbol.is_imported ? why_imported(symbol) : why_indirect(inner_functions, symbol.name);
    }
  }
  for (const elf_symbol& symbol : in.all()) {
    if (symbol.kind != symbol_kind::function || symbol.is_imported) continue;
    const auto same = with_code.find(symbol.address);
    if (same == with_code.end()) continue;
    same->second.names.insert(symbol.name);
    same->second.bytes = std::max(same->second.bytes, symbol.bytes);
    // .symtab and .dynsym contain the same symbol, but perhaps only one has the version.
    if (symbol.name == same->second.best->name && !symbol.version.empty()) same->second.best = &symbol;
  }

  std::vector<function_place> places;
  places.reserve(without_code.size() + with_code.size());
  for (auto& [name, refused] : without_code) places.push_back(std::move(refused));
  for (auto& [address, code] : with_code) {
    function_place made;
    made.symbol = code.best->name;
    made.version = code.best->version;
    made.name = demangle(made.symbol);
    made.address = address;
    code.names.erase(made.symbol);
    made.aliases.assign(code.names.begin(), code.names.end());
    place_probe(made, in, code.bytes);
    places.push_back(std::move(made));
  }
  std::stable_partition(places.begin(), places.end(),
                        [](const function_place& place) { return !place.refused.empty(); });
  return places;
}

error explain_no_function(const std::string& file, std::string_view glob) {
  const elf_symbols in(file);
  const std::vector<std::string> globs{std::string(glob)};
  const pattern requested_pattern(globs, clones::as_spelled);
  const auto refused = [&](const std::string& why, const std::string& hint = {}) {
    return error(fmt::format("no function of {} is called '{}'; {}", file, glob, why), std::string(glob), 0, hint);
  };
  for (const elf_symbol& symbol : in.all())
    if (!symbol.is_imported && (symbol.kind == symbol_kind::other || symbol.kind == symbol_kind::label) &&
        requested_pattern.fits(symbol.name))
      return refused(fmt::format("{} is {}", demangle(symbol.name),
                                 symbol.kind == symbol_kind::label ? "a label that may be no function" : "data"));
  for (const elf_symbol& symbol : in.all())
    if (symbol.is_imported && requested_pattern.fits(symbol.name))
      return refused(fmt::format("{} is {}", symbol.name, why_imported(symbol)));
  std::string why = in.is_stripped() ? "the file is stripped, so only exported functions have names"
                                     : "it may have been inlined wherever it is called";
  if (in.has_debugdata()) why += "; its .gnu_debugdata is not read";
  const std::vector<std::string> names = nearest_functions(in, glob);
  return refused(why, names.empty() ? "" : fmt::format("similar names: {}", fmt::join(names, ", ")));
}

}  // namespace adaptyst::lib
