// Options of a collector.
//
//   adaptyst::options options;
//   options.outputs = {{adaptyst::output_form::json, "profile-%r.json"}, {adaptyst::output_form::table, "report.txt"}};
//   options.overhead = 0.05;
//   adaptyst::collector collector(options);
//
// As text, for $ADAPTYST and string constructors: "output=profile-%r.json;report.txt,overhead=5%". docs/options.md
// lists the options and their requirements. Values out of range and unknown options are reported on standard error and
// ignored; the other options apply.
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

// json: the profile; table: the report; html: the HTML report; csv: the regions; trace: a timeline; folded, speedscope:
// stacks, which enable samples; pprof, prometheus, caliper, talp: the profile for tools of these names.
enum class output_form { json, table, html, trace, folded, speedscope, csv, pprof, prometheus, caliper, talp };

// rss: resident memory of processes; heap: also sampled allocations of regions; exact_heap: also each allocation.
enum class memory_choice { none, rss, heap, exact_heap };

// How the callers in samples are found. automatic: by frame pointers with eBPF, and for a collector in
// the program; otherwise as dwarf. dwarf: by the unwinding tables of files; if the kernel refuses copies, by frame pointers.
enum class stack_choice { automatic, frame_pointers, dwarf };

// How the recorder's stack samples are taken. automatic: by the kernel (perf_event_open); timer: by a timer of each thread, in
// programs that `adaptyst run` starts, with engine inlined.
enum class sample_choice { automatic, timer };

struct output {
  output_form form = output_form::json;
  std::string file;  // %p: process, %r: MPI rank, %h: host, %%: a per cent sign
};

// Data that the kernel provides on threads in regions, in addition to the regions.
struct context_choice {
  bool cpu = true;         // waits for a core, blocking, switches, migrations; all other members require and enable it
  bool faults = true;      // page faults
  bool samples = false;    // stack samples of threads, on and off their cores
  bool counters = false;   // of the processor: cycles, instructions, misses
  bool requested = false;  // false: only with the ebpf engine, and without a message if unavailable
};

struct options {
  engine_choice engine = engine_choice::automatic;  // off: nothing is collected
  report_choice report = report_choice::table;      // on standard error, at the end
  table_options rows;                               // of the report; default width: the terminal, else 100
  std::vector<output> outputs;                      // at most one per form
  unsigned level = 0;               // deepest recorded level: 1 application, 2 model, … 6 hardware; 0: all
  std::vector<std::string> levels;  // PATTERN=LEVEL: level of markers by name; the first match applies
  double overhead = 0.02;           // share of the CPU time that observing may cost, 0.001 to 1; 0: no limit
  context_choice context;
  memory_choice memory = memory_choice::none;  // heap: the program needs the heap adapter
  std::uint64_t sample_frequency = 0;          // mean, in Hz per processor, 1 to 10,000; 0: see find_frequency()
  sample_choice samples = sample_choice::automatic;
  stack_choice stacks = stack_choice::automatic;
  std::uint64_t trace_events = 65536;  // events per thread between two reads: 64 to 2^24, rounded up to a power of 2
  std::uint64_t timeline_limit = std::uint64_t{256} << 20;  // bytes of the timeline file, at least 2^20; 0: no limit
  std::vector<std::string> without;                         // name patterns of markers and functions to exclude
  std::vector<std::string> functions;   // functions without markers: FILE:PATTERN, or a set; needs the ebpf engine
  std::string keep;                     // directory of the file that a killed program leaves; the program's own
                                        // collector only
  bool may_crash_on_exception = false;  // also functions of C++; a program that throws through one is terminated
  bool single_stepped = false;          // also functions with an entry that costs a second trap

  // The file of a form; empty if there is none.
  std::string find_file(output_form form) const {
    for (const output& output : outputs)
      if (output.form == form) return output.file;
    return {};
  }
  // `has_copies`: samples have copies of stacks, which take longer.
  std::uint64_t find_frequency(bool has_copies) const {
    if (sample_frequency != 0) return sample_frequency;
    return has_copies || samples == sample_choice::timer ? 99 : 997;
  }
  bool wants_samples() const {
    return context.samples || samples == sample_choice::timer || !find_file(output_form::folded).empty() ||
           !find_file(output_form::speedscope).empty();
  }
};

// The options that differ from the defaults, as `key=value` joined by commas.
std::string to_string(const options& options);
// Parses such a text. Wrong parts are ignored; if `left_out` is given, it gets an error for each.
options parse_options(std::string_view text, std::vector<error>* left_out = nullptr);

}}  // namespace adaptyst::v1

#endif
