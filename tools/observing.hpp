// Common parts of the subcommands that observe.
#ifndef ADAPTYST_TOOLS_OBSERVING_HPP
#define ADAPTYST_TOOLS_OBSERVING_HPP

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters.hpp"
#include "report_view.hpp"
#include "session/observer.hpp"
#include "trace/trace_writer.hpp"

namespace adaptyst::tools {

struct observing_options {
  adaptyst::options options;                              // options with one value
  std::map<std::string, std::vector<std::string>> lists;  // options with several parts, as they were given
  double seconds = 1;
  std::optional<report_view> view;  // of the report at the end; empty: no report
  chosen_adapters adapters;         // for the report

  // All options, in the form that the library takes.
  adaptyst::options chosen_options() const;
};

// For observers of programs that run already: without --samples timer, after a complaint.
adaptyst::options without_timers(adaptyst::options chosen);

// Opens a timeline for an observer; it can be a trace store if SQLite is built in.
std::unique_ptr<lib::trace_writer> open_timeline(const std::string& file, std::uint64_t origin_ns,
                                                 lib::name_speller spelled);

// Adds the options of the library (lib/support/option_table.hpp), of the interval, and of the view if there is one.
// Values in `options` that differ from the library's are the defaults here.
void add_observing(CLI::App& app, observing_options& options,
                   const char* interval_meaning =
                       "Time between two readings of the recorders, in seconds or with a unit. If a program is killed, "
                       "later records may be lost");

// --duration
void add_duration(CLI::App& app, double& seconds);

// Receives errors that do not end the observation.
using listener = std::function<void(const error&)>;

// Reports on standard error.
void report_error(const error& what);

// The same error, with the options in its hint spelled as on the command line.
error in_flags(const error& what);

// Attaches to the requested functions, and reports functions that cannot have a probe.
void probe_functions(observer& with, std::int64_t process, const listener& report);

// Raises the limit on open files, because an observed process takes two descriptors, and a location of an OTF2 archive
// one. Call it after the start of the program, which keeps the original limit.
void allow_many_files();

}  // namespace adaptyst::tools

#endif
