// Lists the files that a request may refer to. All libraries with that name are included, not only the first one that
// the loader would find, because the program may load another version.
#include "library_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "../support/process_maps.hpp"
#include "../support/reading_process.hpp"
#include "../support/regular_file.hpp"

namespace adaptyst::lib {

namespace {

namespace fs = std::filesystem;

// A list with each file once, even if the file has several names.
class file_list {
 public:
  void add(const std::string& file) {
    struct stat identity {};
    if (find_status(file, identity) == 0 && is_elf(file) && seen_.emplace(identity.st_dev, identity.st_ino).second)
      files_.push_back(file);
  }
  // Adds the target of a link, by its real name.
  void add_resolved(const fs::path& file) {
    std::error_code missing;
    const fs::path real = fs::canonical(file, missing);
    if (!missing) add(real.string());
  }
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::vector<std::string> files_;
};

// Not only the first library, where the loader would stop: it may need another version, or load for another program.
void add_libraries(file_list& files, const function_request& request, const std::vector<std::string>& programs) {
  for (const std::string& directory : library_directories(programs)) {
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, missing)) {
      const std::string name = entry.path().filename().string();
      // libx.a and libx.la are in the same folder as libx.so.1.
      if (name.find(".so") != std::string::npos && is_for(request, entry.path().string()))
        files.add_resolved(entry.path());
    }
  }
}

}  // namespace

std::vector<std::string> files_for(const function_request& request, pid_t process) {
  if (request.file.find('/') != std::string::npos) return {request.file};
  file_list found;
  for (const mapped_file& file : mapped_files(process))
    if (is_for(request, file.path)) found.add(file.here);
  if (found.files().empty()) add_libraries(found, request, {});
  return found.files();
}

std::vector<std::string> files_for(const function_request& request, const std::vector<std::string>& command) {
  if (request.file.find('/') != std::string::npos) return {request.file};
  file_list found;
  std::vector<std::string> programs;
  for (const std::string& word : command) {
    const std::string program = program_called(word);
    if (program.empty()) continue;
    programs.push_back(program);
    if (is_for(request, program)) found.add_resolved(program);
  }
  add_libraries(found, request, programs);
  return found.files();
}

std::vector<std::string> list_files(pid_t process) {
  file_list found;
  for (const mapped_file& file : mapped_files(process)) found.add(file.here);
  return found.files();
}

std::vector<std::string> list_files(const std::vector<std::string>& command) {
  constexpr std::size_t max_files = 512;
  file_list found;
  for (const std::string& word : command)
    if (const std::string program = program_called(word); !program.empty()) found.add_resolved(program);
  const std::vector<std::string> directories = library_directories(found.files());
  std::set<std::string> sought;
  for (std::size_t at = 0; at != found.files().size() && at != max_files; ++at)
    for (const std::string& name : needed_libraries(std::string(found.files()[at]))) {
      if (!sought.insert(name).second) continue;
      for (const std::string& directory : directories) {
        const std::size_t before = found.files().size();
        found.add_resolved(fs::path(directory) / name);
        if (found.files().size() != before) break;
      }
    }
  return found.files();
}

}  // namespace adaptyst::lib
