// `adaptyst convert`: traces from one format to another.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "distribute/trace_set.hpp"
#include "observing.hpp"
#include "output.hpp"
#include "support/output_form.hpp"
#include "support/text.hpp"
#include "timeline_page.hpp"
#include "trace/chrome_trace.hpp"
#include "trace/otf2.hpp"
#include "trace/paraver_writer.hpp"
#include "trace/perfetto_archive.hpp"
#include "trace/perfetto_trace.hpp"
#include "trace/store_writer.hpp"

namespace adaptyst::tools {

namespace {

std::unique_ptr<lib::trace_writer> open_writer(const std::string& file, const lib::trace_set& traces) {
  if (lib::has_suffix(file, ".prv")) return std::make_unique<lib::paraver_writer>(file, traces.utc_ns());
  if (lib::has_suffix(file, ".otf2")) return lib::make_otf2_writer(file, traces.utc_ns());
  const lib::timeline_kind kind = lib::choose_timeline(file);
  if (kind == lib::timeline_kind::perfetto) {
    lib::perfetto_trace::clocks clocks;
    if (const std::optional<std::int64_t> utc_ns = traces.utc_ns(); utc_ns && *utc_ns > 0)
      clocks.realtime_ns = static_cast<std::uint64_t>(*utc_ns);
    return std::make_unique<lib::perfetto_trace>(file, clocks, lib::name_speller{}, lib::output_file::appears::whole);
  }
  if (kind == lib::timeline_kind::store) {
    auto made = std::make_unique<lib::store_writer>(file, 0, lib::store_writer::appears::whole);
    if (traces.is_simulated()) made->set_meta("simulated", "1");
    if (!traces.is_complete()) made->set_incomplete();
    if (const std::optional<std::int64_t> utc_ns = traces.utc_ns()) made->set_meta("utc_ns", std::to_string(*utc_ns));
    return made;
  }
  return std::make_unique<lib::chrome_trace>(file, 0, static_cast<lib::chrome_trace::kind_words>(to_string),
                                             lib::name_speller{}, lib::output_file::appears::whole);
}

// "report.sqlite (SQLite export of Nsight Systems), …"
std::string list_traces(const lib::trace_set& traces) {
  std::string all;
  for (std::size_t at = 0; at != traces.size(); ++at)
    all += fmt::format("{}{} ({})", at == 0 ? "" : ", ", traces.trace(at).file(), traces.trace(at).describe());
  return all;
}

// The process with this temporary name for an output or its parts: FILE.PID.partial or FILE.PID.N.partial.
std::optional<pid_t> find_writer(const std::string& name, const std::string& stem) {
  constexpr const char* suffix = ".partial";
  if (!lib::has_suffix(name, suffix) || name.compare(0, stem.size() + 1, stem + ".") != 0) return std::nullopt;
  // The last number that can be a process: a second number counts attempts.
  std::string left = name.substr(0, name.size() - std::strlen(suffix));
  std::optional<pid_t> writer;
  for (int part = 0; part != 2; ++part) {
    const std::size_t dot = left.rfind('.');
    if (dot == std::string::npos || dot < stem.size()) break;
    pid_t number = 0;
    const char* const end = left.data() + left.size();
    const auto [behind, failed] = std::from_chars(left.data() + dot + 1, end, number);
    if (failed != std::errc() || behind != end || number < 0) break;
    if (number > 0 || part == 1) writer = number;
    left.resize(dot);
  }
  const bool is_part = left.size() > stem.size() && left.find('.', stem.size() + 1) == std::string::npos;
  return is_part ? writer : std::nullopt;
}

// A killed writer cannot remove its temporary files. They are named and not removed: on a shared file system, a process
// of another machine may write them.
void complain_about_leftovers(const std::string& to) {
  constexpr int max_entries = 100'000;
  constexpr std::size_t max_named = 3;
  const std::filesystem::path path(to);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const std::string stem = path.stem().string();
  std::vector<std::string> left;
  std::error_code failed;
  int entries = 0;
  for (auto entry = std::filesystem::directory_iterator(folder, failed);
       !failed && entry != std::filesystem::directory_iterator() && ++entries != max_entries; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    const std::optional<pid_t> writer = find_writer(name, stem);
    if (writer && *writer > 0 && kill(*writer, 0) != 0 && errno == ESRCH) left.push_back((folder / name).string());
  }
  if (left.empty()) return;
  std::sort(left.begin(), left.end());
  const std::size_t more = left.size() > max_named ? left.size() - max_named : 0;
  left.resize(left.size() - more);
  complain(lib::printable(fmt::format("temporary files of killed conversions remain: {}{}", fmt::join(left, ", "),
                                      more == 0 ? "" : fmt::format(" and {} more", more))) +
           "\nremove these files, unless a conversion on another machine is running");
}

// With --verbose, factors have all digits.
void print_efficiencies(const lib::paraver_writer& of, bool is_verbose) {
  const int digits = is_verbose ? 15 : 3;
  if (const auto found = of.find_device_factors())
    print(
        fmt::format("parallel efficiency of {5} {6}: {0:.{4}g} = load balance {1:.{4}g} x communication {2:.{4}g} x "
                    "orchestration {3:.{4}g}\n",
                    found->of.parallel, found->of.load_balance, found->of.communication, found->of.orchestration,
                    digits, found->devices, found->devices == 1 ? "device" : "devices"));
  else print("parallel efficiency of devices: not available, since nothing was computed\n");
  if (const auto found = of.find_host_factors())
    print(
        fmt::format("parallel efficiency of {5} host {6}: at most {0:.{4}g} = MPI load balance {1:.{4}g} x MPI "
                    "communication {2:.{4}g} x offload {3:.{4}g}\n",
                    found->of.parallel, found->of.mpi_load_balance, found->of.mpi_communication,
                    found->of.device_offload, digits, found->threads, found->threads == 1 ? "thread" : "threads"));
  else print("parallel efficiency of host threads: not available, since the trace has no calls\n");
}

void convert(const std::vector<std::string>& files, const std::string& to, bool is_verbose) {
  const bool is_archive = lib::has_suffix(to, ".tar");
  const bool is_page = lib::has_suffix(to, ".html");
  const lib::timeline_kind kind = lib::choose_timeline(to);
  const bool is_known = is_archive || is_page || lib::has_suffix(to, ".json") || lib::has_suffix(to, ".otf2") ||
                        lib::has_suffix(to, ".prv") || kind == lib::timeline_kind::store ||
                        kind == lib::timeline_kind::perfetto;
  if (!is_known)
    throw error(fmt::format("cannot determine the form of {}", to), to, 0,
                "end it in .sqlite for a store, in .json or .pftrace for Perfetto, in .otf2 for an OTF2 archive, in "
                ".prv for Paraver, in .html for an HTML timeline, or in .tar for several .pftrace files");
  for (const std::string& file : files)
    if (std::error_code failed; file == to || std::filesystem::equivalent(file, to, failed))
      throw error(fmt::format("{} would be written over while it is read", to), to, 0, "name another file");
  complain_about_leftovers(to);
  if (is_archive) {
    for (const std::string& remark : lib::write_perfetto_archive(files, to)) complain(fmt::format("{} {}", to, remark));
    if (is_verbose) print(lib::printable(fmt::format("{}: {} traces", to, files.size())) + "\n");
    return;
  }
  allow_many_files();
  const lib::trace_set traces(files);
  lib::bad_rows bad;
  std::uint64_t events = 0;
  if (is_page) events = write_timeline_page(traces, to, bad).events;
  else {
    const std::unique_ptr<lib::trace_writer> writer = open_writer(to, traces);
    events = traces.read(*writer, bad);
    writer->finish();
    for (const std::string& remark : writer->remarks()) complain(fmt::format("{} {}", to, remark));
    if (const auto* paraver = dynamic_cast<const lib::paraver_writer*>(writer.get()); paraver != nullptr && events != 0)
      print_efficiencies(*paraver, is_verbose);
  }
  complain_about(traces, bad);
  if (events == 0) complain(fmt::format("{} has no events: none were found in {}", to, list_traces(traces)));
  else if (is_verbose)
    print(lib::printable(fmt::format("{}: {} events of {}", to, lib::format_count(events), list_traces(traces))) +
          "\n");
}

}  // namespace

void complain_about(const lib::trace_set& traces, const lib::bad_rows& bad) {
  for (const std::string& remark : traces.remarks()) complain(remark);
  for (const std::string& remark : traces.without_place()) complain(remark);
  if (traces.is_simulated()) complain(simulated_remark);
  if (const std::string remark = bad.text(); !remark.empty()) complain(remark);
}

void add_convert(CLI::App& app) {
  const auto files = std::make_shared<std::vector<std::string>>();
  const auto to = std::make_shared<std::string>();
  const auto is_verbose = std::make_shared<bool>(false);
  CLI::App* const command = app.add_subcommand("convert", "Convert one or more traces to one trace of another form");
  command->group(heading::traces);
  command->add_option("TRACE", *files, trace_forms)->required()->type_name("");
  command
      ->add_option("-o,--output", *to,
                   "Write the trace to FILE; the suffix selects the form: .sqlite, .json, .pftrace, .otf2, .prv, .html "
                   "or .tar")
      ->required()
      ->type_name("FILE");
  add_verbose(*command, *is_verbose, "the forms of the traces, and the number of events");
  command->footer(
      "$ adaptyst convert report.sqlite -o report.pftrace\n"
      "$ adaptyst convert scorep/traces.otf2 -o store.sqlite\n"
      "$ adaptyst convert run.events -o run.sqlite\n"
      "$ adaptyst convert report.sqlite -o timeline.html\n"
      "$ adaptyst convert rank0.pftrace rank1.pftrace -o ranks.tar\n"
      "\n"
      "FILE.sqlite is a store (docs/trace-schema.md), FILE.json and FILE.pftrace are for Perfetto. FILE.otf2 is an OTF2 "
      "archive, FILE.prv a trace for Paraver. FILE.html is a timeline for a browser. "
      "FILE.tar has the .pftrace files of several ranks, as one trace for Perfetto. The file appears when it is "
      "complete (docs/traces.md).\n"
      "\n"
      "Exit status: 0 success; 2 wrong usage, or a file that could not be read or written.");
  command->callback([files, to, is_verbose] { convert(*files, *to, *is_verbose); });
}

}  // namespace adaptyst::tools
