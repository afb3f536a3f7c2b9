#include "named_functions.hpp"

#include "elf_functions.hpp"
#include "function_sets.hpp"
#include "library_files.hpp"

namespace adaptyst::lib {

named_functions find_named(const std::vector<std::string>& named, pid_t process) {
  named_functions found;
  for (const std::string& text : named) {
    const bool is_set = text.find(':') == std::string::npos;
    for (const function_request& one : requests_of(text)) {
      const std::vector<std::string> files = files_for(one, process);
      for (const std::string& file : files) found.by_file[file].push_back(one);
      if (is_set) continue;  // of an interface, a program uses what it uses
      if (files.empty()) found.not_found.push_back(text + ": no such file or library");
      for (const std::string& file : files)
        if (find_functions(file, one.glob).empty()) found.not_found.push_back(explain_no_function(file, one.glob));
    }
  }
  return found;
}

}  // namespace adaptyst::lib
