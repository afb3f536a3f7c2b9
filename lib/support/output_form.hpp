// The place and the form of results: [FORM:]FILE.
#ifndef ADAPTYST_LIB_SUPPORT_OUTPUT_FORM_HPP
#define ADAPTYST_LIB_SUPPORT_OUTPUT_FORM_HPP

#include <adaptyst/options.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// The source of an output decides what a session collects, and which part of the session writes the file.
enum class output_source { profile, stacks, events };

// The kind of file of a timeline.
enum class timeline_kind { chrome_trace, perfetto, store, event_log };

struct form_entry {
  output_form form;
  output_source source;
  std::string_view name;
  std::string_view suffix;  // of a file name, which chooses this form if none is named
  std::string_view meaning;
  timeline_kind timeline = timeline_kind::chrome_trace;  // for outputs made of events
};

// Longer suffixes come before their own endings.
const std::vector<form_entry>& output_forms();
std::string_view form_name(output_form form);
output_source source_of(output_form form);
// "json, html, table": the forms with this source.
std::string list_forms(output_source source);
std::vector<output_form> forms_from(output_source source);

// The form is the named one, or else that of the suffix. Only a name of a form before a colon counts as a form, so
// other colons belong to the file name; a word that is nearly such a name counts as a mistake. Empty, with an error
// added to `wrong`, if there is no form.
std::optional<output> parse_output(std::string_view text, std::vector<error>& wrong);

// The text from which parse_output() makes this output again.
std::string to_text(const output& wanted);

// Whether a file name has this suffix, and something before it.
bool has_suffix(std::string_view file, std::string_view suffix);
// By the suffix; a Chrome trace if the suffix is unknown.
timeline_kind choose_timeline(std::string_view file);

// Whether the file has a name with known placeholders only; if not, adds an error to `wrong`.
bool is_file_name(const output& output, std::vector<error>& wrong);

// Whether the pattern contains %p or %r.
bool distinguishes_processes(std::string_view pattern);

// "run-3.trace.json" of "run.trace.json" and "3".
std::string with_number(const std::string& file, std::string_view number);

// A file name with %p, %r, %h and %% replaced: pid, MPI rank ("0" outside MPI), host.
std::string expand(std::string_view pattern);

}  // namespace adaptyst::lib

#endif
