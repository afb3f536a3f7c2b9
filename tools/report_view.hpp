// The rows and the form in which subcommands report a profile.
#ifndef ADAPTYST_TOOLS_REPORT_VIEW_HPP
#define ADAPTYST_TOOLS_REPORT_VIEW_HPP

#include <CLI/CLI.hpp>
#include <adaptyst/options.hpp>
#include <optional>
#include <string>

namespace adaptyst::tools {

struct report_view {
  std::string format = "table";
  std::string sort = "time";
  std::optional<std::size_t> rows, depth;
  std::string least_share = "0%";
  bool is_verbose = false;  // all rows, and all that the table can show

  report_choice form() const;
  table_options chosen_options() const;
};

// --format, --quiet, --verbose, --sort, --top, --depth, --min-share. `where`: the place of the report, for help.
// `has_list`: as for add_format().
void add_view(CLI::App& app, report_view& view, const char* where, bool has_list = false);

}  // namespace adaptyst::tools

#endif
