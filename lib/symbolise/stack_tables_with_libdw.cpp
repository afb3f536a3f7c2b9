// Unwinds with elfutils. Each process has a Dwfl with its mappings, of which libdw opens those that stacks lead to; an
// ELF file is opened once for all processes.
//
// libdw takes microseconds for a frame: it runs the program of the unwinding table for each. The result is the same for a
// range of code, often a whole function, so the usual results are kept as rules of ranges. libdw unwinds all other frames.
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "../support/cpu_time.hpp"
#include "../support/elf_header.hpp"
#include "../support/error.hpp"
#include "../support/process_maps.hpp"
#include "../support/regular_file.hpp"
#include "stack_tables.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_processes = 512, max_modules = 1024, max_elf_files = 1024;
constexpr std::size_t max_rules = std::size_t{1} << 18;  // of all processes, with the places where they apply
constexpr std::uint64_t min_kept_ns = 1'000'000'000;     // else, processes in turn would read tables for each stack
constexpr std::uint64_t max_stack_ns = 20'000'000;
constexpr unsigned max_slow_stacks = 3;
constexpr std::uint64_t image_pause_ns = 20'000'000, known_code_pause_ns = 500'000'000;
constexpr std::uint64_t first_pause_ns = 10'000'000, longest_pause_ns = 2'000'000'000;  // between reads of mappings

// Numbers of DWARF for registers, in the order of the kernel's mask.
#if defined(__x86_64__)
constexpr std::array<unsigned, 17> dwarf_numbers{0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::uint64_t register_mask = 0x1ff | 0xffULL << 16U;  // ax bx cx dx si di bp sp ip, r8 to r15
constexpr std::size_t stack_pointer_at = 7, pc_at = 8;
constexpr bool has_pc_register = true;
#elif defined(__aarch64__)
constexpr std::array<unsigned, 33> dwarf_numbers{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                                 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
constexpr std::uint64_t register_mask = (std::uint64_t{1} << 33U) - 1;  // x0 to x29, lr, sp, pc
constexpr std::size_t stack_pointer_at = 31, pc_at = 32;
constexpr bool has_pc_register = false;
#else
constexpr std::array<unsigned, 1> dwarf_numbers{0};
constexpr std::uint64_t register_mask = 0;
constexpr std::size_t stack_pointer_at = 0, pc_at = 0;
constexpr bool has_pc_register = false;
#endif
constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

using shared_elf = std::unique_ptr<Elf, int (*)(Elf*)>;

// The vdso of this process, which is that of all processes of 64 bits. Null: none.
Elf* own_vdso() {
  static Elf* const made = [] {
    elf_version(EV_CURRENT);
    const std::uint64_t at = getauxval(AT_SYSINFO_EHDR);
    std::size_t bytes = 0;
    for_each_mapping(getpid(), [&](const mapping& piece) {
      if (piece.begin == at) bytes = piece.end - piece.begin;
    });
    return bytes != 0 ? elf_memory(reinterpret_cast<char*>(at), bytes)  // NOLINT(performance-no-int-to-ptr)
                      : nullptr;
  }();
  return made;
}

// Null: unreadable, or of another form.
shared_elf open_elf(const std::string& name) {
  shared_elf made(nullptr, elf_end);
  try {
    const regular_file file(name, "unwinding tables", "");
    if (!is_usual_elf(file.descriptor())) return made;
    made.reset(elf_begin(file.descriptor(), ELF_C_READ_MMAP, nullptr));
    GElf_Ehdr header;
    if (made == nullptr || elf_kind(made.get()) != ELF_K_ELF || gelf_getehdr(made.get(), &header) == nullptr ||
        header.e_machine != this_machine || (header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
        elf_cntl(made.get(), ELF_C_FDREAD) != 0)  // the descriptor is closed
      made.reset();
  } catch (const error&) {  // removed, or no right to read it
  }
  return made;
}

class elf_files;

// The mappings of one ELF file, one after another.
struct loaded_file {
  elf_files* all = nullptr;
  pid_t process = 0;
  std::uint64_t begin = 0, end = 0;
  bool is_vdso = false, has_code = false;
  mapping first{};

  std::string name() const {
    return fmt::format("{}:{}@{:x}-{:x}", first.identity.first, first.identity.second, begin, end);
  }
};

// Opens each file once.
class elf_files {
 public:
  // A reference for libdw; null: no tables.
  Elf* open(const loaded_file& file) {
    if (file.is_vdso) return own_vdso() != nullptr ? elf_begin(-1, ELF_C_READ, own_vdso()) : nullptr;
    auto found = files_.find(file.first.identity);
    if (found == files_.end() && files_.size() == max_elf_files) return nullptr;
    if (found == files_.end()) {
      // Another process may be able to open what this one cannot.
      shared_elf opened = open_elf(name_from_here(file.process, file.first));
      if (opened == nullptr) return nullptr;
      found = files_.emplace(file.first.identity, std::move(opened)).first;
    }
    return elf_begin(-1, ELF_C_READ_MMAP, found->second.get());
  }

 private:
  std::map<file_identity, shared_elf> files_;
};

// Code of the kernel that calls it from optimised probes.
struct trampoline {
  std::uint64_t begin, end;

  bool operator==(const trampoline& other) const noexcept { return begin == other.begin && end == other.end; }
};

std::map<std::string, loaded_file> list_loaded(pid_t process, elf_files& all, std::vector<trampoline>& trampolines) {
  constexpr std::size_t max_trampolines = 64;
  std::map<std::string, loaded_file> found;
  loaded_file last;
  const auto add = [&] {
    if (last.has_code && found.size() != max_modules) found.emplace(last.name(), last);
    last = {};
  };
  for_each_mapping(process, [&](const mapping& piece) {
    const bool is_vdso = piece.path == "[vdso]";
    if (piece.path == "[uprobes-trampoline]" && trampolines.size() != max_trampolines)
      trampolines.push_back({piece.begin, piece.end});
    const bool continues =
        last.end != 0 && piece.is_file() && piece.offset != 0 && piece.identity == last.first.identity;
    if (!continues) {
      add();
      if (!is_vdso && (!piece.is_file() || piece.offset != 0)) return;
      last = {&all, process, piece.begin, 0, is_vdso, false, piece};
    }
    last.end = piece.end;
    last.has_code = last.has_code || piece.executable;
  });
  add();
  return found;
}

char* tables_path = nullptr;

Dwfl_Callbacks find_tables() {
  Dwfl_Callbacks made{};
  made.find_elf = [](Dwfl_Module*, void** file, const char*, Dwarf_Addr, char**, Elf** elf) noexcept {
    const auto* const of = static_cast<const loaded_file*>(*file);
    *elf = of != nullptr ? of->all->open(*of) : nullptr;
    return -1;
  };
  made.find_debuginfo = dwfl_build_id_find_debuginfo;  // the default search may query a server on the network
  made.section_address = dwfl_offline_section_address;
  made.debuginfo_path = &tables_path;
  return made;
}

constexpr std::size_t register_count = dwarf_numbers.size();

// Registers of a frame; bit N of `present`: register N of dwarf_numbers has a value.
struct frame_registers {
  std::array<std::uint64_t, register_count> values{};
  std::uint64_t present = 0;

  bool has(std::size_t at) const noexcept { return (present >> at & 1U) != 0; }
  void set(std::size_t at, std::uint64_t value) noexcept {
    values[at] = value;
    present |= std::uint64_t{1} << at;
  }
};

// How a frame leads to its caller. CFA, as in DWARF: the stack pointer of the caller.
struct frame_rule {
  enum class source : std::uint8_t { unknown, same, saved, from_cfa };  // saved: at the offset from the CFA

  bool is_usual = false;        // else libdw has to unwind the frame
  bool is_mapped = false;       // the code is in a mapped file, or a trampoline
  bool is_outermost = false;    // there is no caller
  bool is_interrupted = false;  // a signal handler returns here: the caller was interrupted at its address
  std::uint8_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  std::array<source, register_count> sources{};
  std::array<std::int32_t, register_count> offsets{};
};

std::optional<std::size_t> find_register(std::uint64_t dwarf_number) {
  const auto found = std::find(dwarf_numbers.begin(), dwarf_numbers.end(), dwarf_number);
  if (found == dwarf_numbers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - dwarf_numbers.begin());
}

// Sets the source of a register; false: a source of another form.
bool read_source(Dwarf_Frame* frame, std::size_t at, frame_rule& made) {
  Dwarf_Op room[3];
  Dwarf_Op* steps = nullptr;
  std::size_t count = 0;
  using source = frame_rule::source;
  if (dwarf_frame_register(frame, static_cast<int>(dwarf_numbers[at]), room, &steps, &count) != 0) return false;
  if (count == 0) {
    made.sources[at] = steps == nullptr ? source::same : source::unknown;
    return true;
  }
  if (steps[0].atom != DW_OP_call_frame_cfa) return false;
  std::size_t next = 1;
  if (next != count && steps[next].atom == DW_OP_plus_uconst) {
    const auto offset = static_cast<std::int64_t>(steps[next++].number);
    made.offsets[at] = static_cast<std::int32_t>(offset);
    if (made.offsets[at] != offset) return false;
  }
  const bool is_value = next != count && steps[next].atom == DW_OP_stack_value;
  if (is_value) ++next;
  made.sources[at] = is_value ? source::from_cfa : source::saved;
  return next == count;
}

// A rule and the code for which it holds.
struct ranged_rule {
  std::uint64_t begin = 0, end = 0;
  frame_rule rule;
};

// Sets the range also if it returns false.
bool read_sources(Dwarf_Frame* frame, ranged_rule& of) {
  frame_rule& made = of.rule;
  if (dwarf_frame_info(frame, &of.begin, &of.end, &made.is_interrupted) != static_cast<int>(dwarf_numbers[pc_at]))
    return false;
  if (!read_source(frame, pc_at, made)) return false;
  made.is_outermost = made.sources[pc_at] == frame_rule::source::unknown;
  if (made.is_outermost) return true;
  Dwarf_Op* steps = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame, &steps, &count) != 0 || count != 1 || steps[0].atom != DW_OP_bregx) return false;
  const std::optional<std::size_t> base = find_register(steps[0].number);
  if (!base) return false;
  made.cfa_register = static_cast<std::uint8_t>(*base);
  made.cfa_offset = static_cast<std::int64_t>(steps[0].number2);
  for (std::size_t at = 0; at != register_count; ++at)
    if (!read_source(frame, at, made)) return false;
  return true;
}

// The bytes of a module's file that are mapped at the address; null: fewer than `count`.
const unsigned char* find_bytes(Dwfl_Module* module, std::uint64_t address, std::size_t count) {
  constexpr std::size_t max_segments = 64;
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(module, &bias);
  std::size_t segments = 0, bytes = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &segments) != 0) return nullptr;
  // The mapping of the file. libelf would keep other results until the file is closed.
  const auto* const file = reinterpret_cast<const unsigned char*>(elf_rawfile(elf, &bytes));
  if (file == nullptr) return nullptr;
  for (std::size_t at = 0; at != std::min(segments, max_segments); ++at) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(at), &segment) == nullptr) return nullptr;
    const std::uint64_t offset = address - bias - segment.p_vaddr;
    if (segment.p_type != PT_LOAD || offset >= segment.p_filesz || segment.p_filesz - offset < count) continue;
    const bool is_inside =
        segment.p_offset <= bytes && offset <= bytes - segment.p_offset && count <= bytes - segment.p_offset - offset;
    return is_inside ? file + segment.p_offset + offset : nullptr;
  }
  return nullptr;
}

bool has_code(Dwfl_Module* module, std::uint64_t address, const unsigned char* code, std::size_t count) {
  // The kernel writes breakpoints of probes into all mappings of the file, also into this process's.
  constexpr unsigned char breakpoint = 0xcc;
  const unsigned char* const found = find_bytes(module, address, count);
  return found != nullptr && std::equal(code, code + count, found, [](unsigned char byte, unsigned char is) {
           return is == byte || is == breakpoint;
         });
}

// The code of markers' probes (include/adaptyst/detail/probes.hpp), with and without the long nops.
constexpr std::array<unsigned char, 17> long_probe{0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0,   0,
                                                   0,    0,    0x0f, 0x1f, 0x44, 0,    0, 0xc3};
constexpr std::array<unsigned char, 2> short_probe{0x90, 0xc3};

// From Linux 7.3 on, the 10-byte nop becomes `lea -0x80(%rsp), %rsp` and a call; the kernel's trampoline frees these bytes.
constexpr std::uint64_t red_zone_bytes = 128;
constexpr std::size_t long_nop_at = 1, call_at = 6, short_nop_at = 11, long_ret_at = 16;  // in long_probe

bool is_behind_long_nop(Dwfl_Module* module, std::uint64_t address) {
  constexpr std::size_t bytes = short_nop_at - long_nop_at;
  return has_code(module, address - bytes, long_probe.data() + long_nop_at, bytes);
}

// Bytes between the stack pointer and the return address of a probe; empty: the address is not that of an instruction of
// a probe, nor the last byte of a call of the kernel.
std::optional<std::uint64_t> find_return_of_probe(Dwfl_Module* module, std::uint64_t address) {
  constexpr std::uint64_t alignment = 16;
  const std::uint64_t offset = address % alignment, begin = address - offset;
  const auto is_long = [&](std::uint64_t at) { return has_code(module, at, long_probe.data(), long_probe.size()); };
  static_assert(long_ret_at == alignment);
  if (offset == 0 && is_long(begin - long_ret_at)) return 0;
  if (offset < short_probe.size() && has_code(module, begin, short_probe.data(), short_probe.size())) return 0;
  if (!is_long(begin)) return std::nullopt;
  switch (offset) {
    case 0:
    case long_nop_at:
    case short_nop_at - 1:
    case short_nop_at:
    case long_ret_at - 1: return 0;
    case call_at: return red_zone_bytes;
    default: return std::nullopt;
  }
}

// The same for the kernel's trampoline (uprobe_trampoline_entry in arch/x86/kernel/uprobes.c), which saves three registers.
std::optional<std::uint64_t> find_return_of_trampoline(std::uint64_t offset) {
  switch (offset) {
    case 0: return 0;                // push %rcx
    case 1: return word_bytes;       // push %r11
    case 3: return 2 * word_bytes;   // push %rax
    case 4:                          // mov $__NR_uprobe, %rax
    case 11:                         // syscall
    case 13: return 3 * word_bytes;  // pop %rax
    case 14: return 2 * word_bytes;  // pop %r11
    case 16: return word_bytes;      // pop %rcx
    case 17: return 0;               // ret, from Linux 7.3 on ret $0x80
    default: return std::nullopt;
  }
}

// Behind DW_CFA_restore_state, libdw reports the begin of the remembered range, before ranges with other rules. The ends
// that it reports are right: the range of the address begins at the last of them.
Dwarf_Addr find_begin(Dwarf_CFI* table, Dwarf_Addr begin, Dwarf_Addr address) {
  constexpr int max_ranges = 64;
  for (int range = 0; range != max_ranges && begin < address; ++range) {
    Dwarf_Frame* frame = nullptr;
    Dwarf_Addr unused = 0, end = 0;
    bool is_interrupted = false;
    if (dwarf_cfi_addrframe(table, begin, &frame) != 0) return address;
    const bool is_read = dwarf_frame_info(frame, &unused, &end, &is_interrupted) >= 0;
    std::free(frame);
    if (!is_read || end <= begin) return address;
    if (end > address) return begin;
    begin = end;
  }
  return address;
}

// Takes the tables in the order of libdw.
ranged_rule read_rule(Dwfl* files, std::uint64_t address) {
  ranged_rule made{address, address + 1, {}};
  Dwfl_Module* const module = files != nullptr ? dwfl_addrmodule(files, address) : nullptr;
  made.rule.is_mapped = module != nullptr;
  if (module == nullptr || !has_pc_register) return made;
  for (const auto find_table : {dwfl_module_eh_cfi, dwfl_module_dwarf_cfi}) {
    Dwarf_Addr bias = 0;
    Dwarf_CFI* const table = find_table(module, &bias);
    Dwarf_Frame* frame = nullptr;
    if (table == nullptr || dwarf_cfi_addrframe(table, address - bias, &frame) != 0) continue;
    made.rule.is_usual = read_sources(frame, made);
    std::free(frame);
    made.begin = find_begin(table, made.begin, address - bias);
    made.begin += bias;
    made.end += bias;
    break;
  }
  if (address < made.begin || address >= made.end) made.begin = address, made.end = address + 1;
  return made;
}

// The code of a process, with all that libdw has read.
struct process_tables {
  class walk* current = nullptr;
  pid_t process = 0;
  std::string image;  // changes with exec()
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> files{nullptr, dwfl_end};
  std::map<std::string, loaded_file> loaded;  // by module name
  std::vector<trampoline> trampolines;
  std::size_t* all_rules = nullptr;                             // number of rules and places of all processes
  std::map<std::uint64_t, ranged_rule> rules;                   // by the begin of their code
  std::unordered_map<std::uint64_t, const frame_rule*> places;  // by address of code
  ranged_rule last_rule;                                        // if there is no room for more
  bool is_attached = false;
  std::uint64_t noted_ns = 0, pause_ns = 0;  // the last read of the mappings, and the time until the next
  std::uint64_t compared_ns = 0;             // the last comparison of the image
  std::uint64_t used_ns = 0;                 // the last use
  unsigned slow_stacks = 0;

  // Returns whether there are other modules or trampolines now. A module that is still there keeps its tables. Reads the
  // mappings also if all code is in known modules: exec() and dlclose() may have replaced these at the same addresses.
  bool note_mappings(elf_files& all, bool has_unknown_code) {
    const std::uint64_t now_ns = detail::monotonic_ns();
    const bool is_due = noted_ns == 0 || now_ns - noted_ns >= (has_unknown_code ? pause_ns : known_code_pause_ns);
    if (!is_due && now_ns - compared_ns < image_pause_ns) return false;
    compared_ns = now_ns;
    std::string now = find_image(process);
    if (now.empty() || (!is_due && now == image)) return false;
    noted_ns = now_ns;
    if (now != image) become(std::move(now));
    std::vector<trampoline> found_trampolines;
    std::map<std::string, loaded_file> found = list_loaded(process, all, found_trampolines);
    const bool has_same_trampolines = found_trampolines == trampolines;
    if (!has_same_trampolines) forget_rules();
    trampolines = std::move(found_trampolines);
    const bool is_same =
        has_same_trampolines && found.size() == loaded.size() &&
        std::equal(found.begin(), found.end(), loaded.begin(), [](auto& a, auto& b) { return a.first == b.first; });
    if (!is_same) pause_ns = first_pause_ns;
    else if (has_unknown_code) pause_ns = std::clamp(2 * pause_ns, first_pause_ns, longest_pause_ns);
    if (is_same) return false;
    static const Dwfl_Callbacks calls = find_tables();
    if (files == nullptr) files.reset(dwfl_begin(&calls));
    if (files == nullptr) return false;
    loaded = std::move(found);
    forget_rules();
    dwfl_report_begin(files.get());
    for (auto& [name, file] : loaded) {
      Dwfl_Module* const module = dwfl_report_module(files.get(), name.c_str(), file.begin, file.end);
      void** of = nullptr;
      if (module != nullptr) dwfl_module_info(module, &of, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
      if (of != nullptr) *of = &file;
    }
    dwfl_report_end(files.get(), nullptr, nullptr);
    return true;
  }
  void forget_rules() {
    *all_rules -= rules.size() + places.size();
    rules.clear();
    places.clear();
  }
  const frame_rule& find_rule(std::uint64_t address) {
    const auto place = places.find(address);
    if (place != places.end()) return *place->second;
    const frame_rule& rule = find_ranged(address);
    if (&rule == &last_rule.rule || *all_rules == max_rules) return rule;
    ++*all_rules;
    places.emplace(address, &rule);
    return rule;
  }
  const frame_rule& find_ranged(std::uint64_t address) {
    const auto above = rules.upper_bound(address);
    if (above != rules.begin() && address < std::prev(above)->second.end) return std::prev(above)->second.rule;
    last_rule = read_rule(files.get(), address);
    if (find_trampoline(address) != nullptr) last_rule.rule.is_mapped = true;
    // Ranges of damaged tables may overlap: this rule is then for its address only.
    if (rules.count(last_rule.begin) != 0) last_rule.begin = address, last_rule.end = address + 1;
    if (*all_rules == max_rules) return last_rule.rule;
    ++*all_rules;
    return rules.emplace(last_rule.begin, last_rule).first->second.rule;
  }
  const trampoline* find_trampoline(std::uint64_t address) const {
    const auto found = std::find_if(trampolines.begin(), trampolines.end(),
                                    [&](const trampoline& of) { return address >= of.begin && address < of.end; });
    return found != trampolines.end() ? &*found : nullptr;
  }
  Dwfl_Module* find_module(std::uint64_t address) const {
    return files != nullptr ? dwfl_addrmodule(files.get(), address) : nullptr;
  }
  // After exec(), or for another process with this number.
  void become(std::string now) {
    forget_rules();
    loaded.clear();
    trampolines.clear();
    files.reset();
    image = std::move(now);
    is_attached = false;
    pause_ns = 0;
    slow_stacks = 0;
  }
  bool has_code_at(std::uint64_t address) const {
    return find_module(address) != nullptr || find_trampoline(address) != nullptr;
  }
};

using end = stack_tables::end;
constexpr std::size_t max_frames = stack_tables::max_frames;

// One stack.
class walk {
 public:
  walk(process_tables& of, const copied_stack& from, std::vector<std::uint64_t>& frames)
      : of_(of), from_(from), frames_(frames) {}

  end run() {
    static const Dwfl_Thread_Callbacks calls = {next_thread, get_thread, read_memory, set_registers, nullptr, nullptr};
    if (!of_.is_attached) of_.is_attached = dwfl_attach_state(of_.files.get(), own_vdso(), of_.process, &calls, &of_);
    for (std::size_t at = 0; at != register_count; ++at) registers_.set(at, from_.registers[at]);
    code_ = registers_.values[pc_at];
    add(code_);
    of_.current = this;
    const end how = follow();
    of_.current = nullptr;
    return how;
  }
  // Whether a frame is in no mapped file.
  bool is_unmapped() const noexcept { return is_unmapped_; }
  bool is_slow() const noexcept { return is_slow_; }

 private:
  static constexpr int go_on = DWARF_CB_OK, stop = DWARF_CB_ABORT, rules_next = 100;

  end follow() {
    for (;;) {
      if (const std::optional<end> ended = follow_rules()) return *ended;
      is_resumed_ = true;
      const int why = dwfl_getthread_frames(
          of_.files.get(), of_.process,
          [](Dwfl_Frame* frame, void* to) noexcept { return static_cast<walk*>(to)->take(frame); }, this);
      if (why == rules_next) continue;
      if (is_cut_) return end::truncated;
      return why == 0 ? end::complete : end::broken;
    }
  }

  // Empty: libdw has to unwind the frame.
  std::optional<end> follow_rules() {
    for (;;) {
      const frame_rule& rule = of_.find_rule(code_);
      is_unmapped_ = is_unmapped_ || !rule.is_mapped;
      if (rule.is_outermost) return end::complete;
      if (is_leaf_ && !rule.is_usual) {
        if (const std::optional<std::uint64_t> to_return = find_return()) {
          if (!leave_probe(*to_return)) return is_cut_ ? end::truncated : end::broken;
          continue;
        }
      }
      if (!rule.is_usual || !registers_.has(rule.cfa_register)) return std::nullopt;
      registers_ = find_caller(rule);
      if (!registers_.has(pc_at)) return is_cut_ ? end::truncated : end::broken;
      const std::uint64_t pc = registers_.values[pc_at];
      if (pc == 0) return end::complete;
      is_leaf_ = rule.is_interrupted;
      code_ = is_leaf_ ? pc : pc - 1;
      if (!add(code_ + 1)) return is_cut_ ? end::truncated : end::broken;
    }
  }

  // Probes of markers and the kernel's trampolines, which they call, have no tables. Bytes between the stack pointer and
  // the return address; empty: other code.
  std::optional<std::uint64_t> find_return() const {
    if (!has_pc_register || !registers_.has(stack_pointer_at)) return std::nullopt;
    if (const trampoline* const of = of_.find_trampoline(code_)) return find_return_of_trampoline(code_ - of->begin);
    Dwfl_Module* const module = of_.find_module(code_);
    return module != nullptr ? find_return_of_probe(module, code_) : std::nullopt;
  }

  bool leave_probe(std::uint64_t to_return) {
    const bool is_trampoline = of_.find_trampoline(code_) != nullptr;
    const std::uint64_t place = registers_.values[stack_pointer_at] + to_return;
    std::uint64_t pc = 0;
    if (!read(place, pc) || pc == 0) return false;
    const bool is_mapped = of_.find_rule(pc - 1).is_mapped;
    is_unmapped_ = is_unmapped_ || !is_mapped;
    if (!is_mapped) return false;
    Dwfl_Module* const module = is_trampoline ? of_.find_module(pc - 1) : nullptr;
    const std::uint64_t freed = module != nullptr && is_behind_long_nop(module, pc) ? red_zone_bytes : 0;
    registers_.set(stack_pointer_at, place + word_bytes + freed);
    registers_.set(pc_at, pc);
    is_leaf_ = is_trampoline;
    code_ = pc - 1;
    return add(pc);
  }

  frame_registers find_caller(const frame_rule& rule) {
    using source = frame_rule::source;
    frame_registers made;
    const std::uint64_t cfa = registers_.values[rule.cfa_register] + static_cast<std::uint64_t>(rule.cfa_offset);
    for (std::size_t at = 0; at != register_count; ++at) {
      const std::uint64_t place = cfa + static_cast<std::uint64_t>(std::int64_t{rule.offsets[at]});
      std::uint64_t value = 0;
      switch (rule.sources[at]) {
        case source::unknown: break;
        case source::same:
          if (registers_.has(at)) made.set(at, registers_.values[at]);
          break;
        case source::saved:
          if (read(place, value)) made.set(at, value);
          break;
        case source::from_cfa: made.set(at, place); break;
      }
    }
    return made;
  }

  // libdw has one pointer for all stacks of a process.
  static walk& of_process(void* tables) { return *static_cast<process_tables*>(tables)->current; }
  static pid_t next_thread(Dwfl*, void*, void**) noexcept { return 0; }
  static bool get_thread(Dwfl*, pid_t, void* of, void** thread) noexcept {
    *thread = of;
    return true;
  }
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* to, void* tables) noexcept {
    std::uint64_t value = 0;
    if (!of_process(tables).read(address, value)) return false;
    *to = value;
    return true;
  }
  static bool set_registers(Dwfl_Thread* thread, void* tables) noexcept {
    return of_process(tables).set_registers(thread);
  }

  static bool set_register(Dwfl_Thread* thread, std::size_t at, std::uint64_t value) {
    const unsigned number = dwarf_numbers[at];
    const Dwarf_Word word = value;
    if (at == pc_at) dwfl_thread_state_register_pc(thread, word);
    return (at == pc_at && !has_pc_register) || dwfl_thread_state_registers(thread, static_cast<int>(number), 1, &word);
  }
  // The frame from which libdw goes on.
  bool set_registers(Dwfl_Thread* thread) const {
    for (std::size_t at = 0; at != register_count; ++at)
      if (registers_.has(at) && !set_register(thread, at, at == pc_at ? code_ : registers_.values[at])) return false;
    return true;
  }

  bool read(std::uint64_t address, std::uint64_t& value) {
    const std::uint64_t offset = address - from_.registers[stack_pointer_at];
    const std::size_t bytes = from_.bytes.size();
    if (offset < bytes && bytes - offset >= word_bytes) {
      std::memcpy(&value, from_.bytes.data() + offset, word_bytes);
      return true;
    }
    constexpr std::uint64_t largest_stack = std::uint64_t{1} << 30;  // beyond, it is no address of the stack
    if (bytes >= from_.max_bytes && offset >= bytes && offset < largest_stack) is_cut_ = true;
    return false;
  }

  // False: a limit is reached.
  bool add(std::uint64_t frame) {
    frames_.push_back(frame);
    if (frames_.size() == max_frames) is_cut_ = true;
    is_slow_ = detail::monotonic_ns() - begun_ns_ > max_stack_ns && thread_cpu_ns() - begun_cpu_ns_ > max_stack_ns;
    return !is_cut_ && !is_slow_;
  }

  // A frame of libdw.
  int take(Dwfl_Frame* frame) {
    Dwarf_Addr pc = 0;
    bool is_interrupted = false;
    if (!dwfl_frame_pc(frame, &pc, &is_interrupted)) return stop;
    if (std::exchange(is_resumed_, false)) return go_on;
    if (pc == 0) return stop;
    is_leaf_ = is_interrupted;
    code_ = is_interrupted ? pc : pc - 1;
    if (!add(code_ + 1)) return stop;
    const frame_rule& rule = of_.find_rule(code_);
    is_unmapped_ = is_unmapped_ || !rule.is_mapped;
    const bool is_usual = rule.is_usual;
    const std::size_t base = is_usual ? rule.cfa_register : stack_pointer_at;
    if (!is_usual && !is_leaf_) return go_on;
    registers_.present = 0;
    for (std::size_t at = 0; at != register_count; ++at) {
      Dwarf_Word value = 0;
      if (at != pc_at && dwfl_frame_reg(frame, dwarf_numbers[at], &value) == 0) registers_.set(at, value);
    }
    registers_.set(pc_at, pc);
    return registers_.has(base) && (is_usual || find_return()) ? rules_next : go_on;
  }

  process_tables& of_;
  const copied_stack& from_;
  std::vector<std::uint64_t>& frames_;
  const std::uint64_t begun_ns_ = detail::monotonic_ns(), begun_cpu_ns_ = thread_cpu_ns();
  frame_registers registers_;  // of the last frame
  std::uint64_t code_ = 0;     // an address within its instruction
  bool is_resumed_ = false, is_cut_ = false, is_unmapped_ = false, is_slow_ = false;
  bool is_leaf_ = true;  // the last frame was interrupted: its function has called no other
};

}  // namespace

struct stack_tables::state {
  elf_files files;  // outlives the processes' modules, which have references
  std::map<pid_t, process_tables> processes;
  std::size_t rules = 0;

  void erase(pid_t process) {
    const auto found = processes.find(process);
    if (found == processes.end()) return;
    found->second.forget_rules();
    processes.erase(found);
  }

  // Null: there are too many.
  process_tables* find(pid_t process) {
    const std::uint64_t now_ns = detail::monotonic_ns();
    if (processes.size() == max_processes && processes.count(process) == 0) {
      const auto oldest = std::min_element(processes.begin(), processes.end(), [](const auto& a, const auto& b) {
        return a.second.used_ns < b.second.used_ns;
      });
      if (now_ns - oldest->second.used_ns < min_kept_ns) return nullptr;
      erase(oldest->first);
    }
    process_tables& of = processes[process];
    of.process = process;
    of.all_rules = &rules;
    of.used_ns = now_ns;
    return &of;
  }
};

stack_tables::stack_tables() : state_(std::make_unique<state>()) {}
stack_tables::~stack_tables() = default;

std::uint64_t stack_tables::needed_registers() noexcept { return register_mask; }

std::optional<std::uint64_t> stack_tables::find_innermost(const std::vector<std::uint64_t>& registers) noexcept {
  return register_mask != 0 && registers.size() == dwarf_numbers.size() ? std::optional(registers[pc_at])
                                                                        : std::nullopt;
}

void stack_tables::forget(pid_t process) { state_->erase(process); }

end stack_tables::unwind(pid_t process, const copied_stack& from, std::vector<std::uint64_t>& frames) {
  frames.clear();
  if (!find_innermost(from.registers)) return end::broken;
  process_tables* const of = state_->find(process);
  if (of != nullptr) of->note_mappings(state_->files, !of->has_code_at(from.registers[pc_at]));
  end how = end::broken;
  for (bool is_again = false; of != nullptr && of->files != nullptr && of->slow_stacks < max_slow_stacks;) {
    frames.clear();
    walk stack(*of, from, frames);
    how = stack.run();
    if (stack.is_slow()) ++of->slow_stacks;
    if (is_again || how != end::broken || !stack.is_unmapped() || !of->note_mappings(state_->files, true)) break;
    is_again = true;
  }
  return how;
}

}  // namespace adaptyst::lib
