// The option string of a collector: key=value pairs joined by commas.
#ifndef ADAPTYST_LIB_SUPPORT_OPTIONS_HPP
#define ADAPTYST_LIB_SUPPORT_OPTIONS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

enum class engine_choice { automatic, ebpf, inlined, off };
enum class report_choice { table, none };

// What the kernel is asked about threads in regions, beside the regions themselves.
struct context_choice {
  bool cpu = true;     // waiting for a core, blocked, switches, migrations
  bool faults = true;  // of pages
  bool samples = false;
  bool counters = false;
  bool asked = false;  // false: only where the kernel counts regions as well, and without a word where it cannot be had
};

struct options {
  engine_choice engine = engine_choice::automatic;
  report_choice report = report_choice::table;
  std::string output;                  // the profile; empty: no file
  std::string timeline;                // empty: no file
  std::string folded, speedscope;      // stacks; empty: no file
  double overhead = 0.02;              // of the CPU time, that observing may cost; 0: as much as it does
  std::uint64_t trace_events = 65536;  // of a thread, between two looks at them
  std::vector<std::string> functions;  // without markers: FILE:PATTERN, or the name of a set
  context_choice context;
  std::uint64_t sample_frequency = 997;  // mean, in Hz on each processor
  bool through_exceptions = false;       // also those of C++
  bool single_stepped = false;           // also those that cost a second trap a call

  bool wants_samples() const { return context.samples || !folded.empty() || !speedscope.empty(); }
};

// Applies `text` to `to`; `source` says in an error where the text came from. Throws error, leaving `to` as it was.
void apply(options& to, std::string_view text, std::string_view source);

// A file name with %p, %r, %h and %% replaced: pid, MPI rank ("0" outside MPI), host.
std::string expand(std::string_view pattern);

}  // namespace adaptyst::lib

#endif
