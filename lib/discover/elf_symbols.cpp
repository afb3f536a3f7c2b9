#include "elf_symbols.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "../error.hpp"

namespace adaptyst::lib {

namespace {

using elf_handle = std::unique_ptr<Elf, int (*)(Elf*)>;

[[noreturn]] void fail(const std::string& file, std::string_view why) {
  throw error(fmt::format("cannot read the functions of {}: {}", file, why), 0,
              "the file must be an ELF executable or library for x86-64, unmodified");
}

struct version {
  std::string name;
  std::string library;  // of an imported symbol
};

// What a symbol's entry in .gnu.version leads to. libelf keeps every step within the section; steps only lead forward.
class versions {
 public:
  void read_definitions(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = elf_getdata(section, nullptr);
    GElf_Verdef definition;
    for (int at = 0; data != nullptr && gelf_getverdef(data, at, &definition) != nullptr;) {
      GElf_Verdaux name;
      if (gelf_getverdaux(data, next(at, definition.vd_aux), &name) != nullptr)
        known_[definition.vd_ndx & mask] = {text(elf, header.sh_link, name.vda_name), {}};
      if (definition.vd_next == 0) break;
      at = next(at, definition.vd_next);
    }
  }

  void read_needs(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = elf_getdata(section, nullptr);
    GElf_Verneed need;
    for (int at = 0; data != nullptr && gelf_getverneed(data, at, &need) != nullptr;) {
      const std::string library = text(elf, header.sh_link, need.vn_file);
      GElf_Vernaux name;
      for (int inner = next(at, need.vn_aux); gelf_getvernaux(data, inner, &name) != nullptr;) {
        known_[name.vna_other & mask] = {text(elf, header.sh_link, name.vna_name), library};
        if (name.vna_next == 0) break;
        inner = next(inner, name.vna_next);
      }
      if (need.vn_next == 0) break;
      at = next(at, need.vn_next);
    }
  }

  void read_numbers(Elf_Scn* section) { numbers_ = elf_getdata(section, nullptr); }

  const version* of_symbol(int index) const {
    GElf_Versym number = 0;
    if (numbers_ == nullptr || gelf_getversym(numbers_, index, &number) == nullptr) return nullptr;
    const auto found = known_.find(number & mask);
    constexpr unsigned first_named = 2;  // 0 is local, 1 is the file itself
    return (number & mask) >= first_named && found != known_.end() ? &found->second : nullptr;
  }

 private:
  static constexpr unsigned mask = 0x7fff;  // above it, whether the version is hidden

  // An offset of libelf is an int; beyond that lies no section.
  static int next(int at, std::uint32_t step) {
    constexpr std::int64_t most = 0x7fffffff;
    const std::int64_t sum = std::int64_t{at} + step;
    return sum < most ? static_cast<int>(sum) : static_cast<int>(most);
  }

  static std::string text(Elf* elf, std::uint32_t strings, std::size_t offset) {
    const char* const found = elf_strptr(elf, strings, offset);
    return found != nullptr ? found : "";
  }

  std::map<unsigned, version> known_;
  Elf_Data* numbers_ = nullptr;
};

symbol_kind kind_of(unsigned char info) {
  switch (GELF_ST_TYPE(info)) {
    case STT_FUNC: return symbol_kind::function;
    case STT_GNU_IFUNC: return symbol_kind::indirect_function;
    case STT_NOTYPE: return symbol_kind::label;
    default: return symbol_kind::other;
  }
}

void read_table(std::vector<elf_symbol>& into, Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
                const versions* known) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  GElf_Sym symbol;
  for (int index = 1; data != nullptr && gelf_getsym(data, index, &symbol) != nullptr; ++index) {
    const char* const spelled = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (spelled == nullptr || *spelled == '\0' || symbol.st_shndx == SHN_ABS) continue;
    elf_symbol made;
    made.name = spelled;
    made.address = symbol.st_value;
    made.bytes = symbol.st_size;
    made.kind = kind_of(symbol.st_info);
    made.is_imported = symbol.st_shndx == SHN_UNDEF;
    // .symtab has the version in the name.
    if (const std::size_t sign = made.name.find('@'); sign != std::string::npos && sign != 0) {
      made.version = made.name.substr(made.name.find_first_not_of('@', sign) == std::string::npos
                                          ? made.name.size()
                                          : made.name.find_first_not_of('@', sign));
      made.name.resize(sign);
    }
    if (const version* const found = known != nullptr ? known->of_symbol(index) : nullptr; found != nullptr) {
      made.version = found->name;
      made.imported_from = found->library;
    }
    into.push_back(std::move(made));
  }
}

}  // namespace

elf_symbols::elf_symbols(const std::string& file) : descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_.number < 0)
    throw error(fmt::format("cannot open {} to find its functions", file), errno,
                "name an ELF file that is there and may be read");
  elf_version(EV_CURRENT);
  // Read, not mapped: somebody may shorten the file meanwhile.
  const elf_handle handle(elf_begin(descriptor_.number, ELF_C_READ, nullptr), elf_end);
  Elf* const elf = handle.get();
  GElf_Ehdr head;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &head) == nullptr)
    fail(file, "not an ELF file");
  if (gelf_getclass(elf) != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != EM_X86_64)
    fail(file, "not for x86-64");

  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) fail(file, elf_errmsg(-1));
  for (std::size_t at = 0; at != count; ++at) {
    GElf_Phdr one;
    if (gelf_getphdr(elf, static_cast<int>(at), &one) == nullptr) fail(file, elf_errmsg(-1));
    if (one.p_type == PT_LOAD && (one.p_flags & PF_X) != 0) code_.push_back({one.p_vaddr, one.p_offset, one.p_filesz});
  }
  if (code_.empty()) fail(file, "no segment of it holds code; an object file must be linked first");

  versions known;
  std::vector<std::pair<Elf_Scn*, GElf_Shdr>> tables;
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) fail(file, elf_errmsg(-1));
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) fail(file, elf_errmsg(-1));
    switch (header.sh_type) {
      case SHT_GNU_verdef: known.read_definitions(elf, section, header); break;
      case SHT_GNU_verneed: known.read_needs(elf, section, header); break;
      case SHT_GNU_versym: known.read_numbers(section); break;
      case SHT_SYMTAB: is_stripped_ = false; [[fallthrough]];
      case SHT_DYNSYM: tables.emplace_back(section, header); break;
      default:
        const char* const name = elf_strptr(elf, names, header.sh_name);
        if (name != nullptr && std::strcmp(name, ".gnu_debugdata") == 0) has_debugdata_ = true;
    }
  }
  for (const auto& [section, header] : tables)
    read_table(symbols_, elf, section, header, header.sh_type == SHT_DYNSYM ? &known : nullptr);
}

elf_symbols::file_descriptor::~file_descriptor() {
  if (number >= 0) close(number);
}

std::optional<std::uint64_t> elf_symbols::code_offset(std::uint64_t address) const {
  for (const segment& one : code_)
    if (address >= one.address && address - one.address < one.bytes) return address - one.address + one.offset;
  return std::nullopt;
}

std::vector<unsigned char> elf_symbols::bytes(std::uint64_t offset, std::size_t wanted) const {
  std::vector<unsigned char> read(wanted);
  const ssize_t got = pread(descriptor_.number, read.data(), wanted, static_cast<off_t>(offset));
  read.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return read;
}

}  // namespace adaptyst::lib
