// What to observe, how, and where the results go.
//
//   adaptyst::options asked;
//   asked.outputs = {{adaptyst::output_form::json, "profile-%r.json"}, {adaptyst::output_form::table, "report.txt"}};
//   asked.overhead = 0.05;
//   adaptyst::collector collector(asked);
//
// The same as text, in $ADAPTYST and in the constructors that take a string:
// "output=profile-%r.json;report.txt,overhead=5%". docs/options.md lists the names, and what each needs. Values out of
// range and unknown options are reported on standard error and left out; the rest holds.
#ifndef ADAPTYST_OPTIONS_HPP
#define ADAPTYST_OPTIONS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "detail/error.hpp"
#include "profile/table_options.hpp"

namespace adaptyst { inline namespace v1 {

enum class engine_choice { automatic, ebpf, inlined, off };
enum class report_choice { table, none, json, csv, markdown };

// json: the profile; table: the same for people; html: the same as a page for a browser; trace: a timeline; folded,
// speedscope: stacks, which turn samples on.
enum class output_form { json, table, html, trace, folded, speedscope };

struct output {
  output_form form = output_form::json;
  std::string file;  // %p in it: process, %r: MPI rank, %h: host, %%: a per cent sign
};

// What the kernel is asked about threads in regions, in addition to the regions themselves.
struct context_choice {
  bool cpu = true;        // waiting for a core, blocked, switches, migrations; needed by all others, which turn it on
  bool faults = true;     // of pages
  bool samples = false;   // of threads on their cores and off
  bool counters = false;  // of the processor: cycles, instructions, misses
  bool asked = false;     // false: only with the ebpf engine, and without a message if it is not available
};

struct options {
  engine_choice engine = engine_choice::automatic;  // off: nothing is collected
  report_choice report = report_choice::table;      // on standard error, at the end
  table_options rows;                               // of it; its width is that of the terminal, 100 where there is none
  std::vector<output> outputs;                      // one of each form at most
  unsigned level = 0;               // the deepest that is looked at: 1 application, 2 model, … 6 hardware; 0: all
  std::vector<std::string> levels;  // PATTERN=LEVEL: what level a marker has, by its name; the first that fits holds
  double overhead = 0.02;           // share of the CPU time that observing may cost, 0.001 to 1; 0: as much as it does
  context_choice context;
  std::uint64_t sample_frequency = 997;  // mean, in Hz on each processor, 1 to 10,000
  std::uint64_t trace_events = 65536;  // of a thread, between two looks at them: 64 to 2^24, rounded up to a power of 2
  std::uint64_t timeline_limit = std::uint64_t{256} << 20;  // bytes of its file, at least 2^20; 0: no limit
  std::vector<std::string> without;    // patterns of the names of markers and functions that are left out
  std::vector<std::string> functions;  // without markers: FILE:PATTERN, or the name of a set; needs the ebpf engine
  std::string keep;                    // a directory for the file that a killed program leaves; for its own collector
  bool through_exceptions = false;     // also functions of C++; a program that throws through one is terminated
  bool single_stepped = false;         // also functions whose entry costs a second trap

  // Where the output of a form goes; empty: nowhere.
  std::string find_file(output_form form) const {
    for (const output& output : outputs)
      if (output.form == form) return output.file;
    return {};
  }
  bool wants_samples() const {
    return context.samples || !find_file(output_form::folded).empty() || !find_file(output_form::speedscope).empty();
  }
};

// As text: what differs from the defaults, `key=value` joined by commas.
std::string to_string(const options& options);
// The options of such a text. What is wrong in it is left out; `left_out`, if given, gets an error for each.
options parse_options(std::string_view text, std::vector<error>* left_out = nullptr);

}}  // namespace adaptyst::v1

#endif
