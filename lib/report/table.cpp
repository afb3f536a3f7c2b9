// The report as text: the subject, the findings, the regions, the devices, and the account.
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "../model/unmarked.hpp"
#include "../model/words.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "parts.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::format_line, lib::percent, lib::printable, lib::right, lib::wrapped;

void write_metadata(std::string& out, const profile& profile, std::size_t columns) {
  std::string all;
  for (const auto& [name, value] : profile.metadata)
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", name, value);
  if (!all.empty()) out += wrapped(printable("of " + all), columns);
  if (profile.metadata_lost)
    out += wrapped(fmt::format("metadata: {} call{} found no room; a process has room for 64", *profile.metadata_lost,
                               *profile.metadata_lost == 1 ? "" : "s"),
                   columns);
}

// Listed next to the regions, because the time of these functions is part of the self times of regions.
void write_adapters(std::string& out, const profile& profile, std::size_t columns) {
  std::string loaded;
  for (const auto& [name, use] : profile.adapters)
    loaded += fmt::format("{}{} ({})", loaded.empty() ? "adapters: " : ", ", name, use);
  if (!loaded.empty()) out += wrapped(printable(loaded), columns);
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [name, why] : profile.skipped_adapters) by_reason[why].push_back(name);
  constexpr std::size_t max_reasons = 8;
  std::size_t left = profile.skipped_adapters.size(), reasons = 0;
  for (const auto& [why, names] : by_reason) {
    if (reasons++ == max_reasons) break;
    out += wrapped(printable(fmt::format("no adapter for {}: {}", fmt::join(names, ", "), why)), columns);
    left -= names.size();
  }
  if (left != 0) out += fmt::format("no adapter for {} other interface{}\n", left, left == 1 ? "" : "s");
}

void write_not_probed(std::string& out, const profile& profile, std::size_t columns) {
  constexpr std::size_t max_functions = 20;
  if (profile.not_probed.empty()) return;
  std::string names;
  std::size_t left = profile.not_probed.size();
  for (auto function = profile.not_probed.begin();
       function != profile.not_probed.end() && profile.not_probed.size() - left != max_functions; ++function, --left)
    names += (names.empty() ? "" : ", ") + function->first;
  if (left != 0) names += fmt::format(" and {} other{}", left, left == 1 ? "" : "s");
  out += wrapped(printable(fmt::format(
                     "not probed, though the program imports them: {}; their time is that of what calls them", names)),
                 columns);
}

// The report on a program in which no marker ran, with remedies.
void write_without_markers(std::string& out, const profile& profile, std::size_t columns, bool has_colour) {
  out += "no markers: none ran in it\n";
  const bool wants_functions = profile.options.count("functions") != 0;
  if (wants_functions) out += "no functions: no requested function was called and has a probe\n";
  write_not_probed(out, profile, columns);
  if (!profile.functions.empty()) out += "\n" + lib::function_table(profile.functions, {columns, has_colour});
  out += "\nwhat to try next:\n";
  const auto advise = [&](const char* text) { out += wrapped(std::string("- ") + text, columns, 2); };
  advise("mark what is to be timed: ADAPTYST_REGION(\"name\"), of <adaptyst/region.hpp>, in its source");
  if (profile.engine != "ebpf") {
    advise(
        "--context samples lists the functions that take the time (adaptyst doctor shows whether samples are permitted)");
    return;
  }
  advise(wants_functions
             ? "other functions, such as those above, by --functions FILE:PATTERN; adaptyst sites lists a file's probes"
             : "without a change to it: adaptyst run --functions mpi,blas,io,FILE:PATTERN");
  if (!profile.samples) advise("a flame graph of all its functions: adaptyst run -o run.folded");
}

}  // namespace

std::string to_table(const profile& profile, const table_options& how) {
  const std::size_t columns = std::max(how.columns, lib::min_table_columns);
  const std::string engine =
      wrapped(printable(fmt::format("engine {} ({}): {}", profile.engine, profile.mechanism, profile.reason)), columns);
  std::string out = "\n" + format_line("adaptyst: " + printable(lib::describe_subject(profile)), columns);
  out += lib::odd_ranks_text(profile, columns);
  if (const std::string text = lib::efficiency_text(profile); !text.empty()) out += wrapped(text, columns);
  write_adapters(out, profile, columns);
  write_metadata(out, profile, columns);
  const std::string waits = how.verbose ? lib::thread_wait_text(profile, columns) : "";
  if (!profile.has_markers() && profile.devices.size() <= 1) {
    write_without_markers(out, profile, columns, how.has_colour);
    return out + waits + lib::memory_text(profile, columns) + "\n" + engine + lib::context_lines(profile, columns);
  }
  const lib::region_table_text regions = lib::region_table(profile, how);
  out += "\n" + lib::finding_list(profile, columns, how.has_colour) + regions.rows;
  write_not_probed(out, profile, columns);
  if (!profile.functions.empty()) out += "\n" + lib::function_table(profile.functions, {columns, how.has_colour});
  out += lib::device_table(profile, how) + waits + lib::memory_text(profile, columns);
  if (how.verbose)
    return out + "\n" + regions.legend + "\n" + engine + lib::account_text(profile, columns) +
           lib::context_lines(profile, columns);
  return out + lib::warning_text(profile, columns) + "\n" + regions.legend + lib::account_line(profile, columns);
}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

void fit_to_terminal(table_options& how, int descriptor) {
  how.columns = terminal_width(descriptor);
  how.lines = terminal_lines(descriptor);
  how.has_colour = has_colour(descriptor);
}

}  // namespace adaptyst::lib
