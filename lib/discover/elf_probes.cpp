// Reads adaptyst's note through the program headers, as the loader and the markers do. USDT notes are not loaded and
// are read through the section headers. The file may be damaged or malicious, so every offset is checked.
#include "elf_probes.hpp"

#include <fmt/format.h>

#include <adaptyst/detail/loaded_objects.hpp>
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/error.hpp"
#include "elf_handle.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint32_t note_type = 3;  // NT_STAPSDT

constexpr std::uint64_t max_note_bytes = std::uint64_t{64} << 20;        // the note of one probe has about 80
constexpr std::uint64_t max_loaded_note_bytes = std::uint64_t{1} << 20;  // usually 200

[[noreturn]] void fail_at_probes(const std::string& file, std::string_view why) {
  throw error(fmt::format("cannot read the probes of {}: {}", file, why), file, 0,
              "the file must be the ELF executable or library that is running, unmodified");
}

// Converts a linked address to an offset in the file.
std::uint64_t file_offset(const std::vector<elf_segment>& segments, const std::string& file, std::uint64_t address) {
  for (const elf_segment& segment : segments)
    if (address >= segment.address && address - segment.address < segment.bytes)
      return address - segment.address + segment.offset;
  fail_at_probes(file, fmt::format("no segment holds address {:#x}", address));
}

struct sections {
  Elf_Data* notes = nullptr;
  std::uint64_t base = 0;  // of .stapsdt.base; differs from the base in the notes if prelink has moved the file
};

sections find_sections(Elf* elf, const std::string& file) {
  sections found;
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) fail_at_probes(file, elf_errmsg(-1));
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) fail_at_probes(file, elf_errmsg(-1));
    const char* const name = elf_strptr(elf, names, header.sh_name);
    // The file is rejected: for each name without an end, libelf would search the whole table.
    if (name == nullptr) fail_at_probes(file, elf_errmsg(-1));
    if (std::strcmp(name, ".note.stapsdt") == 0 && header.sh_type == SHT_NOTE && found.notes == nullptr)
      found.notes = section_data(section, max_note_bytes);
    if (std::strcmp(name, ".stapsdt.base") == 0) found.base = header.sh_addr;
  }
  return found;
}

// Returns the string that begins at `*at` and ends before `end`, and moves `*at` after its NUL.
std::string_view next_string(const char** at, const char* end, const std::string& file) {
  const void* const nul = std::memchr(*at, 0, static_cast<std::size_t>(end - *at));
  if (nul == nullptr) fail_at_probes(file, "a probe note does not end in NUL");
  const std::string_view text(*at, static_cast<std::size_t>(static_cast<const char*>(nul) - *at));
  *at += text.size() + 1;
  return text;
}

void find_control_block(Elf* elf, const regular_file& file, elf_markers& markers) {
  std::vector<char> notes;
  for (const elf_segment& segment : find_segments(elf, PT_NOTE)) {
    const std::uint64_t unaligned = -segment.address & 3;
    if (segment.bytes <= unaligned || markers.control_block != 0) continue;
    notes.resize(std::min(segment.bytes - unaligned, max_loaded_note_bytes));
    const std::size_t bytes = file.read(segment.offset + unaligned, notes.data(), notes.size());
    detail::for_each_object_note(notes.data(), bytes,
                                 [&](std::uint32_t type, std::uint64_t offset_at, std::uint64_t offset) {
                                   if (type == ADAPTYST_OBJECT_NOTE)
                                     markers.control_block = segment.address + unaligned + offset_at + offset;
                                   else markers.other_abi = type;
                                   return markers.control_block == 0;
                                 });
  }
}

std::vector<elf_probe> read_probes(Elf* elf, const regular_file& opened, const std::string& file,
                                   const std::vector<elf_segment>& segments) {
  const sections found = find_sections(elf, file);
  std::vector<elf_probe> probes;
  if (found.notes == nullptr) return probes;
  const char* const bytes = static_cast<const char*>(found.notes->d_buf);
  GElf_Nhdr note;
  std::size_t name_at = 0;
  std::size_t body_at = 0;
  for (std::size_t at = 0; (at = gelf_getnote(found.notes, at, &note, &name_at, &body_at)) > 0;) {
    if (note.n_type != note_type || note.n_namesz != sizeof "stapsdt" ||
        std::memcmp(bytes + name_at, "stapsdt", sizeof "stapsdt") != 0)
      continue;
    std::uint64_t addresses[3];  // of the nop, the linked base, and the semaphore
    if (note.n_descsz < sizeof addresses + 3) fail_at_probes(file, "a probe note is too short");
    std::memcpy(addresses, bytes + body_at, sizeof addresses);
    const char* text = bytes + body_at + sizeof addresses;
    const char* const end = bytes + body_at + note.n_descsz;
    const std::string_view provider = next_string(&text, end, file);
    const std::string_view name = next_string(&text, end, file);
    const std::string_view arguments = next_string(&text, end, file);
    if (provider != "adaptyst") continue;
    const std::uint64_t moved = addresses[1] != 0 && found.base != 0 ? found.base - addresses[1] : 0;

    elf_probe probe;
    probe.name = name;
    probe.arguments = arguments;
    probe.address = addresses[0] + moved;
    probe.semaphore_address = addresses[2] != 0 ? addresses[2] + moved : 0;
    probe.offset = file_offset(segments, file, probe.address);
    probe.semaphore_offset = probe.semaphore_address != 0 ? file_offset(segments, file, probe.semaphore_address) : 0;
    constexpr unsigned char fast[] = {0x90,                                                        // the 1-byte nop
                                      0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00,  // the 10-byte nop
                                      0x0f, 0x1f, 0x44, 0x00, 0x00};                               // the 5-byte nop
    unsigned char code[sizeof fast];
    probe.has_fast_point =
        opened.read(probe.offset, code, sizeof code) == sizeof code && std::memcmp(code, fast, sizeof fast) == 0;
    probes.push_back(probe);
  }
  return probes;
}

bool has_section_headers(Elf* elf) {
  GElf_Ehdr header;
  return gelf_getehdr(elf, &header) != nullptr && header.e_shoff != 0;
}

}  // namespace

elf_markers find_elf_markers(const std::string& path, const std::string& called) {
  const std::string& file = called.empty() ? path : called;
  const regular_file opened(path, "probes", "the file must still be where it was loaded from");
  const elf_handle elf = open_elf(opened);
  if (elf == nullptr) fail_at_probes(file, "not an ELF file of 64 bits");

  const std::vector<elf_segment> segments = find_segments(elf.get(), PT_LOAD);
  elf_markers markers;
  find_control_block(elf.get(), opened, markers);
  if (markers.control_block != 0) {
    if (segments.empty()) fail_at_probes(file, "it has no loaded segment");
    markers.first_address = segments.front().address - segments.front().offset;
  }
  try {
    if (markers.control_block != 0 && opened.is_copied())
      fail_at_probes(file, "it is in a file system in user space (FUSE), which could block all forks of the system");
    if (markers.control_block != 0 && !has_section_headers(elf.get()))
      fail_at_probes(file, "it has no section headers");
    std::vector<elf_probe> probes = read_probes(elf.get(), opened, file, segments);
    const bool any =
        std::any_of(probes.begin(), probes.end(), [](const elf_probe& probe) { return probe.name == "region_end"; });
    if (markers.control_block != 0 && !any) fail_at_probes(file, "it has no probe notes in a section .note.stapsdt");
    markers.probes = std::move(probes);
  } catch (const error& failed) {
    if (markers.control_block == 0) throw;
    markers.no_probes_because = failed.summary();  // the object's own recorder is still readable
  }
  return markers;
}

bool has_markers(const std::string& file) {
  try {
    return find_elf_markers(file).control_block != 0;
  } catch (const error&) {
    return false;
  }
}

}  // namespace adaptyst::lib
