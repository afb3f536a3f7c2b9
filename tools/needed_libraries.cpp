#include "needed_libraries.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace adaptyst::tools {

namespace {

constexpr std::size_t most_entries = 4096;  // of a table; a damaged file may ask for any number

std::string path_of(const std::string& program, bool is_command) {
  if (!is_command || program.find('/') != program.npos) return program;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string file; std::getline(folders, file, ':');) {
    file.append("/").append(program);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return program;
}

template <class T>
bool read(std::ifstream& from, std::uint64_t offset, T& to) {
  from.clear();
  from.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(from.read(reinterpret_cast<char*>(&to), sizeof to));
}

}  // namespace

std::vector<std::string> needed_libraries(const std::string& program, bool is_command) {
  const std::string path = path_of(program, is_command);
  struct stat about {};
  if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};  // a pipe would be read empty
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!read(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  Elf64_Phdr dynamic{};
  for (std::size_t at = 0; at != segments.size(); ++at) {
    if (!read(file, header.e_phoff + at * sizeof(Elf64_Phdr), segments[at])) return {};
    if (segments[at].p_type == PT_DYNAMIC) dynamic = segments[at];
  }
  std::vector<std::uint64_t> names;
  std::uint64_t texts = 0;
  for (std::size_t at = 0; at != most_entries && at * sizeof(Elf64_Dyn) < dynamic.p_filesz; ++at) {
    Elf64_Dyn one{};
    if (!read(file, dynamic.p_offset + at * sizeof one, one) || one.d_tag == DT_NULL) break;
    if (one.d_tag == DT_NEEDED) names.push_back(one.d_un.d_val);
    if (one.d_tag == DT_STRTAB) texts = one.d_un.d_ptr;
  }
  std::vector<std::string> found;
  for (const Elf64_Phdr& one : segments) {
    if (one.p_type != PT_LOAD || texts < one.p_vaddr || texts - one.p_vaddr >= one.p_filesz) continue;
    for (const std::uint64_t name : names) {
      char text[256]{};
      file.clear();
      file.seekg(static_cast<std::streamoff>(one.p_offset + (texts - one.p_vaddr) + name));
      file.getline(text, sizeof text, '\0');
      found.emplace_back(text);
    }
    break;
  }
  return found;
}

}  // namespace adaptyst::tools
