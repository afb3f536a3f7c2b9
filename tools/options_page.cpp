// Writes the table of options, for docs/options.md and for a terminal.
#include "help_text.hpp"

#include <fmt/format.h>

#include <string_view>

#include "command_tree.hpp"
#include "discover/function_request.hpp"
#include "support/option_table.hpp"
#include "support/output_form.hpp"
#include "support/text.hpp"

namespace adaptyst::tools {

namespace {

constexpr std::string_view intro = R"(# Options

*Which options do a collector, `adaptyst run`, `attach` and `top` have?* `adaptyst help options --markdown` prints this page from
the table `lib/support/option_table.cpp`.

| where | how |
|---|---|
| the environment of a program with a collector | `ADAPTYST=engine=inline,output=profile-%p.json ./solver` |
| the program's source, as text | `adaptyst::collector collector("report=none,output=profile.json");` |
| the program's source, as values | `adaptyst::options options; options.overhead = 0.05; adaptyst::collector collector(options);` |
| the command line, with `-` for `_` | `adaptyst run --engine inline --trace-events 4096 -- ./solver` |

The text has pairs `name=value`, joined by commas. `$ADAPTYST` has precedence over the source of the program; a later value has
precedence over an earlier one. `<adaptyst/options.hpp>` has the same options as a struct. On the command line, `report` is
`--format`.

The parts of a list are joined by commas. A comma within `()` or `<>` belongs to a name. Outputs are joined by `;`, because file
names can contain commas; on the command line, the option is given several times. `;` also separates the parts of other lists.

A number may have a unit. Without one, a percentage is in percent, a duration in s (units `ns`, `us`, `ms`, `s`, `min`, `h`), and
a size in MiB (units `K`, `M`, `G`, `T`).

An unknown name or value causes a message on standard error with the nearest known one; the other options apply. On the command
line it is wrong usage, with status 2. The profile contains the options that differ from the defaults (`"options"`).

)";

constexpr std::string_view on_outputs = R"(
## Outputs

`output=A;B`, `-o A -o B`: any number of files, one of each form. A form before the name, as in `trace:run.json`, has precedence
over the suffix. Other colons belong to the file name. If a file name begins with the name of a form and a colon, write the form:
`json:table:1.json`. `%p` is the process, `%r` the MPI rank, `%h` the host, `%%` a per cent sign. Two outputs cannot have the same
file.

If a launcher has started several ranks, and the name has neither `%p` nor `%r`, the rank is added: `profile-3.json`
(docs/mpi.md lists the launchers). If another process of the machine will write a file of this name, the process number is added:
`profile-4711.json`. If another process has written the file since this one began, the host and the process number are added. The
files are listed after the report; without a report, if a name was changed; of several ranks, by the first. `adaptyst run`,
`attach` and `top` check at the beginning that the files can be written, and end with status 2 if not.

| form | suffix | content |
|---|---|---|
)";

constexpr std::string_view on_functions = R"(
## Functions

`FILE:PATTERN`, as in `libmpi.so:MPI_*` or `./solver:compute_flux(*)` (docs/function-probes.md), or one of these sets:
)";

// Files of outputs may have commas in their names.
std::string format_values(const lib::option_entry& entry) {
  return std::string(entry.values) + (!entry.is_list ? "" : entry.has_commas ? "[,…]" : "[;…]");
}

}  // namespace

std::string options_in_markdown() {
  std::string page(intro);
  page += "| option | values | default | meaning | needs |\n|---|---|---|---|---|\n";
  for (const lib::option_entry& entry : lib::option_table()) {
    const std::string by_default = lib::find_default(entry);
    page += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", entry.name, cell(format_values(entry)),
                        by_default.empty() ? std::string(entry.otherwise) : fmt::format("`{}`", by_default),
                        cell(std::string(entry.meaning)), entry.needs);
  }
  page += on_outputs;
  for (const lib::form_entry& entry : lib::output_forms())
    page += fmt::format("| `{}` | `{}` | {} |\n", entry.name, entry.suffix, entry.meaning);
  page += on_functions;
  page += fmt::format("`{}`.\n", fmt::join(lib::function_set_names(), "`, `"));
  return page;
}

std::string options_in_text() {
  const std::size_t max_columns = help_width();
  std::string text = "Options of $ADAPTYST and of collectors, name=value joined by commas:\n";
  for (const lib::option_entry& entry : lib::option_table()) {
    const std::string by_default = lib::find_default(entry);
    text += "\n" + flowed(fmt::format("{}={}{}{}", entry.name, format_values(entry),
                                      by_default.empty() ? "" : fmt::format(" [{}]", by_default),
                                      entry.needs.empty() ? "" : fmt::format(" (needs {})", entry.needs)),
                          max_columns, 4, 0);
    text += "    " + flowed(std::string(entry.meaning), max_columns, 4, 4);
  }
  return text + "\nForms of output:\n\n" + forms_in_text();
}

std::string forms_in_text() {
  std::string text;
  for (const lib::form_entry& entry : lib::output_forms())
    text += fmt::format("{:<11} {:<17} {}", entry.name, entry.suffix,
                        flowed(std::string(entry.meaning), help_width(), 30, 30));
  return text;
}

}  // namespace adaptyst::tools
