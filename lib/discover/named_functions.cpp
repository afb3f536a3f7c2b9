#include "named_functions.hpp"

#include "elf_functions.hpp"
#include "function_request.hpp"

namespace adaptyst::lib {

named_functions find_named(const std::vector<std::string>& named,
                           const std::function<std::vector<std::string>(const function_request&)>& files) {
  named_functions all;
  std::map<std::string, std::vector<std::string>> files_named;
  for (const std::string& text : named) {
    const bool is_set = text.find(':') == std::string::npos;
    bool is_there = false;
    for (const function_request& request : parse_requests(text)) {
      const auto [known, is_new] = files_named.try_emplace(request.file);  // sets have many patterns for each
      if (is_new) known->second = files(request);
      for (const std::string& file : known->second) {
        is_there = true;
        // By its own name: what the loader calls libblas.so may be a link to something else.
        all.by_file[file].push_back({file, request.glob});
        // It is no error if a program uses no function of a set.
        if (!is_set && find_functions(file, request.glob).empty())
          all.not_found.push_back(explain_no_function(file, request.glob));
      }
    }
    if (is_there) continue;
    if (is_set) all.not_found.emplace_back(text + ": none of its libraries was found", text, 0, "name one by its path");
    else all.not_found.emplace_back(text + ": no such file or library", text, 0, "");
  }
  return all;
}

}  // namespace adaptyst::lib
