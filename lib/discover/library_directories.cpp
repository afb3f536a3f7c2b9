// Finds libraries by the loader's rules without running the program: from configuration files and the dynamic section
// of ELF files.
#include "library_files.hpp"

#include <gelf.h>
#include <glob.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../support/error.hpp"
#include "elf_handle.hpp"

namespace adaptyst::lib {

namespace {

constexpr int deepest_include = 8;  // a file may include itself

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream from(list);
  for (std::string one; std::getline(from, one, ':');)
    if (!one.empty()) parts.push_back(one);
  return parts;
}

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
      for (const std::string& one : files_like((folder / word).string())) read_configuration(into, one, depth + 1);
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

#if defined(__aarch64__)
constexpr unsigned this_machine = EM_AARCH64;
#else
constexpr unsigned this_machine = EM_X86_64;
#endif

// Calls visit(elf) if the file is ELF for this machine. Returns whether it is.
template <class Visit>
bool look_into(const std::string& file, Visit&& visit) {
  try {
    const regular_file opened(file, "libraries", "");
    const elf_handle elf = open_elf(opened);
    GElf_Ehdr head;
    const bool fits = elf != nullptr && gelf_getehdr(elf.get(), &head) != nullptr && head.e_machine == this_machine &&
                      head.e_ident[EI_CLASS] == ELFCLASS64;
    if (fits) visit(elf.get());
    return fits;
  } catch (const error&) {  // the file cannot be opened, or is not a regular file
    return false;
  }
}

// Calls visit(tag, text) for each text entry of the dynamic section.
template <class Visit>
void for_each_dynamic_text(const std::string& file, Visit&& visit) {
  look_into(file, [&](Elf* elf) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC) continue;
      Elf_Data* const data = section_data(section, max_dynamic_bytes);
      GElf_Dyn entry;
      for (int at = 0; data != nullptr && gelf_getdyn(data, at, &entry) != nullptr && entry.d_tag != DT_NULL; ++at) {
        if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RUNPATH && entry.d_tag != DT_RPATH) continue;
        if (const char* const text = elf_strptr(elf, header.sh_link, entry.d_un.d_val)) visit(entry.d_tag, text);
      }
    }
  });
}

}  // namespace

std::vector<std::string> configured_directories(const std::string& file) {
  std::vector<std::string> all;
  read_configuration(all, file, 0);
  return all;
}

std::vector<std::string> run_path(const std::string& file) {
  std::string list;
  bool is_final = false;
  for_each_dynamic_text(file, [&](GElf_Sxword tag, const char* text) {
    if (tag != DT_RUNPATH && (tag != DT_RPATH || is_final)) return;
    is_final = tag == DT_RUNPATH;  // then the loader ignores DT_RPATH
    list = text;
  });
  std::vector<std::string> all;
  for (const std::string& one : split(list)) all.push_back(with_origin(one, file));
  return all;
}

std::vector<std::string> needed_libraries(const std::string& file) {
  std::vector<std::string> all;
  for_each_dynamic_text(file, [&](GElf_Sxword tag, const char* text) {
    if (tag == DT_NEEDED) all.emplace_back(text);
  });
  return all;
}

bool is_elf(const std::string& file) {
  return look_into(file, [](Elf*) {});
}

std::vector<std::string> library_directories(const std::vector<std::string>& programs) {
  std::vector<std::string> all;
  if (const char* const first = std::getenv("LD_LIBRARY_PATH")) all = split(first);
  const auto append = [&](const std::vector<std::string>& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const std::string& program : programs) append(run_path(program));
  append(configured_directories("/etc/ld.so.conf"));
  append({"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"});
  return all;
}

}  // namespace adaptyst::lib
