// The HTML report of a comparison.
#include <fmt/format.h>

#include <adaptyst/compare.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "../model/words.hpp"
#include "page_shell.hpp"
#include "parts.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using json = nlohmann::ordered_json;

std::string count_runs(std::size_t count) { return fmt::format("{} run{}", count, count == 1 ? "" : "s"); }

json make_words(const comparison& comparison) {
  json labels = json::array();
  for (const compared_region& row : comparison.regions)
    labels.push_back(lib::device_label(row.device_kind, row.device_index, row.on_host));
  const std::string runs =
      fmt::format("{} before, {} after", count_runs(comparison.runs_before), count_runs(comparison.runs_after));
  std::vector<std::string> warnings;
  if (!comparison.differing.empty()) warnings.push_back(lib::describe_differing(comparison.differing));
  return {{"title", "comparison"},
          {"subject", runs},
          {"labels", std::move(labels)},
          {"warnings", std::move(warnings)},
          {"account", {lib::describe_method(comparison)}}};
}

}  // namespace

std::string to_html(const comparison& comparison) {
  return lib::make_page(lib::shell_of_comparison,
                        fmt::format(R"({{"page":"comparison","comparison":{},"words":{}}})", to_json(comparison),
                                    make_words(comparison).dump(-1, ' ', false, json::error_handler_t::replace)));
}

}}  // namespace adaptyst::v1
