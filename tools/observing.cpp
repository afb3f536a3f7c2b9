#include "observing.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "output.hpp"

namespace adaptyst::tools {

std::string observing_options::text() const {
  std::string all = "engine=" + engine + ",report=" + report + ",overhead=" + overhead;
  std::string files;
  for (const std::string& one : {output, timeline})
    if (!one.empty()) files += (files.empty() ? "" : ";") + one;
  for (const std::string& one : stacks) files += (files.empty() ? "" : ";") + one;
  if (!files.empty()) all += ",output=" + files;
  if (!sample_frequency.empty()) all += ",sample_frequency=" + sample_frequency;
  if (!trace_events.empty()) all += ",trace_events=" + trace_events;
  if (!context.empty()) all += ",context=" + context;
  std::string named;
  for (const std::vector<std::string>* const some : {&functions, &sets})
    for (const std::string& one : *some) named += (named.empty() ? "" : ";") + one;
  if (!named.empty()) all += ",functions=" + named;
  if (through_exceptions) all += ",through_exceptions=yes";
  if (single_stepped) all += ",single_stepped=yes";
  return all;
}

double observing_options::polling_seconds() const {
  constexpr double of_timeline = 0.005;
  constexpr double of_stacks = 0.1;
  if (!timeline.empty()) return std::min(seconds, of_timeline);
  return stacks.empty() ? seconds : std::min(seconds, of_stacks);
}

double observing_options::keeping_seconds() const {
  constexpr double of_budget = 0.02;
  constexpr double never = 1e9;
  return overhead == "none" ? never : of_budget;
}

void add_observing(CLI::App& to, observing_options& options, const char* meaning_of_interval) {
  to.add_option("--engine", options.engine,
                "How to observe: in the kernel, by the program's own recorder, or as permitted")
      ->check(CLI::IsMember({"auto", "ebpf", "inline"}))
      ->capture_default_str()
      ->type_name("");
  to.add_option("--report", options.report, "What to print on standard error at the end")
      ->check(CLI::IsMember({"table", "none"}))
      ->capture_default_str()
      ->type_name("");
  to.add_option("--output", options.output, "Write the profile to this file; %p: our process, %r: MPI rank, %h: host")
      ->type_name("FILE.json");
  to.add_option("--timeline", options.timeline,
                "Write what happened when to this file, for Perfetto or chrome://tracing; %p, %r and %h as above")
      ->type_name("FILE.trace.json");
  to.add_option(
        "--overhead", options.overhead,
        "CPU time that observing may cost a program: the busiest of its short regions are then sampled; none: as "
        "much as it does")
      ->capture_default_str()
      ->type_name("PERCENT%");
  to.add_option("--trace-events", options.trace_events,
                "For the timeline: events that a thread may be ahead of us; what is more is counted as lost")
      ->type_name("COUNT");
  to.add_option("--context", options.context,
                "What to ask the kernel about threads in regions: cpu,faults or cpu (waiting, blocked, switches; page "
                "faults), with samples or without, none. Both, where the kernel counts the regions")
      ->type_name("LIST");
  to.add_option("--stacks", options.stacks,
                "Sample threads and write their stacks to this file, for a flame graph: FILE.folded or "
                "FILE.speedscope.json; may be given twice. Needs eBPF")
      ->allow_extra_args(false)
      ->check([](const std::string& file) {
        for (const std::string end : {".folded", ".speedscope.json"})
          if (file.size() > end.size() && file.compare(file.size() - end.size(), end.size(), end) == 0)
            return std::string();
        return "must end in .folded or .speedscope.json: " + file;
      })
      ->type_name("FILE");
  to.add_option("--sample-frequency", options.sample_frequency,
                "For the stacks: samples a second on each processor, on average; 997 if not given")
      ->type_name("HZ");
  to.add_option(
        "--function", options.functions,
        "Make regions of these functions as well, which need no markers; may be given several times. Needs ebpf")
      ->allow_extra_args(false)  // a process number may stand behind it
      ->type_name("FILE:PATTERN");
  to.add_option("--functions", options.sets, "The functions of an interface, as far as the program uses it")
      ->check(CLI::IsMember({"mpi", "opencl", "cuda", "hip", "openmp", "blas", "io", "malloc"}))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SET");
  to.add_flag("--through-exceptions", options.through_exceptions,
              "Also C++ functions: a program that throws an exception through one of them is terminated");
  to.add_flag(
      "--single-stepped", options.single_stepped,
      "Also functions whose first instruction takes the kernel a second trap: 19 us a call in a virtual machine");
  to.add_option("--interval", options.seconds, meaning_of_interval)
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0))
      ->type_name("SECONDS");
}

void tell(const error& what) { complain(what.what()); }

void probe_functions(observer& with, std::int64_t process, const listener& to) {
  const std::vector<error> refused = with.probe_functions(process);
  constexpr std::size_t most = 10;
  for (std::size_t at = 0; at != std::min(refused.size(), most); ++at)
    to({"not probed: " + refused[at].summary(), refused[at].subject(), 0, refused[at].hint()});
  if (refused.size() > most) to({fmt::format("not probed: {} others", refused.size() - most), 0, ""});
}

void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int interval::left_ms() const {
  const std::chrono::duration<double, std::milli> left = begin_ + length_ - clock::now();
  return static_cast<int>(std::clamp(left.count() + 1, 0.0, 1e9));
}

bool interval::is_over() {
  if (clock::now() < begin_ + length_) return false;
  begin_ = clock::now();
  return true;
}

}  // namespace adaptyst::tools
