// Finds libraries by the loader's rules without running the program: from configuration files and the dynamic section
// of ELF files.
#include "library_files.hpp"

#include <gelf.h>
#include <glob.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "../support/elf_header.hpp"
#include "../support/error.hpp"
#include "elf_handle.hpp"

namespace adaptyst::lib {

namespace {

constexpr int deepest_include = 8;  // a file may include itself

std::vector<std::string> files_like(const std::string& pattern) {
  std::vector<std::string> files;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return files;
}

void read_configuration(std::vector<std::string>& into, const std::string& file, int depth) {
  if (depth == deepest_include) return;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    words >> word;
    if (word.empty() || word == "hwcap") continue;
    if (word != "include") {
      into.push_back(word);
      continue;
    }
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    while (words >> word)
      for (const std::string& text : files_like((folder / word).string())) read_configuration(into, text, depth + 1);
  }
}

std::string with_origin(std::string path, const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  for (const std::string name : {"${ORIGIN}", "$ORIGIN"})
    for (std::size_t at = 0; (at = path.find(name, at)) != std::string::npos; at += folder.size())
      path.replace(at, name.size(), folder);
  return path;
}

constexpr std::uint64_t max_dynamic_bytes = std::uint64_t{1} << 20;

// Calls visit(elf, file) if the file is ELF for this machine. Returns whether it is.
template <class Visit>
bool read_dynamic(const std::string& file, Visit&& visit) {
  try {
    const regular_file opened(file, "libraries", "");
    const elf_handle elf = open_elf(opened);
    GElf_Ehdr head;
    const bool fits = elf != nullptr && gelf_getehdr(elf.get(), &head) != nullptr && head.e_machine == this_machine &&
                      head.e_ident[EI_CLASS] == ELFCLASS64;
    if (fits) visit(elf.get(), opened);
    return fits;
  } catch (const error&) {  // the file cannot be opened, or is not a regular file
    return false;
  }
}

// The text at an offset of the file; empty if it is longer than any path. The section of texts is not read as a whole:
// a large library has many megabytes of them.
std::string read_text(const regular_file& file, std::uint64_t offset) {
  char text[PATH_MAX];
  const std::size_t bytes = file.read(offset, text, sizeof text);
  const auto* const end = static_cast<const char*>(std::memchr(text, '\0', bytes));
  return end != nullptr ? std::string(text, static_cast<std::size_t>(end - text)) : std::string();
}

// Adds the entries of a dynamic section.
void read_dynamic(linked_libraries& into, std::string& list, Elf* elf, Elf_Scn* section, const regular_file& file) {
  constexpr std::size_t max_needed = 4096;
  GElf_Shdr header, texts;
  Elf_Data* const data = section_data(section, max_dynamic_bytes);
  if (data == nullptr || gelf_getshdr(section, &header) == nullptr ||
      gelf_getshdr(elf_getscn(elf, header.sh_link), &texts) == nullptr)
    return;
  GElf_Dyn entry;
  for (int at = 0; gelf_getdyn(data, at, &entry) != nullptr && entry.d_tag != DT_NULL; ++at) {
    const bool is_name = entry.d_tag == DT_NEEDED && into.needed.size() != max_needed;
    const bool is_path = entry.d_tag == DT_RUNPATH || (entry.d_tag == DT_RPATH && !into.has_run_path);
    if ((!is_name && !is_path) || entry.d_un.d_val >= texts.sh_size) continue;
    std::string text = read_text(file, texts.sh_offset + entry.d_un.d_val);
    if (is_path) {
      into.has_run_path = entry.d_tag == DT_RUNPATH;  // then the loader ignores DT_RPATH
      list = std::move(text);
    } else if (!text.empty()) {
      into.needed.push_back(std::move(text));
    }
  }
}

}  // namespace

std::vector<std::string> split_directories(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream from(list);
  for (std::string directory; std::getline(from, directory, ':');)
    if (!directory.empty()) parts.push_back(directory);
  return parts;
}

std::vector<std::string> configured_directories(const std::string& file) {
  std::vector<std::string> all;
  read_configuration(all, file, 0);
  return all;
}

linked_libraries read_linked_libraries(const std::string& file) {
  linked_libraries all;
  std::string list;
  all.is_elf = read_dynamic(file, [&](Elf* elf, const regular_file& opened) {
    all.has_interpreter = !find_segments(elf, PT_INTERP).empty();
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC) continue;
      read_dynamic(all, list, elf, section, opened);
      return;  // a valid file has one; libelf keeps the data of each
    }
  });
  for (const std::string& directory : split_directories(list)) all.path.push_back(with_origin(directory, file));
  return all;
}

std::set<std::string> defined_versions(const std::string& file) {
  constexpr int max_versions = 4096;
  std::set<std::string> found;
  read_dynamic(file, [&](Elf* elf, const regular_file& opened) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header, texts;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_GNU_verdef) continue;
      Elf_Data* const data = section_data(section, max_dynamic_bytes);
      if (data == nullptr || gelf_getshdr(elf_getscn(elf, header.sh_link), &texts) == nullptr) return;
      GElf_Verdef version;
      GElf_Verdaux name;
      for (std::uint64_t at = 0, count = 0; count != max_versions && at < max_dynamic_bytes; ++count) {
        if (gelf_getverdef(data, static_cast<int>(at), &version) == nullptr) return;
        const std::uint64_t name_at = at + version.vd_aux;
        const bool is_own_name = (version.vd_flags & VER_FLG_BASE) != 0;
        if (!is_own_name && name_at < max_dynamic_bytes &&
            gelf_getverdaux(data, static_cast<int>(name_at), &name) != nullptr && name.vda_name < texts.sh_size)
          found.insert(read_text(opened, texts.sh_offset + name.vda_name));
        if (version.vd_next == 0) return;
        at += version.vd_next;
      }
      return;
    }
  });
  return found;
}

std::map<std::string, std::set<std::string>> needed_versions(const std::string& file) {
  constexpr int max_versions = 512;
  std::map<std::string, std::set<std::string>> found;
  read_dynamic(file, [&](Elf* elf, const regular_file& opened) {
    GElf_Shdr header, texts;
    Elf_Scn* section = nullptr;
    do section = elf_nextscn(elf, section);
    while (section != nullptr && (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_GNU_verneed));
    Elf_Data* const data = section != nullptr ? section_data(section, max_dynamic_bytes) : nullptr;
    if (data == nullptr || gelf_getshdr(elf_getscn(elf, header.sh_link), &texts) == nullptr) return;
    const auto text = [&](std::uint64_t at) {
      return at < texts.sh_size ? read_text(opened, texts.sh_offset + at) : std::string();
    };
    int count = 0;
    GElf_Verneed library;
    for (std::uint64_t at = 0; at < max_dynamic_bytes && count < max_versions; at += library.vn_next) {
      if (gelf_getverneed(data, static_cast<int>(at), &library) == nullptr) return;
      std::set<std::string>& versions = found[text(library.vn_file)];
      GElf_Vernaux version;
      for (std::uint64_t version_at = at + library.vn_aux; version_at < max_dynamic_bytes && count < max_versions;
           version_at += version.vna_next, ++count) {
        if (gelf_getvernaux(data, static_cast<int>(version_at), &version) == nullptr) break;
        if ((version.vna_flags & VER_FLG_WEAK) == 0) versions.insert(text(version.vna_name));
        if (version.vna_next == 0) break;
      }
      if (library.vn_next == 0) return;
      ++count;
    }
  });
  return found;
}

std::vector<std::string> run_path(const std::string& file) { return read_linked_libraries(file).path; }

std::vector<std::string> needed_libraries(const std::string& file) { return read_linked_libraries(file).needed; }

bool is_elf(const std::string& file) {
  return read_dynamic(file, [](Elf*, const regular_file&) {});
}

std::vector<std::string> environment_directories() {
  const char* const list = std::getenv("LD_LIBRARY_PATH");
  return list != nullptr ? split_directories(list) : std::vector<std::string>{};
}

std::vector<std::string> library_directories(const std::vector<std::string>& programs) {
  std::vector<std::string> all = environment_directories();
  const auto append = [&](const std::vector<std::string>& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const std::string& program : programs) append(run_path(program));
  append(configured_directories("/etc/ld.so.conf"));
  append({"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"});
  return all;
}

}  // namespace adaptyst::lib
