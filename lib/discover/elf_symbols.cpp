// Reads symbol tables and versions with libelf. The file may be damaged or malicious, so sizes are limited and every
// offset is checked.
#include "elf_symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

// Debug builds of browsers have about 100 MiB of symbols, and as much of names.
constexpr std::uint64_t max_section_bytes = std::uint64_t{1} << 30;
constexpr std::size_t max_text_bytes = std::size_t{512} << 20;

[[noreturn]] void fail_at_symbols(const std::string& file, std::string_view why) {
  throw error(fmt::format("cannot read the functions of {}: {}", file, why), file, 0,
              "the file must be an ELF executable or library for x86-64, unmodified");
}

// The texts of a file. Many symbols may share a long text, so that a small file could exceed the memory; throws error
// in this case.
class texts {
 public:
  texts(Elf* elf, const std::string& file) : elf_(elf), file_(file) {}

  // Null: no text.
  const char* at(std::size_t section, std::size_t offset) {
    constexpr std::size_t searched_in_vain = 65536;  // assumed length of a search without a result
    const char* const found = elf_strptr(elf_, section, offset);
    bytes_ += found != nullptr ? std::strlen(found) : searched_in_vain;
    if (bytes_ > max_text_bytes) fail_at_symbols(file_, "the names of its symbols are too long");
    return found;
  }

 private:
  Elf* elf_;
  const std::string& file_;
  std::size_t bytes_ = 0;
};

struct version {
  std::string name;
  std::string library;  // of an imported symbol
};

// The version of a symbol from its entry in .gnu.version. libelf keeps every step within the section. Steps only go
// forward, but many may lead to the same place.
class versions {
 public:
  explicit versions(texts& names) : names_(names) {}

  void read_definitions(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = section_data(section, max_section_bytes);
    GElf_Verdef definition;
    for (int at = 0; has_room() && data != nullptr && gelf_getverdef(data, at, &definition) != nullptr;) {
      GElf_Verdaux name;
      if (gelf_getverdaux(data, next(at, definition.vd_aux), &name) != nullptr)
        by_number_[definition.vd_ndx & mask] = {text(header.sh_link, name.vda_name), {}};
      if (definition.vd_next == 0) break;
      at = next(at, definition.vd_next);
    }
  }

  void read_needs(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = section_data(section, max_section_bytes);
    GElf_Verneed need;
    for (int at = 0; has_room() && data != nullptr && gelf_getverneed(data, at, &need) != nullptr;) {
      const std::string library = text(header.sh_link, need.vn_file);
      GElf_Vernaux name;
      for (int inner = next(at, need.vn_aux); has_room() && gelf_getvernaux(data, inner, &name) != nullptr;) {
        by_number_[name.vna_other & mask] = {text(header.sh_link, name.vna_name), library};
        if (name.vna_next == 0) break;
        inner = next(inner, name.vna_next);
      }
      if (need.vn_next == 0) break;
      at = next(at, need.vn_next);
    }
  }

  void read_numbers(Elf_Scn* section) { numbers_ = section_data(section, max_section_bytes); }

  const version* find_symbol_version(int index) const {
    GElf_Versym number = 0;
    if (numbers_ == nullptr || gelf_getversym(numbers_, index, &number) == nullptr) return nullptr;
    const auto found = by_number_.find(number & mask);
    constexpr unsigned first_named = 2;  // 0 is local, 1 is the file itself
    return (number & mask) >= first_named && found != by_number_.end() ? &found->second : nullptr;
  }

 private:
  static constexpr unsigned mask = 0x7fff;  // the bit above it: the version is hidden

  // libelf stores offsets as int; no section is beyond that.
  static int next(int at, std::uint32_t step) {
    constexpr std::int64_t max_offset = 0x7fffffff;
    const std::int64_t sum = std::int64_t{at} + step;
    return sum < max_offset ? static_cast<int>(sum) : static_cast<int>(max_offset);
  }

  // The number of versions in a file is limited by the mask.
  bool has_room() { return ++steps_ <= mask; }

  std::string text(std::uint32_t strings, std::size_t offset) {
    const char* const found = names_.at(strings, offset);
    return found != nullptr ? found : "";
  }

  texts& names_;
  std::map<unsigned, version> by_number_;
  unsigned steps_ = 0;
  Elf_Data* numbers_ = nullptr;
};

symbol_kind to_kind(unsigned char info) {
  switch (GELF_ST_TYPE(info)) {
    case STT_FUNC: return symbol_kind::function;
    case STT_GNU_IFUNC: return symbol_kind::indirect_function;
    case STT_NOTYPE: return symbol_kind::label;
    default: return symbol_kind::other;
  }
}

void read_table(std::vector<elf_symbol>& into, texts& names, Elf_Scn* section, const GElf_Shdr& header,
                const versions* symbol_versions) {
  Elf_Data* const data = section_data(section, max_section_bytes);
  GElf_Sym symbol;
  for (int index = 1; data != nullptr && gelf_getsym(data, index, &symbol) != nullptr; ++index) {
    const char* const spelled = names.at(header.sh_link, symbol.st_name);
    if (spelled == nullptr || *spelled == '\0' || symbol.st_shndx == SHN_ABS) continue;
    elf_symbol made;
    made.name = spelled;
    made.address = symbol.st_value;
    made.bytes = symbol.st_size;
    made.kind = to_kind(symbol.st_info);
    made.is_imported = symbol.st_shndx == SHN_UNDEF;
    // In .symtab, the name contains the version.
    if (const std::size_t sign = made.name.find('@'); sign != std::string::npos && sign != 0) {
      made.version = made.name.substr(made.name.find_first_not_of('@', sign) == std::string::npos
                                          ? made.name.size()
                                          : made.name.find_first_not_of('@', sign));
      made.name.resize(sign);
    }
    if (const version* const found = symbol_versions != nullptr ? symbol_versions->find_symbol_version(index) : nullptr;
        found != nullptr) {
      made.version = found->name;
      made.imported_from = found->library;
    }
    into.push_back(std::move(made));
  }
}

}  // namespace

elf_symbols::elf_symbols(const std::string& file)
    : file_(file, "functions", "name an ELF file that exists and is readable") {
  const elf_handle handle = open_elf(file_);
  Elf* const elf = handle.get();
  GElf_Ehdr head;
  if (elf == nullptr || gelf_getehdr(elf, &head) == nullptr) fail_at_symbols(file, "not an ELF file of 64 bits");
  if (head.e_machine != EM_X86_64) fail_at_symbols(file, "not for x86-64");

  const std::vector<elf_segment> segments = find_segments(elf, PT_LOAD);
  std::copy_if(segments.begin(), segments.end(), std::back_inserter(code_),
               [](const elf_segment& segment) { return segment.is_code; });
  if (code_.empty()) fail_at_symbols(file, "it has no code segment; an object file must be linked first");

  texts strings(elf, file);
  versions symbol_versions(strings);
  std::map<unsigned, std::pair<Elf_Scn*, GElf_Shdr>> tables;  // by type: a file has one of each
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) fail_at_symbols(file, elf_errmsg(-1));
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) fail_at_symbols(file, elf_errmsg(-1));
    switch (header.sh_type) {
      case SHT_GNU_verdef:
      case SHT_GNU_verneed:
      case SHT_GNU_versym:
      case SHT_SYMTAB:
      case SHT_DYNSYM: tables.emplace(header.sh_type, std::pair{section, header}); break;
      default:
        const char* const name = strings.at(names, header.sh_name);
        if (name != nullptr && std::strcmp(name, ".gnu_debugdata") == 0) has_debugdata_ = true;
    }
  }
  is_stripped_ = tables.count(SHT_SYMTAB) == 0;
  const auto read = [&](unsigned type, const auto& how) {
    if (const auto found = tables.find(type); found != tables.end()) how(found->second.first, found->second.second);
  };
  read(SHT_GNU_verdef,
       [&](Elf_Scn* section, const GElf_Shdr& header) { symbol_versions.read_definitions(section, header); });
  read(SHT_GNU_verneed,
       [&](Elf_Scn* section, const GElf_Shdr& header) { symbol_versions.read_needs(section, header); });
  read(SHT_GNU_versym, [&](Elf_Scn* section, const GElf_Shdr&) { symbol_versions.read_numbers(section); });
  read(SHT_DYNSYM, [&](Elf_Scn* section, const GElf_Shdr& header) {
    read_table(symbols_, strings, section, header, &symbol_versions);
  });
  read(SHT_SYMTAB,
       [&](Elf_Scn* section, const GElf_Shdr& header) { read_table(symbols_, strings, section, header, nullptr); });
}

std::optional<std::uint64_t> elf_symbols::code_offset(std::uint64_t address) const {
  for (const elf_segment& segment : code_)
    if (address >= segment.address && address - segment.address < segment.bytes)
      return address - segment.address + segment.offset;
  return std::nullopt;
}

std::vector<unsigned char> elf_symbols::bytes(std::uint64_t offset, std::size_t wanted) const {
  std::vector<unsigned char> read(wanted);
  read.resize(file_.read(offset, read.data(), wanted));
  return read;
}

}  // namespace adaptyst::lib
