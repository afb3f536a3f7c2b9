// Prints results and errors, and sets the exit status.
#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>

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

std::optional<double> parse_fraction(const std::string& text) {
  double percent = 0;
  const char* const end = text.data() + text.size();
  const auto [read, failure] = std::from_chars(text.data(), end, percent);
  if (failure != std::errc{} || std::string(read, end) != "%" || !std::isfinite(percent) || percent < 0)
    return std::nullopt;
  return percent / 100;
}

std::string check_percent(const std::string& text) {
  return parse_fraction(text) ? std::string() : fmt::format("'{}' is no percentage such as 5%", text);
}

void add_format(CLI::App& app, std::string& format) {
  app.add_option("--format", format,
                 "Output format: a table for people, JSON, or the rows of the table as CSV or Markdown")
      ->check(one_of({"table", "json", "csv", "markdown"}))
      ->capture_default_str();
}

namespace {

// What is wrong with it; empty: nothing.
std::string complaint_on(const std::string& file) {
  std::vector<error> wrong;
  const std::optional<output> made = lib::parse_output(file, wrong);
  if (!made) return fmt::format("{}; {}", wrong.front().summary(), wrong.front().hint());
  if (lib::source_of(made->form) == lib::output_source::profile) return {};
  return fmt::format("no {} can be made of it; known are {}", lib::form_name(made->form),
                     lib::list_forms(lib::output_source::profile));
}

}  // namespace

void add_output(CLI::App& app, std::vector<std::string>& files, const std::string& meaning) {
  app.add_option("--output", files,
                 meaning + ", as JSON, as a page (.html) or as a table (.txt); may be given several times")
      ->allow_extra_args(false)
      ->check(CLI::Validator([](std::string& file) { return complaint_on(file); }, ""))
      ->type_name("[FORM:]FILE");
}

void write_outputs(const std::vector<std::string>& files, const char* what,
                   const std::function<std::string(output_form)>& text) {
  std::set<std::string> written;
  for (const std::string& file : files) {
    std::vector<error> wrong;
    const std::optional<output> made = lib::parse_output(file, wrong);
    if (!made) throw error(wrong.front());
    const std::string name = lib::expand(made->file);
    if (name.substr(0, 5) != "/dev/" && !written.insert(name).second)
      throw error("two outputs in one file: '" + name + "'", name, 0, "choose another name");
    try {
      lib::write_file(name, text(made->form));
    } catch (const error& failed) {  // whose hint is meant for the options of a collector
      throw error(fmt::format("cannot write {} to {}", what, name), name, failed.number(), "choose another place");
    }
  }
}

}  // namespace adaptyst::tools
