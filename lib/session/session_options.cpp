#include "session_options.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "../discover/function_request.hpp"
#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

void report_ignored(const std::vector<error>& left_out) {
  for (const error& error : left_out) complain(error.what());
}

// Reports unknown sets of functions: only lib/discover knows which sets there are.
options with_known_functions(options options, std::string_view source) {
  std::vector<std::string> choices;
  for (const std::string& text : options.functions) {
    try {
      parse_requests(text);
      choices.push_back(text);
    } catch (const error& wrong) {
      report_ignored({{fmt::format("{} in {}: ignored", wrong.summary(), source), wrong.subject(), 0, wrong.hint()}});
    }
  }
  options.functions = std::move(choices);
  return options;
}

}  // namespace

options read_options(std::string_view text, std::string_view source) {
  options made;
  report_ignored(apply(made, text, source));
  return with_known_functions(std::move(made), source);
}

options read_options(options filled, std::string_view source) {
  report_ignored(check(filled, source));
  return with_known_functions(std::move(filled), source);
}

options with_environment(options options) {
  // The variable may name a file to be written, so a program with more rights than its user, by ids or capabilities,
  // ignores it.
  const char* const variable = secure_getenv("ADAPTYST");
  if (variable == nullptr) return options;
  report_ignored(apply(options, variable, "$ADAPTYST"));
  return with_known_functions(std::move(options), "$ADAPTYST");
}

}  // namespace adaptyst::lib
