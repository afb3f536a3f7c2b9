// Splits FILE:PATTERN, and matches files and names with it.
#include "function_request.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "../support/error.hpp"
#include "../support/reading_process.hpp"

namespace adaptyst::lib {

function_request parse_function(std::string_view text) {
  // The first colon, because C++ names contain further colons.
  const std::size_t colon = text.find(':');
  const auto refuse = [&](std::string_view why) {
    throw error(fmt::format("cannot read '{}' as functions: {}", text, why), std::string(text), 0,
                "write FILE:PATTERN, as in 'libmpi.so:MPI_*' or './solver:compute_flux(*)'");
  };
  if (colon == std::string_view::npos) refuse("no file before a colon");
  if (colon == 0) refuse("the file is missing");
  if (colon + 1 == text.size()) refuse("the pattern is missing");
  if (text[colon + 1] == ':') refuse("the file is missing, or ends in '::'");
  if (text.find('\0') != std::string_view::npos) refuse("it contains a NUL");
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

bool is_for(const function_request& request, const std::string& file) {
  if (request.file.find('/') != std::string::npos) {
    struct stat requested {};
    struct stat loaded {};
    if (stat(request.file.c_str(), &requested) == 0 && find_status(file, loaded) == 0)
      return requested.st_dev == loaded.st_dev && requested.st_ino == loaded.st_ino;
    return request.file == file;
  }
  const std::string_view name = std::string_view(file).substr(file.rfind('/') + 1);
  return matches(request.file, name) || matches(request.file + ".*", name);
}

bool matches(std::string_view glob, std::string_view text) {
  // After a mismatch, only the last star can match more text, so no place is compared twice.
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  std::size_t at = 0;
  std::size_t in = 0;
  while (at != text.size()) {
    if (in != glob.size() && glob[in] == '*') {
      star = in++;
      resume = at;
    } else if (in != glob.size() && (glob[in] == '?' || glob[in] == text[at])) {
      ++in;
      ++at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', in) == std::string_view::npos;
}

bool is_cxx(std::string_view glob) {
  return glob.find('(') != std::string_view::npos || glob.find("::") != std::string_view::npos;
}

}  // namespace adaptyst::lib
