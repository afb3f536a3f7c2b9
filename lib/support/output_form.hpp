// Where results go and in which form: [FORM:]FILE.
#ifndef ADAPTYST_LIB_SUPPORT_OUTPUT_FORM_HPP
#define ADAPTYST_LIB_SUPPORT_OUTPUT_FORM_HPP

#include <adaptyst/options.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

struct form_entry {
  output_form form;
  std::string_view name;
  std::string_view suffix;  // by which it is known where no form is named
  std::string_view meaning;
};

// Longer suffixes before those that they end in.
const std::vector<form_entry>& output_forms();
std::string_view form_name(output_form form);

// A form that is named, then one that the suffix tells. Only names of forms are taken for them, so other colons belong
// to the file; a word that is nearly one is a slip. Empty, and an error more in `wrong`, if there is none.
std::optional<output> parse_output(std::string_view text, std::vector<error>& wrong);

// What it takes for parse_output() to give the same again.
std::string to_text(const output& wanted);

// Whether the file has a name, and none but known placeholders in it; an error more in `wrong` if not.
bool is_file_name(const output& output, std::vector<error>& wrong);

// Whether %p or %r is in it.
bool tells_processes_apart(std::string_view pattern);

// "run-3.trace.json" of "run.trace.json" and "3".
std::string with_number(const std::string& file, std::string_view number);

// A file name with %p, %r, %h and %% replaced: pid, MPI rank ("0" outside MPI), host.
std::string expand(std::string_view pattern);

}  // namespace adaptyst::lib

#endif
