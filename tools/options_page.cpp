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

What can be set for a collector, `adaptyst run`, `attach` and `top`. This page is what `adaptyst help options --markdown`
prints; the table behind it is `lib/support/option_table.cpp`.

| where | how |
|---|---|
| the environment of a program with a collector | `ADAPTYST=engine=inline,output=profile-%p.json ./solver` |
| the program's source, as text | `adaptyst::collector collector("report=none,output=profile.json");` |
| the program's source, as values | `adaptyst::options asked; asked.overhead = 0.05; adaptyst::collector collector(asked);` |
| the command line, with `-` for `_` | `adaptyst run --engine inline --trace-events 4096 -- ./solver` |

The text is pairs of a name and a value, joined by commas. `$ADAPTYST` goes before what the program asks for; what is said
later goes before what was said earlier. `<adaptyst/options.hpp>` has the same as a struct.

A name or a value that is not known is reported on standard error, with the nearest known one, and left out; the rest holds, and
the program is observed. On the command line it is wrong usage, with status 2. The profile remembers what was asked for
(`"options"`: what differs from the defaults).

)";

constexpr std::string_view on_outputs = R"(
## Outputs

`output=A;B`, `--output A --output B`: any number of files, one of each form. A form that is named, as in `trace:run.json`,
goes before the suffix. Only these names are forms, so other colons belong to the file; where one of them begins the name
of a file, name the form: `json:table:1.json`. `%p` becomes the process, `%r` the MPI rank, `%h` the host, `%%` a per cent
sign. Two outputs cannot be one file.

Where neither `%p` nor `%r` is in a name and a launcher has started several ranks, the rank is added: `profile-3.json`
(docs/mpi.md lists the launchers that are known). Where another process of the machine is about to write a
file of this name, as in a program that starts itself, so is the process: `profile-4711.json`. If another process has written the
file since this one began, the host and the process are added. The files are listed behind
the report, and without one if it has another name than was asked for; of ranks, the first tells. `adaptyst run`, `attach`
and `top` look whether they could write it before they begin, and end with status 2 if not.

| form | suffix | what is written |
|---|---|---|
)";

constexpr std::string_view on_functions = R"(
## Functions

`FILE:PATTERN`, as in `libmpi.so:MPI_*` or `./solver:compute_flux(*)` (docs/function-probes.md), or one of these sets:
)";

}  // namespace

std::string options_in_markdown() {
  std::string page(intro);
  page += "| option | values | default | meaning | needs |\n|---|---|---|---|---|\n";
  for (const lib::option_entry& entry : lib::option_table()) {
    const std::string by_default = lib::find_default(entry);
    page += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", entry.name, cell(std::string(entry.values)),
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
    text += "\n" + flowed(fmt::format("{}={}{}{}", entry.name, entry.values,
                                      by_default.empty() ? "" : fmt::format(" [{}]", by_default),
                                      entry.needs.empty() ? "" : fmt::format(" (needs {})", entry.needs)),
                          max_columns, 4, 0);
    text += "    " + flowed(std::string(entry.meaning), max_columns, 4, 4);
  }
  text += "\nForms of output:\n\n";
  for (const lib::form_entry& entry : lib::output_forms())
    text += fmt::format("{:<11} {:<17} {}", entry.name, entry.suffix,
                        flowed(std::string(entry.meaning), max_columns, 30, 30));
  return text;
}

}  // namespace adaptyst::tools
