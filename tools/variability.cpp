// `adaptyst variability`: finds places and times at which the same work took longer, in traces of any size.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "analyse/variability/run_comparison.hpp"
#include "analyse/variability/variability.hpp"
#include "commands.hpp"
#include "distribute/variability_run.hpp"
#include "launched_ranks.hpp"
#include "observing.hpp"
#include "output.hpp"
#include "report/forms.hpp"
#include "support/output_file.hpp"
#include "support/output_form.hpp"
#include "support/text.hpp"
#include "timeline_page.hpp"
#include "value_checks.hpp"

#include <unistd.h>

namespace adaptyst::tools {

namespace {

struct variability_options {
  lib::variability_request request;
  double window_s = 0.01;
  std::string metric = "duration", by, format = "table";
  std::vector<std::string> outputs;
  std::string timeline;
  bool is_verbose = false, compares = false;
};

// The same file, as the page in `file` can name it.
std::optional<lib::timeline_link> link_from(const std::string& file, std::optional<lib::timeline_link> timeline) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (timeline) timeline->file = fs::proximate(timeline->file, fs::absolute(file, failed).parent_path(), failed);
  return timeline;
}

void write_to(output_form form, const std::string& file, const lib::variability_result& result, bool is_verbose,
              const std::optional<lib::timeline_link>& timeline) {
  switch (form) {
    case output_form::json:
      return lib::write_file(file, [&](const lib::text_taker& to) { lib::write_json(result, to); });
    case output_form::csv: return lib::write_file(file, [&](const lib::text_taker& to) { lib::write_csv(result, to); });
    case output_form::html: return lib::write_file(file, lib::to_html(result, link_from(file, timeline)));
    default: return lib::write_file(file, lib::to_table(result, lib::screen(), is_verbose));
  }
}

std::optional<lib::timeline_link> write_timeline(const variability_options& options) {
  if (options.timeline.empty()) return std::nullopt;
  lib::bad_rows bad;  // the analysis has reported them
  const lib::trace_set traces(options.request.traces);
  return lib::timeline_link{options.timeline, write_timeline_page(traces, options.timeline, bad).first_ns};
}

void report(const variability_options& options, const lib::variability_result& result) {
  const std::optional<lib::timeline_link> timeline = write_timeline(options);
  write_outputs(options.outputs, "the result", [&](output_form form, const std::string& file) {
    write_to(form, file, result, options.is_verbose, timeline);
  });
  if (options.format == "csv") print(lib::to_rows(result).csv());
  else if (options.format == "markdown") print(lib::to_rows(result).markdown());
  else if (options.format == "table") print(lib::to_table(result, lib::find_screen(STDOUT_FILENO), options.is_verbose));
  else if (options.format == "json" && isatty(STDOUT_FILENO) != 0) print_json(lib::to_json(result));
  else if (options.format == "json")
    lib::write_json(result, [](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); });
}

// Each trace is a run. One run after the other is read, so the memory is that of the largest.
void compare(const variability_options& options, rank_transport* over) {
  lib::run_comparer comparer;
  lib::variability_request request = options.request;
  for (const std::string& trace : options.request.traces) {
    request.traces = {trace};
    const std::optional<lib::variability_result> run = lib::run_variability(request, over);
    if (run) comparer.add(trace, *run);
  }
  if (over != nullptr && over->rank() != 0) return;
  const lib::run_comparison found = comparer.finish();
  give({[&] { return lib::to_json(found); },
        [&](const lib::screen& on) { return lib::to_table(found, on, options.is_verbose); },
        [&] { return lib::to_rows(found); }, [&] { return lib::to_html(found); }},
       options.outputs, options.format, "the comparison");
}

void require_comparable(const variability_options& options) {
  const std::vector<std::string>& traces = options.request.traces;
  if (traces.size() < 2) throw error("--compare needs at least two traces", 0, "name a trace for each run");
  for (std::size_t at = 0; at != traces.size(); ++at)
    for (std::size_t other = 0; other != at; ++other) {
      std::error_code failed;
      if (std::filesystem::equivalent(traces[at], traces[other], failed) && !failed)
        throw error(fmt::format("{} is named twice", traces[at]), traces[at], 0, "name each run once");
    }
}

bool has_page_without(const std::string& timeline, const std::vector<std::string>& outputs) {
  bool has_page = false;
  for (const std::string& file : outputs) {
    std::vector<error> wrong;
    const std::optional<output> made = lib::parse_output(file, wrong);
    if (!made) continue;
    if (lib::expand(made->file) == timeline)
      throw error("two outputs in one file: '" + timeline + "'", timeline, 0, "choose another name");
    has_page = has_page || made->form == output_form::html;
  }
  return has_page;
}

void check_timeline(const variability_options& options) {
  const std::string& file = options.timeline;
  if (options.compares) throw error("--compare has no timeline", file, 0, "leave out --timeline-page");
  if (!lib::has_suffix(file, ".html")) throw error(fmt::format("{} is no HTML file", file), file, 0, "end it in .html");
  if (!has_page_without(file, options.outputs))
    throw error("--timeline-page needs an HTML report that links to it", file, 0, "add --output FILE.html");
  for (const std::string& trace : options.request.traces) {
    std::error_code failed;
    if (trace == file || std::filesystem::equivalent(trace, file, failed))
      throw error(fmt::format("{} would be written over while it is read", file), file, 0, "name another file");
  }
}

void find(variability_options& options) {
  lib::variability_request& request = options.request;
  request.window_ns = static_cast<std::uint64_t>(std::llround(options.window_s * 1e9));
  lib::variability_settings& settings = request.settings;
  settings.metric = options.metric == "stall"        ? lib::variability_metric::stall
                    : options.metric == "busy"       ? lib::variability_metric::busy
                    : options.metric == "launch-gap" ? lib::variability_metric::launch_gap
                                                     : lib::variability_metric::duration;
  request.chooses_by = options.by.empty();
  settings.by = options.by == "kernel"   ? lib::variability_by::kernel
                : options.by == "region" ? lib::variability_by::region
                : options.by == "rank"   ? lib::variability_by::rank
                                         : lib::variability_by::device;
  allow_many_files();
  if (!options.timeline.empty()) check_timeline(options);
  if (options.compares) require_comparable(options);
  in_launched_ranks([&](rank_transport* over) {
    if (request.threads == 0) request.threads = over != nullptr ? 1 : std::max(1U, std::thread::hardware_concurrency());
    if (options.compares) return compare(options, over);
    if (const std::optional<lib::variability_result> result = lib::run_variability(request, over))
      report(options, *result);
  });
}

// Which windows are flagged and listed, and the threads.
void add_choices(CLI::App& command, variability_options& requested) {
  command
      .add_option("--iqr", requested.request.settings.iqr,
                  "Flag a window that is this number of interquartile ranges beyond a quartile")
      ->type_name("K")
      ->check(number_between(0, 1000))
      ->capture_default_str();
  command.add_option("--top", requested.request.settings.top, "List the N worst windows")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  command
      .add_option("--threads", requested.request.threads,
                  "Threads; if not given, one for each core, or one in each of several ranks")
      ->type_name("N")
      ->check(whole_number(1, 1024));
}

}  // namespace

void add_variability(CLI::App& app) {
  const auto requested = std::make_shared<variability_options>();
  requested->request.threads = 0;
  CLI::App* const command =
      app.add_subcommand("variability", "Find windows, devices and ranks in which the same work took longer");
  command->group(heading::traces);
  command->add_option("TRACE", requested->request.traces, trace_forms)->required()->type_name("");
  command
      ->add_option("--window", requested->window_s, "Width of a window, in seconds or with a unit: 0.01, 10ms, 500us")
      ->type_name("DURATION")
      ->transform(duration(1e-9, 1e6))
      ->default_str("10ms");
  command
      ->add_option("--shards", requested->request.shards,
                   "Instead: number of windows, from the first event to the last")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->excludes("--window");
  command->add_option("--metric", requested->metric, "Value to compare between windows")
      ->check(one_of({"duration", "stall", "busy", "launch-gap"}))
      ->capture_default_str();
  command
      ->add_option("--by", requested->by,
                   "Separate windows for each; if not given, device if devices have work, else region")
      ->check(one_of({"device", "kernel", "region", "rank"}));
  add_choices(*command, *requested);
  command->add_flag(
      "--compare", requested->compares,
      "Compare runs: each TRACE is a run. Reports slow runs, and devices or ranks that are slow in every run");
  add_output(*command, requested->outputs, {output_form::json, output_form::html, output_form::table, output_form::csv},
             "csv: the windows");
  command
      ->add_option("--timeline-page", requested->timeline,
                   "Also write the traces to FILE.html, a timeline to which windows of the HTML report link")
      ->type_name("FILE");
  add_format(*command, requested->format, "the result on standard output");
  add_verbose(*command, requested->is_verbose, "all rows, and the conditions of a flag");
  command->footer(
      "$ adaptyst variability report.sqlite\n"
      "$ adaptyst variability --metric stall --window 1ms report.sqlite\n"
      "$ adaptyst variability -o windows.html -o windows.csv report.sqlite\n"
      "$ mpirun -n 4 adaptyst variability report.sqlite\n"
      "$ adaptyst variability --compare -o runs.html monday.sqlite tuesday.sqlite\n"
      "\n"
      "`nsys export --type sqlite report.nsys-rep` and `adaptyst run -o run.sqlite` write such files.\n"
      "\n"
      "duration: durations of the kernels that start in a window, relative to the mean of the same kernels on the same "
      "device. stall: time in which a device neither copies nor computes. busy: time in which it computes; low values "
      "are flagged. launch-gap: time in which it neither copies nor computes, for each kernel.\n"
      "\n"
      "The result is the same for any number of threads and ranks. docs/variability.md defines each figure.\n"
      "\n"
      "Exit status: 0 success; 2 wrong usage, or a file that could not be read or written.");
  command->callback([requested] { find(*requested); });
}

}  // namespace adaptyst::tools
