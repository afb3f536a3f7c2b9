// What the subcommands that observe have in common.
#ifndef ADAPTYST_TOOLS_OBSERVING_HPP
#define ADAPTYST_TOOLS_OBSERVING_HPP

#include <CLI/CLI.hpp>
#include <adaptyst/observer.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace adaptyst::tools {

struct observing_options {
  std::string engine = "auto";
  std::string report = "table";
  std::string output;
  std::string timeline;
  std::string trace_events;
  std::string overhead = "2%";
  std::string context;
  std::vector<std::string> stacks;
  std::string sample_frequency;
  double seconds = 1;
  std::vector<std::string> functions;
  std::vector<std::string> sets;
  bool through_exceptions = false;
  bool single_stepped = false;

  // As the library takes them.
  std::string text() const;
  // Between two calls of observer::poll().
  double polling_seconds() const;
  // Between two of observer::keep_budget().
  double keeping_seconds() const;
};

void add_observing(CLI::App& to, observing_options& options,
                   const char* meaning_of_interval = "How often to read what a killed program would take with it");

// Whoever is to be told of what does not work.
using listener = std::function<void(const error&)>;

// Tells on standard error.
void tell(const error& what);

// Attaches to the functions that were asked for, and tells of those that cannot be.
void probe_functions(observer& with, std::int64_t process, const listener& to);

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
