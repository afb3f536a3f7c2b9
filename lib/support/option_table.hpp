// All options, each declared once: for $ADAPTYST, the strings of constructors, the command line, docs/options.md,
// completion, and what a profile remembers.
#ifndef ADAPTYST_LIB_SUPPORT_OPTION_TABLE_HPP
#define ADAPTYST_LIB_SUPPORT_OPTION_TABLE_HPP

#include <adaptyst/options.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

struct option_entry {
  std::string_view name;
  std::string_view values;              // for people
  std::vector<std::string_view> words;  // if there are no other values
  std::string_view meaning;             // one sentence, without its end
  std::string_view needs;               // or empty
  std::string_view otherwise;           // the effect without the option, if it has no default value
  bool is_list;                         // of parts, joined by ',' (files: ';') or given several times
  bool has_commas;                      // in its values
  // Wrong parts of the value are ignored, and reported in `wrong`.
  void (*set)(options& options, std::string_view value, std::vector<error>& wrong);
  std::string (*get)(const options& options);
  // For options set by a program: the default replaces a value out of range, which is reported. Null: any value is
  // allowed.
  void (*check)(options& checked, std::vector<error>& wrong) = nullptr;
};

const std::vector<option_entry>& option_table();
std::vector<std::string_view> option_names();
// Null: there is no such option.
const option_entry* find_option(std::string_view name);
// The default as a text for set(); empty if there is no such value.
std::string find_default(const option_entry& entry);

// At most one output of each form.
void put_outputs(options& options, const std::vector<output>& outputs, std::vector<error>& wrong);

}  // namespace adaptyst::lib

#endif
