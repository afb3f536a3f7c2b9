// The HTML report of a profile: the profile as JSON, and the sentences of the report on it.
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../model/unmarked.hpp"
#include "../model/words.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "page_shell.hpp"
#include "parts.hpp"
#include "region_figures.hpp"
#include "region_tree.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using json = nlohmann::ordered_json;
using lib::printable;

// The browser breaks lines; this many columns keep a text on one line.
constexpr std::size_t one_line = 4096;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> made;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = std::min(text.find_first_not_of(' ', begin), end);
    if (first != end) made.push_back(text.substr(first, text.find_last_not_of(' ', end - 1) + 1 - first));
    begin = end + 1;
  }
  return made;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string make_title(const profile& profile) {
  if (!profile.processes.empty()) return printable(file_name(profile.processes.front().command));
  return "profile";
}

// The command line, if it is known.
std::string make_command(const profile& profile) {
  if (profile.processes.empty()) return {};
  const process_info& first = profile.processes.front();
  return printable(first.arguments.empty() ? first.command : fmt::format("{}", fmt::join(first.arguments, " ")));
}

std::string make_hosts(const profile& profile) {
  constexpr std::size_t most = 8;
  std::vector<std::string> hosts;
  const auto add = [&](const std::string& host) {
    if (!host.empty() && std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  };
  if (profile.about_ranks)
    for (const std::string& host : profile.about_ranks->hosts) add(host);
  else
    for (const process_info& process : profile.processes) add(process.host);
  std::sort(hosts.begin(), hosts.end());
  const std::size_t all = profile.about_ranks ? profile.about_ranks->count_hosts() : hosts.size();
  hosts.resize(std::min(hosts.size(), most));
  const std::string more = all > hosts.size() ? fmt::format(" and {} more", all - hosts.size()) : "";
  return printable(fmt::format("{}{}", fmt::join(hosts, ", "), more));
}

// Figures that are unknown with this engine, machine and options.
std::vector<std::string> list_unrecorded(const profile& profile) {
  constexpr std::size_t most = 8;
  std::vector<std::string> made;
  if (!profile.context) made.push_back("why threads wait: " + lib::explain_missing_parts(profile));
  for (const device_usage& device : profile.devices)
    if (!profile.is_host(static_cast<std::uint32_t>(&device - profile.devices.data())) && !device.kernel_ns) {
      made.emplace_back("operations of devices: no adapter reports them");
      break;
    }
  if (!profile.not_probed.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, why] : profile.not_probed)
      if (names.size() != most) names.push_back(name);
    const std::size_t left = profile.not_probed.size() - names.size();
    made.push_back(fmt::format("functions without a probe: {}{}", fmt::join(names, ", "),
                               left != 0 ? fmt::format(" and {} more", left) : ""));
  }
  for (std::string& text : made) text = printable(text);
  return made;
}

// The lines below a row in the terminal's report.
std::vector<std::string> list_notes(const profile& profile, const region& row) {
  std::vector<std::string> made = split_lines(lib::attribute_lines(row, one_line, 0));
  for (std::string text : {lib::heap_text(row), lib::spread_text(profile, row), lib::collective_text(profile, row)})
    if (!text.empty()) made.push_back(std::move(text));
  if (row.context && row.context->cycles.value_or(0) != 0) made.push_back(lib::counters_text(*row.context));
  return made;
}

json make_notes(const profile& profile) {
  json made = json::object();
  for (const region& row : profile.regions)
    if (const std::vector<std::string> notes = list_notes(profile, row); !notes.empty())
      made[std::to_string(&row - profile.regions.data())] = notes;
  return made;
}

json make_places(const profile& profile) {
  json made = json::object();
  const std::vector<std::string> places = lib::list_places(profile);
  for (std::size_t at = 0; at != places.size(); ++at)
    if (!places[at].empty()) made[std::to_string(at)] = printable(places[at]);
  return made;
}

json make_findings(const profile& profile) {
  json made = json::array();
  for (const lib::finding_words& word : lib::put_findings_in_words(profile))
    made.push_back({{"sentence", word.sentence}, {"extent", word.evidence + word.place}, {"advice", word.advice}});
  return made;
}

json make_unmarked(const profile& profile) {
  const lib::unmarked_time rest = lib::compute_unmarked(profile);
  return {{"state", rest.state == lib::unmarked_state::known ? "known" : "unknown"},
          {"ns", rest.ns},
          {"is_estimate", rest.is_estimate},
          {"legend", lib::unmarked_legend(profile)}};
}

std::vector<std::string> list_warnings(const profile& profile) {
  std::vector<std::string> made = split_lines(lib::odd_ranks_text(profile, one_line));
  const std::vector<std::string> missing = lib::list_what_is_missing(profile);
  made.insert(made.end(), missing.begin(), missing.end());
  losses of_context = profile.context ? profile.context->lost : losses{};
  if (profile.samples) of_context.insert(profile.samples->lost.begin(), profile.samples->lost.end());
  const std::vector<std::string> reasons = lib::explain_context_losses(of_context);
  made.insert(made.end(), reasons.begin(), reasons.end());
  return made;
}

json make_words(const profile& profile) {
  json devices = json::array();
  for (std::uint32_t device = 0; device != profile.devices.size(); ++device)
    devices.push_back(lib::device_label(profile, device));
  return {{"title", make_title(profile)},
          {"subject", printable(lib::describe_subject(profile))},
          {"command", make_command(profile)},
          {"date", profile.date().value_or("")},
          {"hosts", make_hosts(profile)},
          {"engine", printable(fmt::format("{} ({}): {}", profile.engine, profile.mechanism, profile.reason))},
          {"not_recorded", list_unrecorded(profile)},
          {"efficiency", lib::efficiency_text(profile)},
          {"memory", split_lines(lib::memory_text(profile, one_line))},
          {"warnings", list_warnings(profile)},
          {"findings", make_findings(profile)},
          {"devices", std::move(devices)},
          {"wall_ns", lib::compute_wall_ns(profile)},
          {"unmarked", make_unmarked(profile)},
          {"rows", make_notes(profile)},
          {"places", make_places(profile)},
          {"account", split_lines(lib::account_text(profile, one_line) + lib::context_lines(profile, one_line))}};
}

}  // namespace

std::string to_html(const profile& profile) {
  return lib::make_page(lib::shell_of_profile,
                        fmt::format(R"({{"page":"profile","profile":{},"words":{}}})", lib::to_page_json(profile),
                                    make_words(profile).dump(-1, ' ', false, json::error_handler_t::replace)));
}

}}  // namespace adaptyst::v1
