// The methods that are compared: markers with either engine, probes on functions, and a BPF program that does nothing,
// which is the least that any probe costs.
#include "methods.hpp"

#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <thread>

#include "../../lib/discover/elf_functions.hpp"
#include "../../lib/discover/elf_probes.hpp"
#include "../../lib/kernel/attach_point.hpp"
#include "../../lib/kernel/function_probes.hpp"
#include "../../lib/kernel/kernel_rows.hpp"
#include "../../lib/kernel/uprobe_link.hpp"
#include "../../lib/support/error.hpp"
#include "../../probes/kernel_layout.h"
#include "functions.h"
#include "region.skel.h"

extern "C" unsigned short adaptyst_region_end_semaphore __attribute__((visibility("hidden")));

namespace study {

namespace {

using namespace adaptyst::lib;

constexpr const char* self = "/proc/self/exe";
constexpr unsigned char breakpoint = 0xcc;
constexpr unsigned char call = 0xe8;

void marked(std::size_t steps) {
  ADAPTYST_REGION("event");
  study_kernel(steps);
}

// The program of region_end takes what it sums from the arguments.
template <study_function* Function>
void unmarked(std::size_t steps) {
  Function(steps, reinterpret_cast<std::uint64_t>(Function), 0, 1, 1, nullptr);
}

std::uint64_t sum_counts(const measurements& all) {
  std::uint64_t sum = 0;
  for (const auto& [id, row] : all.rows) sum += row.count;
  return sum;
}

class in_the_program final : public attachment {
 public:
  std::optional<std::uint64_t> counted() const override { return collector_.snapshot().accounting.ended; }

 private:
  adaptyst::collector collector_{"engine=inline,overhead=none,report=none"};
};

// The program of region_end, wherever it is attached.
class region_program final : public attachment {
 public:
  region_program(std::shared_ptr<const kernel_rows> rows, uprobe_place place, pid_t process = getpid())
      : region_program(std::move(rows), std::vector<uprobe_place>{place}, process) {}
  region_program(std::shared_ptr<const kernel_rows> rows, const std::vector<uprobe_place>& places, pid_t process)
      : rows_(std::move(rows)), before_(sum_counts(rows_->read())), link_(rows_->attach(self, places, process)) {}
  std::optional<std::uint64_t> counted() const override { return sum_counts(rows_->read()) - before_; }

 private:
  std::shared_ptr<const kernel_rows> rows_;
  std::uint64_t before_;
  uprobe_link link_;
};

// The programs for functions without markers.
class function_program final : public attachment {
 public:
  function_program(const std::string& function, bool sessions) : probes_(options(sessions)) {
    if (sessions != (probes_.mechanism() == "uprobe_multi, sessions"))
      throw error("cannot attach a session", 0, "use Linux 6.13 or later");
    probes_.attach(self, {parse_function(self + (":" + function))});
  }
  std::optional<std::uint64_t> counted() const override { return sum_counts(probes_.read()); }

 private:
  static function_options options(bool sessions) {
    function_options how{getpid()};
    how.sessions = sessions;
    return how;
  }
  function_probes probes_;
};

// A program that returns at once: what any entry probe costs at least.
class empty_program final : public attachment {
 public:
  explicit empty_program(uprobe_place place) : loaded_(region_bpf__open(), region_bpf__destroy) {
    expect_multi(loaded_->progs.empty);
    bpf_program__set_autoload(loaded_->progs.region_end, false);
    region_bpf__load(loaded_.get());
    link_ = uprobe_link::attach_multi(loaded_->progs.empty, self, {place}, getpid());
  }
  std::optional<std::uint64_t> counted() const override { return {}; }

 private:
  std::unique_ptr<region_bpf, void (*)(region_bpf*)> loaded_;
  uprobe_link link_;
};

elf_probe region_end_probe() {
  for (const elf_probe& probe : find_elf_markers(self).probes)
    if (probe.name == "region_end" && probe.has_fast_point) return probe;
  throw error("cannot find the probe of markers in this program", 0, "it was built without them");
}

// Where the library would put a probe on a function; it must begin as it was written.
function_place find_place(const char* function, entry_kind expected) {
  for (const function_place& place : find_functions(self, function))
    if (place.entry == expected) return place;
  throw error(std::string("cannot find ") + function + " in this program as it was written", 0, "it was stripped");
}

const volatile unsigned char* find_code(study_function* function, const function_place& place) {
  return reinterpret_cast<const volatile unsigned char*>(function) + place.past_entry;
}

// --- Experiments

using clock_time = std::chrono::steady_clock;

double ms_since(clock_time::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock_time::now() - begin).count();
}

// A line "KEY: NUMBER kB" of a file of /proc, in bytes.
double read_bytes(const char* file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, key.size(), key) == 0) return 1024 * std::strtod(line.c_str() + key.size(), nullptr);
  return 0;
}

double thread_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

struct bare_site {
  const char* name;
  void (*hit)(std::size_t steps);
  uprobe_place place;
};

std::vector<bare_site> bare_sites() {
  function_place nop5 = find_place("study_nop5", entry_kind::push);
  nop5.offset -= nop5.past_entry;
  return {{"nop1", unmarked<study_nop1>, {find_place("study_nop1", entry_kind::nop1).offset, 0}},
          {"nop5", unmarked<study_nop5>, {nop5.offset, 0}},
          {"push", unmarked<study_push>, {find_place("study_push", entry_kind::push).offset, 0}},
          {"xor", unmarked<study_xor>, {find_place("study_xor", entry_kind::single_stepped).offset, 0}}};
}

void hit(const bare_site& site, unsigned times) {
  for (unsigned at = 0; at != times; ++at) site.hit(0);
}

using shared_rows = std::shared_ptr<const kernel_rows>;
constexpr unsigned event_count = 1000;  // of each step of an experiment

constexpr std::array<unsigned, 3> site_counts{1, 100, study_site_count};

// A perf event takes two descriptors.
void allow_many_files() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

// Attaches to so many sites, and detaches. Each site is hit once in between, and once afterwards: `wrong` is the number
// of events that are missing or should not be there.
void attach_and_detach(bench::measurements& results, const shared_rows& rows, const std::string& way, unsigned sites,
                       unsigned rounds) {
  const std::uint64_t first = find_place("study_sites", entry_kind::nop1).offset;
  const auto hit_all = [sites] {
    for (unsigned at = 0; at != sites; ++at) {
      const auto* const code = reinterpret_cast<const char*>(&study_sites) + std::size_t{at} * study_site_bytes;
      reinterpret_cast<study_function*>(const_cast<char*>(code))(0, 1, 0, 1, 1, nullptr);
    }
  };
  std::vector<uprobe_place> places;
  for (unsigned at = 0; at != sites; ++at) places.push_back({first + std::uint64_t{at} * study_site_bytes, 0});
  std::vector<double> attach_ms;
  std::vector<double> detach_ms;
  std::vector<double> program_bytes;
  std::vector<double> kernel_bytes;
  double wrong = 0;
  for (unsigned round = 0; round != rounds; ++round) {
    const double program_before = read_bytes("/proc/self/smaps_rollup", "Anonymous:");
    const double kernel_before = read_bytes("/proc/meminfo", "Slab:");
    const std::uint64_t before = sum_counts(rows->read());
    auto begin = clock_time::now();
    auto attached = std::make_unique<region_program>(rows, places, getpid());
    attach_ms.push_back(ms_since(begin));
    program_bytes.push_back(read_bytes("/proc/self/smaps_rollup", "Anonymous:") - program_before);
    kernel_bytes.push_back(read_bytes("/proc/meminfo", "Slab:") - kernel_before);
    hit_all();
    begin = clock_time::now();
    attached.reset();
    detach_ms.push_back(ms_since(begin));
    hit_all();
    wrong += std::abs(static_cast<double>(sum_counts(rows->read()) - before) - sites);
  }
  const std::string prefix = "study_" + way + "_" + std::to_string(sites) + "_";
  results[prefix + "attach_ms"] = bench::median(attach_ms);
  results[prefix + "detach_ms"] = bench::median(detach_ms);
  results[prefix + "wrong"] = wrong;
  if (way != "multi") return;
  results[prefix + "program_bytes"] = bench::median(program_bytes);
  results[prefix + "kernel_bytes"] = bench::median(kernel_bytes);
}

// CPU time of a hit in each of several threads on the same site, less a call without a probe.
void hit_in_threads(bench::measurements& results, const shared_rows& rows, const bare_site& site, unsigned threads,
                    unsigned rounds) {
  constexpr unsigned hits = 20'000;
  const region_program attached(rows, site.place);
  std::vector<double> hit_ns;
  std::uint64_t made = 0;
  for (unsigned round = 0; round != rounds; ++round) {
    std::vector<double> of_thread(threads);
    std::vector<std::thread> running;
    std::atomic<unsigned> waiting{threads};
    for (double& cost_ns : of_thread)
      running.emplace_back([&, result = &cost_ns] {
        --waiting;
        while (waiting != 0) std::this_thread::yield();
        const double begin = thread_ns();
        for (unsigned at = 0; at != hits; ++at) unmarked<study_plain>(0);
        const double middle = thread_ns();
        hit(site, hits);
        *result = (thread_ns() - middle - (middle - begin)) / hits;
      });
    for (std::thread& thread : running) thread.join();
    made += std::uint64_t{threads} * hits;
    hit_ns.push_back(bench::median(of_thread));
  }
  const std::string prefix = std::string("study_threads_") + site.name + "_" + std::to_string(threads) + "_";
  results[prefix + "ns"] = bench::median(hit_ns);
  results[prefix + "wrong"] = std::abs(static_cast<double>(*attached.counted()) - static_cast<double>(made));
}

// What an experiment of signals, fork() or exec() found: events made and counted, those counted of `event_count` that
// this process made afterwards, and the signal that ended the child.
void add_effect(bench::measurements& results, const std::string& name, double made, double counted,
                std::optional<double> after, int child_signal = 0) {
  const std::string prefix = "study_effect_" + name + "_";
  results[prefix + "made"] = made;
  results[prefix + "counted"] = counted;
  if (after) results[prefix + "after"] = *after;
  results[prefix + "signal"] = child_signal;
}

void (*hit_by_handler)(std::size_t steps);
volatile std::sig_atomic_t handled;

void handle_alarm(int) {
  hit_by_handler(0);
  handled = handled + 1;
}

// A signal handler hits the site that the program hits all the time.
void interrupt(bench::measurements& results, const shared_rows& rows, const std::string& name, const bare_site& site,
               double whole_ms) {
  const region_program attached(rows, site.place);
  hit_by_handler = site.hit;
  handled = 0;
  struct sigaction action {};
  action.sa_handler = handle_alarm;
  struct sigaction before {};
  sigaction(SIGALRM, &action, &before);
  const itimerval every{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &every, nullptr);
  double made = 0;
  for (const auto begin = clock_time::now(); ms_since(begin) < whole_ms; made += 100) hit(site, 100);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  made += static_cast<double>(handled);
  const auto counted = static_cast<double>(*attached.counted());
  hit(site, event_count);
  add_effect(results, name, made, counted, static_cast<double>(*attached.counted()) - counted);
  results["study_effect_" + name + "_handled"] = static_cast<double>(handled);
}

// The signal that ended a child, or 0.
int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// A child that ends by a signal leaves no core file.
void leave_no_core() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would exit instead
}

[[noreturn]] void exec_and_hit(const char* site) {
  leave_no_core();
  execl(self, "study", "--hit", site, static_cast<char*>(nullptr));
  _exit(127);
}

// A child hits the site, as a copy of this process or after exec(). `process`: as in uprobe_link.
void in_a_child(bench::measurements& results, const shared_rows& rows, const std::string& name, const bare_site& site,
                pid_t process, bool replaced) {
  const region_program attached(rows, site.place, process);
  hit(site, event_count);  // the kernel has optimised the site, if it does
  const auto before = static_cast<double>(*attached.counted());
  const pid_t child = fork();
  if (child == 0) {
    if (replaced) exec_and_hit(site.name);
    leave_no_core();
    hit(site, event_count);
    _exit(0);
  }
  const int ended_by = wait_for(child);
  const auto counted = static_cast<double>(*attached.counted());
  hit(site, event_count);
  add_effect(results, name, process == 0 ? event_count : 0, counted - before,
             static_cast<double>(*attached.counted()) - counted, ended_by);
}

// The program is attached to a process that then calls exec().
void observed_exec(bench::measurements& results, const shared_rows& rows, const std::string& name,
                   const bare_site& site) {
  int gate[2];
  if (pipe(gate) != 0) throw error("cannot make a pipe", errno, "");
  const pid_t child = fork();
  if (child == 0) {
    close(gate[1]);
    char byte;
    if (read(gate[0], &byte, 1) != 1) _exit(1);
    exec_and_hit(site.name);
  }
  close(gate[0]);  // without an answer, the child ends
  const region_program attached(rows, site.place, child);
  const bool started = write(gate[1], "x", 1) == 1;
  const int ended_by = wait_for(child);
  close(gate[1]);
  if (!started) throw error("cannot start a child", 0, "");
  add_effect(results, name, event_count, static_cast<double>(*attached.counted()), {}, ended_by);
}

constexpr unsigned parked_threads = 64;

// Resident bytes that each of many threads adds after one event of its own.
int print_thread_bytes(const std::string& way) {
  const auto rows = std::make_shared<const kernel_rows>(true, process_filter::all, false);
  std::unique_ptr<attachment> attached;
  const elf_probe marker = region_end_probe();
  if (way == "inline") attached = std::make_unique<in_the_program>();
  if (way == "usdt")
    attached = std::make_unique<region_program>(
        rows, uprobe_place{marker.offset + static_cast<unsigned>(attach_point::breakpoint), marker.semaphore_offset});
  std::atomic<unsigned> arrived{0};
  std::atomic<bool> finished{false};
  const auto park = [&] {
    way == "plain" ? unmarked<study_plain>(0) : marked(0);
    ++arrived;
    while (!finished) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  std::vector<std::thread> threads;
  threads.emplace_back(park);  // what the first thread makes for all
  while (arrived != 1) std::this_thread::yield();
  const double before = read_bytes("/proc/self/smaps_rollup", "Rss:");
  for (unsigned at = 0; at != parked_threads; ++at) threads.emplace_back(park);
  while (arrived != parked_threads + 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double bytes = (read_bytes("/proc/self/smaps_rollup", "Rss:") - before) / parked_threads;
  finished = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("%.6g\n", bytes);
  return 0;
}

double thread_bytes(const char* way) {
  int output[2];
  if (pipe(output) != 0) throw error("cannot make a pipe", errno, "");
  const pid_t child = fork();
  if (child == 0) {
    dup2(output[1], STDOUT_FILENO);
    execl(self, "study", "--memory", way, static_cast<char*>(nullptr));
    _exit(127);
  }
  close(output[1]);
  char text[64] = {};
  const ssize_t length = read(output[0], text, sizeof text - 1);
  close(output[0]);
  if (wait_for(child) != 0 || length <= 0) throw error("cannot measure the memory of threads", 0, "");
  return std::strtod(text, nullptr);
}

// The semaphore: before, while one and two places have it, and afterwards.
void read_semaphore(bench::measurements& results, const shared_rows& rows, const elf_probe& marker) {
  const volatile unsigned short& value = adaptyst_region_end_semaphore;
  results["study_semaphore_before"] = value;
  {
    const region_program first(rows, {marker.offset, marker.semaphore_offset});
    results["study_semaphore_1_observer"] = value;
    const region_program second(rows, {marker.offset, marker.semaphore_offset});
    results["study_semaphore_2_observers"] = value;
  }
  results["study_semaphore_after"] = value;
}

}  // namespace

void plain_event(std::size_t steps) { unmarked<study_plain>(steps); }

std::vector<method> make_methods() {
  const auto rows = std::make_shared<const kernel_rows>(true, process_filter::all, false);
  // As on kernels without uprobe_multi.
  const auto perf_rows = std::make_shared<const kernel_rows>(false, process_filter::this_process, false);
  const auto at = [rows](uprobe_place place) {
    return [rows, place] { return std::make_unique<region_program>(rows, place); };
  };
  const elf_probe marker = region_end_probe();
  const auto* const marker_code = reinterpret_cast<const volatile unsigned char*>(&adaptyst_probe_region_end);
  constexpr auto marker_nop5 = static_cast<unsigned>(attach_point::nop5);
  const function_place nop1 = find_place("study_nop1", entry_kind::nop1);
  function_place nop5 = find_place("study_nop5", entry_kind::push);
  nop5.offset -= std::exchange(nop5.past_entry, 0);  // in functions of others the library steps past the nop
  const function_place push = find_place("study_push", entry_kind::push);
  const function_place stepped = find_place("study_xor", entry_kind::single_stepped);
  const auto* const push_code = find_code(study_push, push);
  const auto work = measured_with::work;
  const auto no_work = measured_with::no_work;

  return {
      {"idle", work, marked},
      {"inline", work, marked, [] { return std::make_unique<in_the_program>(); }},
      {"usdt_classic", work, marked, at({marker.offset, marker.semaphore_offset}), marker_code, breakpoint},
      {"usdt_optimised", work, marked, at({marker.offset + marker_nop5, marker.semaphore_offset}),
       marker_code + marker_nop5, call},
      {"uprobe_emulated", work, unmarked<study_push>, at({push.offset, 0}), push_code, breakpoint},
      {"uprobe_single_step", work, unmarked<study_xor>, at({stepped.offset, 0}), find_code(study_xor, stepped),
       breakpoint},
      {"uprobe_pair", work, unmarked<study_push>,
       [] { return std::make_unique<function_program>("study_push", false); }, push_code, breakpoint},
      {"uprobe_session", work, unmarked<study_push>,
       [] { return std::make_unique<function_program>("study_push", true); }, push_code, breakpoint},
      {"entry_empty", no_work, unmarked<study_push>,
       [place = uprobe_place{push.offset, 0}] { return std::make_unique<empty_program>(place); }, push_code,
       breakpoint},
      {"semaphore_raised", no_work, marked,
       [place = uprobe_place{nop1.offset, marker.semaphore_offset}] { return std::make_unique<empty_program>(place); }},
      {"without_multi", no_work, unmarked<study_nop1>,
       [place = uprobe_place{nop1.offset, 0}, perf_rows] { return std::make_unique<region_program>(perf_rows, place); },
       find_code(study_nop1, nop1), breakpoint},
      {"usdt_classic", no_work, unmarked<study_nop1>, at({nop1.offset, 0}), find_code(study_nop1, nop1), breakpoint},
      {"usdt_optimised", no_work, unmarked<study_nop5>, at({nop5.offset, 0}), find_code(study_nop5, nop5), call},
  };
}

bench::measurements run_experiments(unsigned rounds, double perf_limit_s) {
  bench::measurements results;
  // An experiment that this kernel or these privileges do not permit leaves no figures.
  const auto attempt = [](const std::string& name, auto&& experiment) {
    try {
      experiment();
    } catch (const std::exception& failed) {
      std::fprintf(stderr, "%s not measured: %s\n", name.c_str(), failed.what());
    }
  };
  const auto rows = std::make_shared<const kernel_rows>(true, process_filter::all, false);
  const elf_probe marker = region_end_probe();
  for (const char* way : {"plain", "idle", "inline", "usdt"})
    attempt("memory of threads", [&] { results[std::string("study_thread_") + way + "_bytes"] = thread_bytes(way); });
  for (const unsigned sites : site_counts)
    attempt("uprobe_multi", [&] { attach_and_detach(results, rows, "multi", sites, rounds); });
  attempt("perf events", [&] {
    allow_many_files();
    const auto perf_rows = std::make_shared<const kernel_rows>(false, process_filter::this_process, false);
    double site_ms = 0;
    for (const unsigned sites : site_counts) {
      if (site_ms * sites > 1e3 * perf_limit_s) break;
      attach_and_detach(results, perf_rows, "perf", sites, sites == 1 ? rounds : 1);
      site_ms = results["study_perf_" + std::to_string(sites) + "_detach_ms"] / sites;
    }
  });
  attempt("semaphore", [&] { read_semaphore(results, rows, marker); });

  const std::vector<bare_site> sites = bare_sites();
  const std::vector<bare_site> nops(sites.begin(), sites.begin() + 2);
  for (const bare_site& site : nops)
    for (const unsigned threads : {1U, 2U, 4U})
      attempt("threads", [&] { hit_in_threads(results, rows, site, threads, rounds); });

  const double whole_ms = 100.0 * rounds;
  std::vector<bare_site> interrupted = sites;
  interrupted.push_back({"marker", marked, {marker.offset, marker.semaphore_offset}});
  for (const bare_site& site : interrupted)
    attempt("signal", [&] { interrupt(results, rows, std::string("signal_") + site.name, site, whole_ms); });
  for (const bare_site& site : nops) {
    const std::string name = site.name;
    attempt("fork", [&] { in_a_child(results, rows, "fork_all_" + name, site, 0, false); });
    attempt("fork", [&] { in_a_child(results, rows, "fork_parent_" + name, site, getpid(), false); });
    attempt("exec", [&] { in_a_child(results, rows, "exec_all_" + name, site, 0, true); });
    attempt("exec", [&] { observed_exec(results, rows, "exec_process_" + name, site); });
  }
  return results;
}

std::optional<int> run_as_child(int count, char* arguments[]) {
  if (count != 3) return {};
  const std::string what = arguments[1];
  if (what == "--memory") return print_thread_bytes(arguments[2]);
  if (what != "--hit") return {};
  for (const bare_site& site : bare_sites())
    if (std::strcmp(site.name, arguments[2]) == 0) hit(site, event_count);
  return 0;
}

}  // namespace study
