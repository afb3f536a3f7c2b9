// What the subcommands that observe have in common.
#ifndef ADAPTYST_TOOLS_OBSERVING_HPP
#define ADAPTYST_TOOLS_OBSERVING_HPP

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report_view.hpp"
#include "session/observer.hpp"

namespace adaptyst::tools {

struct observing_options {
  adaptyst::options options;                              // what has one value
  std::map<std::string, std::vector<std::string>> lists;  // of what has parts, as they were given
  double seconds = 1;
  std::optional<report_view> view;  // of the report at the end, where there is one

  // All of it, as the library takes it.
  adaptyst::options asked() const;
  // Between two calls of observer::poll().
  double polling_seconds() const;
  // Between two of observer::keep_budget().
  double keeping_seconds() const;
};

// An option for each of the library's (lib/support/option_table.hpp), and the interval. Those of `options` that differ
// from the library's are the defaults here.
void add_observing(CLI::App& app, observing_options& options,
                   const char* meaning_of_interval =
                       "How often to read what programs have recorded; of one that cannot hand over its recorders, "
                       "what came since is lost when it is killed");

// For those that report at the end: what they print of it.
void add_view(CLI::App& app, observing_options& options);

// Receives messages about what does not work.
using listener = std::function<void(const error&)>;

// Tells on standard error.
void tell(const error& what);

// With the options that its hint names as they are spelled on the command line.
error in_flags(const error& what);

// Attaches to the functions that were asked for, and tells of those that cannot be.
void probe_functions(observer& with, std::int64_t process, const listener& report);

// An observed process takes two descriptors. Not before a program has been started, which is to have the limit of ours.
void allow_many_files();

// A time that comes round.
class interval {
 public:
  explicit interval(double seconds) : length_(seconds), begin_(clock::now()) {}

  int left_ms() const;
  // Whether it is over; the next one begins then.
  bool is_over();

 private:
  using clock = std::chrono::steady_clock;
  std::chrono::duration<double> length_;
  clock::time_point begin_;
};

}  // namespace adaptyst::tools

#endif
