// Prints results and errors, and sets the exit status.
#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>

#include "help_text.hpp"
#include "support/output_file.hpp"
#include "support/output_form.hpp"
#include "support/text.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void print_json(const std::string& text) { print(isatty(STDOUT_FILENO) != 0 ? lib::printable_json(text) : text); }

void end_with(exit_status status) { throw CLI::RuntimeError(status); }

bool flushed() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  complain(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

void add_format(CLI::App& app, std::string& format, const std::string& what, bool has_list) {
  std::vector<std::string> words = {"table", "json", "csv", "markdown", "none"};
  if (has_list) words.emplace_back("list");
  app.add_option("--format", format,
                 "Form of " + what + "; none: no output" + (has_list ? "; list: only the forms of --output" : ""))
      ->check(one_of(words))
      ->each([](const std::string& word) {
        if (word != "list") return;
        print(forms_in_text());
        throw CLI::Success();
      })
      ->default_str(format);
  app.add_flag_callback(
      "-q,--quiet", [&format] { format = "none"; }, "The same as --format none; errors are still printed");
}

void add_verbose(CLI::App& app, bool& is_verbose, const std::string& what) {
  app.add_flag("-v,--verbose", is_verbose, "Show " + what);
}

namespace {

std::string list_forms(const std::vector<output_form>& forms) {
  std::string all;
  for (const output_form form : forms) all += fmt::format("{}{}", all.empty() ? "" : ", ", lib::form_name(form));
  return all;
}

std::string list_suffixes(const std::vector<output_form>& forms) {
  std::string all;
  for (const lib::form_entry& entry : lib::output_forms())
    if (std::find(forms.begin(), forms.end(), entry.form) != forms.end())
      all += fmt::format("{}{}", all.empty() ? "" : ", ", entry.suffix);
  return all;
}

// The error in the file name and its remedy; empty: the name is valid.
std::string complaint_on(const std::string& file, const std::vector<output_form>& forms) {
  std::vector<error> wrong;
  const std::optional<output> made = lib::parse_output(file, wrong);
  const std::string summary = made ? std::string() : wrong.front().summary();
  if (summary.rfind("no form", 0) == 0)  // the error's hint also lists forms of other results
    return fmt::format("{}\nend it in {}, or write FORM:FILE; the forms are {}", summary, list_suffixes(forms),
                       list_forms(forms));
  if (!made) return fmt::format("{}\n{}", summary, wrong.front().hint());
  if (std::find(forms.begin(), forms.end(), made->form) != forms.end()) return {};
  return fmt::format("'{}' is of the form {}, which this result does not have\nthe forms are {}", file,
                     lib::form_name(made->form), list_forms(forms));
}

}  // namespace

void add_output(CLI::App& app, std::vector<std::string>& files, const std::vector<output_form>& forms,
                const std::string& note) {
  app.add_option("-o,--output", files,
                 fmt::format("Write the result to FILE. FORM ({}), or else the suffix ({}), selects the form{}; may be "
                             "given several times",
                             list_forms(forms), list_suffixes(forms), note.empty() ? "" : "; " + note))
      ->allow_extra_args(false)
      ->check(CLI::Validator([forms](std::string& file) { return complaint_on(file, forms); }, ""))
      ->type_name("[FORM:]FILE");
}

void write_outputs(const std::vector<std::string>& files, const char* what,
                   const std::function<void(output_form, const std::string& file)>& write) {
  std::set<std::string> written;
  for (const std::string& file : files) {
    std::vector<error> wrong;
    const std::optional<output> made = lib::parse_output(file, wrong);
    if (!made) throw error(wrong.front());
    const std::string name = lib::expand(made->file);
    if (name.substr(0, 5) != "/dev/" && !written.insert(name).second)
      throw error("two outputs in one file: '" + name + "'", name, 0, "choose another name");
    try {
      write(made->form, name);
    } catch (const error& failed) {  // its hint names the options of a collector
      throw error(fmt::format("cannot write {} to {}", what, name), name, failed.number(), "choose another place");
    }
  }
}

namespace {

std::string text_in(output_form form, const result_forms& result) {
  switch (form) {
    case output_form::json: return result.json();
    case output_form::html: return result.html();
    case output_form::csv: return result.rows().csv();
    default: return result.table(lib::screen());
  }
}

}  // namespace

void give(const result_forms& result, const std::vector<std::string>& files, const std::string& format,
          const char* what) {
  write_outputs(files, what,
                [&](output_form form, const std::string& file) { lib::write_file(file, text_in(form, result)); });
  if (format == "json") print_json(result.json());
  else if (format == "csv") print(result.rows().csv());
  else if (format == "markdown") print(result.rows().markdown());
  else if (format == "table") print(result.table(lib::find_screen(STDOUT_FILENO)));
}

}  // namespace adaptyst::tools
