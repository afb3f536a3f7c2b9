// `adaptyst variability`: where and when the same work took longer, in traces of any size.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>

#include "analyse/variability/variability.hpp"
#include "commands.hpp"
#include "distribute/variability_run.hpp"
#include "launched_ranks.hpp"
#include "output.hpp"
#include "report/forms.hpp"
#include "support/output_file.hpp"
#include "support/output_form.hpp"
#include "support/text.hpp"
#include "value_checks.hpp"

#include <unistd.h>

namespace adaptyst::tools {

namespace {

struct variability_options {
  lib::variability_request request;
  std::string window = "10ms", metric = "duration", by, output, format = "table";
};

std::optional<std::uint64_t> parse_time(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || !std::isfinite(number)) return std::nullopt;
  const std::string unit(read, end);
  const double factor = unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
  const double ns = number * factor;
  if (!(ns >= 1) || ns > 1e15) return std::nullopt;
  return static_cast<std::uint64_t>(ns);
}

void report(const variability_options& options, const lib::variability_result& result) {
  if (lib::has_suffix(options.output, ".html")) lib::write_file(options.output, lib::to_html(result));
  else if (!options.output.empty())
    lib::write_file(options.output, [&](const lib::text_taker& to) {
      if (lib::has_suffix(options.output, ".csv")) lib::write_csv(result, to);
      else lib::write_json(result, to);
    });
  if (options.format == "csv") print(lib::to_rows(result).csv());
  else if (options.format == "markdown") print(lib::to_rows(result).markdown());
  else if (options.format == "table")
    print(lib::to_table(result, static_cast<int>(lib::terminal_width(STDOUT_FILENO))));
  else if (isatty(STDOUT_FILENO) != 0) print_json(lib::to_json(result));
  else lib::write_json(result, [](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); });
}

void find(variability_options& options) {
  lib::variability_request& request = options.request;
  request.window_ns = *parse_time(options.window);
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
  in_launched_ranks([&](rank_transport* over) {
    if (request.threads == 0) request.threads = over != nullptr ? 1 : std::max(1U, std::thread::hardware_concurrency());
    if (const std::optional<lib::variability_result> result = lib::run_variability(request, over))
      report(options, *result);
  });
}

std::string check_time(const std::string& text) {
  return parse_time(text) ? std::string() : fmt::format("'{}' is no time such as 10ms, 500us or 2s", text);
}

std::string check_output(const std::string& text) {
  return lib::has_suffix(text, ".json") || lib::has_suffix(text, ".csv") || lib::has_suffix(text, ".html")
             ? std::string()
             : fmt::format("'{}' ends neither in .json nor in .csv nor in .html", text);
}

}  // namespace

void add_variability(CLI::App& app) {
  const auto asked = std::make_shared<variability_options>();
  asked->request.threads = 0;
  CLI::App* const command =
      app.add_subcommand("variability", "Find windows, devices and ranks in which the same work took longer");
  command
      ->add_option("TRACE", asked->request.traces, "Exports of Nsight Systems to SQLite, our own stores, or event logs")
      ->required()
      ->type_name("");
  command->add_option("--window", asked->window, "The width of a window: a number with ns, us, ms or s")
      ->type_name("TIME")
      ->check(check_time)
      ->capture_default_str();
  command->add_option("--shards", asked->request.shards, "Instead: that many windows, from the first event to the last")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->excludes("--window");
  command->add_option("--metric", asked->metric, "What windows are compared by")
      ->check(one_of({"duration", "stall", "busy", "launch-gap"}))
      ->capture_default_str();
  command
      ->add_option("--by", asked->by,
                   "What has windows of its own; if not given, device where there is work of devices, else region")
      ->check(one_of({"device", "kernel", "region", "rank"}));
  command
      ->add_option("--iqr", asked->request.settings.iqr,
                   "Flag a window beyond a quartile by this many interquartile ranges")
      ->type_name("K")
      ->check(number_between(0, 1000))
      ->capture_default_str();
  command->add_option("--top", asked->request.settings.top, "How many of the worst windows are listed")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--threads", asked->request.threads,
                   "Threads; if not given, one for each core, and one in each rank of several")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--output", asked->output,
                   "Write the result to FILE.json or, as a page, to FILE.html, or its windows to FILE.csv")
      ->type_name("FILE")
      ->check(check_output);
  add_format(*command, asked->format);
  command->footer(
      "$ adaptyst variability report.sqlite\n"
      "$ adaptyst variability --metric stall --window 1ms --output stalls.json report.sqlite\n"
      "$ adaptyst variability --output windows.html report.sqlite\n"
      "$ mpirun -n 4 adaptyst variability report.sqlite\n"
      "\n"
      "nsys export --type sqlite report.nsys-rep makes such a file; adaptyst run --timeline run.sqlite as well.\n"
      "\n"
      "duration: how many times as long the kernels that start in a window take as the same kernels take on\n"
      "that device on average. stall: time in which a device copies and computes nothing. busy: time in which\n"
      "it computes; here low values are flagged. launch-gap: time in which it does neither, for each kernel.\n"
      "\n"
      "The result is the same for any number of threads and ranks. docs/variability.md defines each figure.\n"
      "\n"
      "Exit status: 0 all is well; 2 wrong usage, a trace that could not be read, or a file that could not be "
      "written.");
  command->callback([asked] { find(*asked); });
}

}  // namespace adaptyst::tools
