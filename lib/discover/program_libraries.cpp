#include "program_libraries.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "../support/error.hpp"
#include "../support/reading_process.hpp"
#include "../support/regular_file.hpp"
#include "elf_handle.hpp"

namespace adaptyst::lib {

namespace {

// A busy machine must not change the result: the time that other threads use does not count. A file system that does
// not answer uses no CPU time.
constexpr std::chrono::nanoseconds max_cpu_time = std::chrono::milliseconds{200};
constexpr std::chrono::nanoseconds max_wall_time = std::chrono::seconds{3};
constexpr std::size_t max_files = 512;
constexpr std::size_t max_directories = 256;

// The runtimes of sanitizers must be loaded first: a program with AddressSanitizer ends if another library is.
constexpr const char* sanitizers[] = {"libasan.so", "libtsan.so", "libhwasan.so", "liblsan.so", "libclang_rt."};
// Clang links them into the program, which then exports "__asan_init" and so on. Not in one text here: programs that
// contain this library would be taken for such programs.
constexpr const char* sanitizer_names[] = {"asan", "tsan", "msan", "hwasan"};

std::vector<std::string> list_sanitizer_functions() {
  std::vector<std::string> made;
  for (const char* const name : sanitizer_names) made.push_back(std::string("__").append(name).append("_init"));
  return made;
}

bool begins_with(const std::string& text, const char* begin) { return text.rfind(begin, 0) == 0; }

bool is_of_system(const std::string& file) {
  return begins_with(file, "/lib/") || begins_with(file, "/usr/lib/") || begins_with(file, "/lib64/") ||
         begins_with(file, "/usr/lib64/");
}

// LLVM's OpenMP contains the name of ITT's variable, but its interface for tools reports more. Whether a program uses
// ITT does not depend on this library.
bool may_reveal_use(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  return !is_of_system(file) && !begins_with(name, "libomp.so") && !begins_with(name, "libiomp5.so");
}

// The kernel then sets AT_SECURE, and the loader ignores LD_PRELOAD.
bool gains_rights(const std::string& program) {
  struct stat found {};
  return (find_status(program, found) == 0 && (found.st_mode & (S_ISUID | S_ISGID)) != 0) ||
         getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
}

bool has_sanitizer(const program_libraries& libraries) {
  const auto is_sanitizer = [](const std::string& name) {
    return std::any_of(std::begin(sanitizers), std::end(sanitizers),
                       [&](const char* begin) { return begins_with(name, begin); });
  };
  const std::vector<std::string> functions = list_sanitizer_functions();
  return std::any_of(libraries.names.begin(), libraries.names.end(), is_sanitizer) ||
         std::any_of(functions.begin(), functions.end(),
                     [&](const std::string& name) { return libraries.texts.count(name) != 0; });
}

// Constants of the source, and names of dynamic symbols.
bool may_have_texts(const GElf_Shdr& section) {
  if ((section.sh_flags & SHF_ALLOC) == 0) return false;
  return section.sh_type == SHT_STRTAB ||
         (section.sh_type == SHT_PROGBITS && (section.sh_flags & (SHF_EXECINSTR | SHF_WRITE)) == 0);
}

std::vector<std::string> with_sanitizers(std::vector<std::string> texts) {
  for (std::string& name : list_sanitizer_functions()) texts.push_back(std::move(name));
  return texts;
}

std::chrono::nanoseconds thread_time() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

using versions_by_library = std::map<std::string, std::set<std::string>>;

// The versions that a program and its libraries need.
versions_by_library needs_of_all(const program_libraries& program) {
  versions_by_library all = needed_versions(program.file);
  for (const auto& [ignored, file] : program.files)
    for (const auto& [name, versions] : needed_versions(file)) all[name].insert(versions.begin(), versions.end());
  return all;
}

bool lacks(const std::set<std::string>& versions, const versions_by_library& needs, const std::string& name) {
  const auto needed = needs.find(name);
  return needed != needs.end() &&
         !std::includes(versions.begin(), versions.end(), needed->second.begin(), needed->second.end());
}

}  // namespace

library_search::library_search(std::vector<std::string> texts)
    : texts_(with_sanitizers(std::move(texts))),
      end_(std::chrono::steady_clock::now() + max_wall_time),
      end_of_cpu_time_(thread_time() + max_cpu_time) {
  of_system_ = library_directories({});
  by_environment_ = environment_directories();
  of_system_.erase(of_system_.begin(), of_system_.begin() + static_cast<std::ptrdiff_t>(by_environment_.size()));
  limit(of_system_);
}

void library_search::limit(std::vector<std::string>& directories) noexcept {
  if (directories.size() <= max_directories) return;
  directories.resize(max_directories);
  is_cut_ = true;
}

bool library_search::has_time() noexcept {
  if (std::chrono::steady_clock::now() > end_ || thread_time() > end_of_cpu_time_) is_over_ = true;
  return !is_over_;
}

const linked_libraries& library_search::read_file(const std::string& file) {
  static const linked_libraries none;
  if (const auto entry = files_.find(file); entry != files_.end()) return entry->second;
  struct stat found {};
  if (find_status(file, found) != 0 || !S_ISREG(found.st_mode)) return none;
  if (files_.size() == max_files) is_over_ = true;
  if (!has_time()) return none;
  return files_.emplace(file, read_linked_libraries(file)).first->second;
}

// Empty: no folder has it, or a limit was reached.
std::string library_search::find_library(const std::string& name, const std::vector<std::string>& directories) {
  if (name.find('/') != std::string::npos) return read_file(name).is_elf ? name : std::string();
  for (const std::vector<std::string>* const list : {&directories, &std::as_const(of_system_)})
    for (const std::string& directory : *list) {
      if (!has_time()) return {};
      std::string file = directory;
      file.append(1, '/').append(name);
      if (read_file(file).is_elf) return file;  // the loader ignores files of other machines as well
    }
  return {};
}

// A library gets half of the remaining bytes, so that a large one leaves bytes for the programs that follow.
void library_search::add_texts(const std::string& file, bool is_program, std::set<std::string>& found) {
  auto entry = texts_of_.find(file);
  if (entry == texts_of_.end())
    entry = texts_of_.emplace(file, find_texts(file, is_program ? text_bytes_left_ : text_bytes_left_ / 2)).first;
  found.insert(entry->second.begin(), entry->second.end());
}

// `bytes_left`: the limit for this file.
std::set<std::string> library_search::find_texts(const std::string& file, std::uint64_t bytes_left) {
  std::set<std::string> found;
  constexpr std::size_t block = std::size_t{1} << 18;
  std::size_t longest = 0;
  for (const std::string& text : texts_) longest = std::max(longest, text.size());
  try {
    const regular_file opened(file, "texts", "");
    const elf_handle elf = open_elf(opened);
    std::vector<char> bytes(block);
    for (Elf_Scn* section = nullptr; elf != nullptr && (section = elf_nextscn(elf.get(), section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || !may_have_texts(header)) continue;
      // Blocks overlap: a text may begin in one and end in the next.
      for (std::uint64_t at = 0; at < header.sh_size && has_time(); at += block - longest) {
        const std::size_t wanted = std::min<std::uint64_t>(block, header.sh_size - at);
        if (wanted > bytes_left) {
          is_cut_ = true;
          return found;
        }
        bytes_left -= wanted;
        text_bytes_left_ -= wanted;
        const std::size_t got = opened.read(header.sh_offset + at, bytes.data(), wanted);
        for (const std::string& text : texts_)
          if (memmem(bytes.data(), got, text.data(), text.size()) != nullptr) found.insert(text);
        if (got != wanted) break;
      }
    }
  } catch (const error&) {  // it cannot be read
  }
  return found;
}

std::string find_preload_conflict(const program_libraries& preloaded, const program_libraries& program) {
  const versions_by_library our_needs = needs_of_all(preloaded);
  std::optional<versions_by_library> their_needs;  // read only if files differ
  for (const std::string& name : preloaded.names) {
    const auto theirs = program.files.find(name);
    const auto ours = preloaded.files.find(name);
    const bool is_theirs = program.direct.count(name) != 0 && theirs != program.files.end();
    if (ours == preloaded.files.end()) {
      if (is_theirs) continue;
      return name;
    }
    const bool may_be_theirs = theirs != program.files.end() && (is_theirs || preloaded.direct.count(name) == 0);
    if (may_be_theirs && lacks(defined_versions(theirs->second), our_needs, name)) return name;
    if (is_theirs) continue;
    const std::set<std::string> versions = defined_versions(ours->second);
    if (lacks(versions, our_needs, name)) return name;
    if (theirs == program.files.end() || theirs->second == ours->second) continue;
    if (!their_needs) their_needs = needs_of_all(program);
    if (lacks(versions, *their_needs, name)) return name;
  }
  return {};
}

program_libraries library_search::read(const std::string& program, const std::vector<std::string>& by_environment) {
  return read_all(program, by_environment, {});
}

program_libraries library_search::read_preloaded(const std::string& library, const program_libraries& program) {
  return read_all(library, program.by_environment, program.by_program);
}

// `inherited`: DT_RPATH of the program into which a library is preloaded.
program_libraries library_search::read_all(const std::string& program, const std::vector<std::string>& by_environment,
                                           const std::vector<std::string>& inherited) {
  program_libraries found;
  const linked_libraries& linked = read_file(program);
  found.is_elf = linked.is_elf;
  if (!linked.is_elf) return found;
  found.file = program;
  found.by_environment = by_environment;
  if (!linked.has_run_path) found.by_program = linked.path;
  add_texts(program, true, found.texts);
  struct object {
    std::string file;
    std::vector<std::string> inherited;  // DT_RPATH of the objects that need it
  };
  std::vector<object> objects{{program, inherited}};
  std::set<std::string> seen;
  for (std::size_t at = 0; at != objects.size(); ++at) {
    const object current = objects[at];
    const linked_libraries needing = read_file(current.file);
    std::vector<std::string> passed_on;
    if (!needing.has_run_path) passed_on = needing.path;
    append(passed_on, current.inherited);
    std::vector<std::string> directories;
    if (!needing.has_run_path) directories = passed_on;
    append(directories, by_environment);
    if (needing.has_run_path) append(directories, needing.path);
    limit(directories);
    for (const std::string& name : needing.needed) {
      if (!seen.insert(name).second || !has_time()) continue;
      found.names.push_back(name);
      if (at == 0) found.direct.insert(name);
      std::string file = find_library(name, directories);
      if (file.empty()) continue;
      found.files.emplace(name, file);
      if (may_reveal_use(file)) add_texts(file, false, found.texts);
      objects.push_back({std::move(file), passed_on});
    }
  }
  found.fails_with_preload = has_sanitizer(found);
  if (!linked.has_interpreter) found.no_preload_because = "is linked statically";
  else if (gains_rights(program)) found.no_preload_because = "is set-id, or has capabilities";
  else if (found.fails_with_preload) found.no_preload_because = "is built with a sanitizer";
  return found;
}

}  // namespace adaptyst::lib
