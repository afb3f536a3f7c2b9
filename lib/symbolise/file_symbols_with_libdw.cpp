// Finds functions, files and lines with elfutils. Compilers move parts of functions to separate functions; these are
// traced back to the original function.
#include <adaptyst/adapter/demangle.hpp>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "../support/cpu_time.hpp"
#include "../support/elf_header.hpp"
#include "../support/function_name.hpp"
#include "file_symbols.hpp"

namespace adaptyst::lib {

namespace {

// By build id in the usual folder. The default search may query a server on the network.
char* debug_path = nullptr;

Dwfl_Callbacks offline_callbacks() {
  Dwfl_Callbacks calls{};
  calls.find_elf = dwfl_build_id_find_elf;
  calls.find_debuginfo = dwfl_build_id_find_debuginfo;
  calls.section_address = dwfl_offline_section_address;
  calls.debuginfo_path = &debug_path;
  return calls;
}

std::string written(const char* symbol) {
  const auto text = demangled(symbol);
  return text ? text.get() : std::string(symbol, std::strcspn(symbol, "@"));  // a version follows
}

// Clang writes no table of the code of each unit. libdw finds such units only in a search of all units; in a program of
// several compilers, it may take a wrong unit.
Dwarf_Die* unit_at(Dwfl_Module* module, Dwarf_Addr address, Dwarf_Addr& bias) {
  Dwarf_Die* const found = dwfl_module_addrdie(module, address, &bias);
  if (found != nullptr && dwarf_haspc(found, address - bias) > 0) return found;
  for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;)
    if (dwarf_haspc(unit, address - bias) > 0) return unit;
  return nullptr;
}

// Whether a name belongs to a part that a compiler moved out of a function.
bool is_outlined(const char* name) {
  return name == nullptr || std::strstr(name, "omp_outlined") != nullptr || std::strstr(name, "._omp_fn") != nullptr ||
         std::strstr(name, "__omp_offloading") != nullptr;
}

// "solve" for "solve [clone .omp_outlined]"; empty if the part does not name its function.
std::string owner_in(const std::string& function) {
  return !is_outlined(function.c_str()) ? function
                                        : function.substr(0, std::min(function.find(" [clone"), function.find('.')));
}

const char* base_name(const char* file) {
  const char* const slash = std::strrchr(file, '/');
  return slash != nullptr ? slash + 1 : file;
}

// Without template arguments: a construct is in the same line for all of them.
std::string plain_name(const char* name) {
  const std::string_view all(name);
  return std::string(all.substr(0, all.substr(0, 8) == "operator" ? all.size() : all.find('<')));
}

// Finds the function of a unit for an instruction. A part that was moved out of a function does not name it; the
// function that begins last before the line of the part is taken.
class function_search {
 public:
  function_search(Dwarf_Addr address, const char* file, int line)
      : address_(address), file_(base_name(file)), line_(line) {}
  explicit function_search(Dwarf_Addr address) : left_(1'000'000), address_(address) {}

  std::string find(Dwarf_Die unit) {
    main_file_ = dwarf_diename(&unit);
    search_scope(unit, 0);
    return !by_address_.empty() ? by_address_ : by_line_;
  }

  // The names of inlined functions, innermost first.
  std::vector<std::string> find_inlined(Dwarf_Die unit) {
    search_scope(unit, 0);
    std::reverse(inlined_.begin(), inlined_.end());
    if (inlined_.size() > max_inlined) inlined_.resize(max_inlined);
    return std::move(inlined_);
  }

 private:
  template <class Visit>
  void for_each_child(Dwarf_Die parent, Visit&& visit) {
    Dwarf_Die child;
    for (int more = dwarf_child(&parent, &child); more == 0 && left_ != 0; more = dwarf_siblingof(&child, &child)) {
      --left_;
      visit(child);
    }
  }

  // libdw's search omits namespaces.
  void search_scope(Dwarf_Die scope, int depth) {
    for_each_child(scope, [&](Dwarf_Die& child) {
      switch (dwarf_tag(&child)) {
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
          if (depth != deepest) search_scope(child, depth + 1);
          break;
        case DW_TAG_subprogram:
          if (dwarf_haspc(&child, address_) > 0) {
            search_inlined(child, 0);
            if (file_ == nullptr) left_ = 0;  // a search by address only
          }
          if (file_ != nullptr) compare_lines(child);
          break;
        default: break;
      }
    });
  }

  // The innermost of nested inlined functions.
  void search_inlined(Dwarf_Die scope, int depth) {
    const int tag = dwarf_tag(&scope);
    if (tag == DW_TAG_subprogram) inlined_.clear();  // of another function with this address
    if (tag == DW_TAG_inlined_subroutine) inlined_.push_back(full_name(scope));
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
      const char* const name = dwarf_diename(&scope);
      by_address_ = is_outlined(name) ? std::string() : plain_name(name);
    }
    if (depth == deepest) return;
    for_each_child(scope, [&](Dwarf_Die& child) {
      const int is = dwarf_tag(&child);
      if ((is == DW_TAG_inlined_subroutine || is == DW_TAG_lexical_block) && dwarf_haspc(&child, address_) > 0)
        search_inlined(child, depth + 1);
    });
  }

  static std::string full_name(Dwarf_Die function) {
    Dwarf_Attribute found;
    const char* name = nullptr;
    for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
      if (name == nullptr && dwarf_attr_integrate(&function, attribute, &found) != nullptr)
        name = dwarf_formstring(&found);
    return name != nullptr ? written(name) : "[unknown]";
  }

  // In DWARF 5, the unit's file has the number 0, which libdw treats as none.
  const char* find_file(Dwarf_Die function) {
    Dwarf_Attribute found;
    Dwarf_Word number = 0;
    const bool is_main = dwarf_attr_integrate(&function, DW_AT_decl_file, &found) != nullptr &&
                         dwarf_formudata(&found, &number) == 0 && number == 0;
    return is_main ? main_file_ : dwarf_decl_file(&function);
  }

  void compare_lines(Dwarf_Die function) {
    const char* const name = dwarf_diename(&function);
    const char* const file = find_file(function);
    int begin = 0;
    if (is_outlined(name) || file == nullptr || std::strcmp(base_name(file), file_) != 0 ||
        dwarf_decl_line(&function, &begin) != 0 || begin > line_ || begin <= begin_)
      return;
    begin_ = begin;
    by_line_ = plain_name(name);
  }

  static constexpr int deepest = 64;
  static constexpr std::size_t max_inlined = 16;
  unsigned left_ = 10'000'000;  // entries: a malicious file may contain circles
  const Dwarf_Addr address_;
  const char* const file_ = nullptr;
  const int line_ = 0;
  const char* main_file_ = nullptr;
  int begin_ = 0;
  std::string by_address_, by_line_;
  std::vector<std::string> inlined_;  // outermost first
};

// Code that a compiler adds has line 0; it belongs to the line before it.
Dwarf_Line* line_at(Dwarf_Die* unit, Dwarf_Addr address, int& line) {
  constexpr int max_steps = 16;
  for (int step = 0; step != max_steps; ++step) {
    Dwarf_Line* const found = dwarf_getsrc_die(unit, address);
    if (found == nullptr || dwarf_lineno(found, &line) != 0) return nullptr;
    if (line > 0) return found;
    if (dwarf_lineaddr(found, &address) != 0 || address == 0) return nullptr;
    --address;
  }
  return nullptr;
}

code_place place_in_unit(Dwarf_Die* unit, Dwarf_Addr address) {
  code_place made;
  int line = 0;
  Dwarf_Line* const found = line_at(unit, address, line);
  const char* const file = found != nullptr ? dwarf_linesrc(found, nullptr, nullptr) : nullptr;
  if (file == nullptr) return {};
  made.file = file;
  made.line = static_cast<unsigned>(line);
  made.function = function_search(address, file, line).find(*unit);
  return made;
}

}  // namespace

struct file_symbols::state {
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> files{nullptr, dwfl_end};
  Dwfl_Module* module = nullptr;
  std::uint64_t inlined_ns = 0;  // CPU time of searches for inlined functions
};

file_symbols::file_symbols(int descriptor) : state_(std::make_unique<state>()) {
  static const Dwfl_Callbacks calls = offline_callbacks();
  state_->files.reset(dwfl_begin(&calls));
  if (state_->files == nullptr) return;
  if (!is_usual_elf(descriptor)) return;  // libdw would also open archives and decompress any file
  dwfl_report_begin(state_->files.get());
  const int own = dup(descriptor);  // the module closes it
  if (own < 0) return;
  state_->module = dwfl_report_offline(state_->files.get(), "file", "", own);
  if (state_->module == nullptr) close(own);
  dwfl_report_end(state_->files.get(), nullptr, nullptr);
}

file_symbols::~file_symbols() = default;

namespace {

// libdw also returns the nearest label before the address: in a stripped file, that is another function.
const char* symbol_at(Dwfl_Module* module, Dwarf_Addr address, GElf_Off& into) {
  GElf_Sym symbol{};
  const char* const name = dwfl_module_addrinfo(module, address, &into, &symbol, nullptr, nullptr, nullptr);
  const bool is_function = name != nullptr && into < symbol.st_size && GELF_ST_TYPE(symbol.st_info) != STT_SECTION;
  return is_function ? name : nullptr;
}

// Reads numbers in the machine's byte order from a part of a file, at any alignment.
class file_bytes {
 public:
  file_bytes(Elf* elf, std::uint64_t offset, std::uint64_t size) {
    std::size_t whole = 0;
    if (elf_rawfile(elf, &whole) == nullptr || offset > whole || size > whole - offset) return;
    data_ = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(offset), static_cast<std::size_t>(size), ELF_T_BYTE);
  }

  template <class Number>
  std::optional<Number> read(std::uint64_t at) const {
    Number made{};
    if (data_ == nullptr || at > data_->d_size || sizeof made > data_->d_size - at) return std::nullopt;
    std::memcpy(&made, static_cast<const char*>(data_->d_buf) + at, sizeof made);
    return made;
  }

 private:
  Elf_Data* data_ = nullptr;
};

// The address of the beginning of the function at an address, from the table in .eh_frame_hdr, which strip keeps. The
// table is sorted, in the form that all linkers write. Its entry of .eh_frame has the length of the function.
std::optional<std::uint64_t> function_begin(Elf* elf, const std::vector<GElf_Phdr>& segments, std::uint64_t address) {
  constexpr std::uint32_t usual_form = 0x3b'03'1b'01;  // version 1; numbers of 4 bytes
  constexpr std::uint64_t header = 12, entry = 8;
  const auto table = std::find_if(segments.begin(), segments.end(),
                                  [](const GElf_Phdr& segment) { return segment.p_type == PT_GNU_EH_FRAME; });
  if (table == segments.end()) return std::nullopt;
  const file_bytes sorted(elf, table->p_offset, table->p_filesz);
  if (sorted.read<std::uint32_t>(0) != usual_form) return std::nullopt;
  const auto begin_of = [&](std::uint64_t number) {
    const auto from_table = sorted.read<std::int32_t>(header + number * entry);
    return from_table ? std::optional(table->p_vaddr + static_cast<std::uint64_t>(std::int64_t{*from_table}))
                      : std::nullopt;
  };
  std::uint64_t first = 0;
  for (std::uint64_t end = sorted.read<std::uint32_t>(8).value_or(0); first != end;) {
    const std::uint64_t middle = first + (end - first) / 2;
    const std::optional<std::uint64_t> begin = begin_of(middle);
    if (!begin) return std::nullopt;
    if (*begin <= address) first = middle + 1;
    else end = middle;
  }
  if (first == 0) return std::nullopt;
  const std::optional<std::uint64_t> begin = begin_of(first - 1);
  const auto described = sorted.read<std::int32_t>(header + (first - 1) * entry + 4);
  if (!begin || !described) return std::nullopt;
  const std::uint64_t at = table->p_vaddr + static_cast<std::uint64_t>(std::int64_t{*described});
  for (const GElf_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || at < segment.p_vaddr || at - segment.p_vaddr >= segment.p_filesz) continue;
    // Its length, its kind, the relative beginning of the function, and the function's length.
    const file_bytes description(elf, segment.p_offset + (at - segment.p_vaddr), 16);
    const auto from_there = description.read<std::int32_t>(8);
    const auto length = description.read<std::uint32_t>(12);
    const bool is_usual = from_there && at + 8 + static_cast<std::uint64_t>(std::int64_t{*from_there}) == *begin;
    return is_usual && length && address - *begin < *length ? begin : std::nullopt;
  }
  return std::nullopt;
}

std::vector<GElf_Phdr> read_segments(Elf* elf) {
  std::vector<GElf_Phdr> all;
  std::size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return all;
  for (std::size_t at = 0; at != count; ++at) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(at), &segment) == nullptr) return {};
    all.push_back(segment);
  }
  return all;
}

// The address of the code at an offset in the file.
std::optional<std::uint64_t> find_address(Elf* elf, std::uint64_t offset) {
  for (const GElf_Phdr& segment : read_segments(elf))
    if (segment.p_type == PT_LOAD && offset >= segment.p_offset && offset - segment.p_offset < segment.p_filesz &&
        (segment.p_flags & PF_X) != 0)
      return offset - segment.p_offset + segment.p_vaddr;
  return std::nullopt;
}

}  // namespace

std::uint64_t file_symbols::begin_of_function(std::uint64_t offset) const {
  GElf_Addr bias = 0;
  Elf* const elf = state_->module != nullptr ? dwfl_module_getelf(state_->module, &bias) : nullptr;
  const std::vector<GElf_Phdr> segments = read_segments(elf);
  for (const GElf_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz ||
        (segment.p_flags & PF_X) == 0)
      continue;
    const std::optional<std::uint64_t> begin =
        function_begin(elf, segments, offset - segment.p_offset + segment.p_vaddr);
    return begin && *begin >= segment.p_vaddr ? *begin - segment.p_vaddr + segment.p_offset : offset;
  }
  return offset;
}

bool file_symbols::is_stripped() const {
  GElf_Addr bias = 0;
  Elf* const elf = state_->module != nullptr ? dwfl_module_getelf(state_->module, &bias) : nullptr;
  if (elf == nullptr) return false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_SYMTAB) return false;
  }
  return true;
}

std::vector<std::string> file_symbols::find_inlined(std::uint64_t address) const {
  constexpr std::uint64_t longest_ns = 2'000'000'000;
  if (state_->inlined_ns >= longest_ns) return {};
  const std::uint64_t begun_ns = thread_cpu_ns();
  Dwarf_Addr unit_bias = 0;
  Dwarf_Die* const unit = unit_at(state_->module, address, unit_bias);
  std::vector<std::string> found;
  if (unit != nullptr) found = function_search(address - unit_bias).find_inlined(*unit);
  state_->inlined_ns += thread_cpu_ns() - begun_ns;
  return found;
}

code_names file_symbols::names_at(std::uint64_t offset) const {
  code_names made;
  GElf_Addr bias = 0;
  Elf* const elf = state_->module != nullptr ? dwfl_module_getelf(state_->module, &bias) : nullptr;
  const std::optional<std::uint64_t> address = find_address(elf, offset);
  const char* name = nullptr;
  GElf_Off into = 0;
  if (address) name = symbol_at(state_->module, *address + bias, into);
  if (name == nullptr) {
    made.begin = begin_of_function(offset);
    made.is_stripped = is_stripped();
    return made;
  }
  made.functions = find_inlined(*address + bias);
  made.functions.push_back(written(name));
  made.begin = offset - into;
  return made;
}

code_place file_symbols::place_at(std::uint64_t from_base) const {
  constexpr std::uint64_t page_bytes = 4096;
  GElf_Addr bias = 0;
  Elf* const elf = state_->module != nullptr ? dwfl_module_getelf(state_->module, &bias) : nullptr;
  for (const GElf_Phdr& segment : read_segments(elf)) {
    if (segment.p_type != PT_LOAD) continue;
    // The first segment has the begin of the file in memory: 0, except for programs that are linked to a fixed address.
    const Dwarf_Addr address = from_base + segment.p_vaddr / page_bytes * page_bytes + bias;
    Dwarf_Addr unit_bias = 0;
    Dwarf_Die* const unit = unit_at(state_->module, address, unit_bias);
    code_place made = unit != nullptr ? place_in_unit(unit, address - unit_bias) : code_place();
    if (!made.function.empty()) return made;
    GElf_Off into = 0;
    if (const char* const name = symbol_at(state_->module, address, into); name != nullptr && made.line == 0) {
      made.function = without_arguments(written(name));
      made.into = into;
    } else if (name != nullptr) {
      made.function = owner_in(without_arguments(written(name)));
    }
    return made;
  }
  return {};
}

bool file_symbols::are_read() noexcept { return true; }

}  // namespace adaptyst::lib
