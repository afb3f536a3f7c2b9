// The HTML report across the stack: models, types of layers, layers in their order of execution, a roofline, kernels.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../analyse/levels/fields.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "page_shell.hpp"

namespace adaptyst::lib {

namespace {

std::string make_title(const levels_settings& how) {
  const std::vector<std::string>& from = how.traces.empty() ? how.command : how.traces;
  if (from.empty()) return "levels";
  std::string made = from.front().substr(from.front().rfind('/') + 1);
  if (how.traces.size() > 1) made += fmt::format(" and {} more", how.traces.size() - 1);
  return printable(made);
}

}  // namespace

std::string to_html(const levels_report& report) {
  levels_result without_regions = report.of;  // the page does not show them
  without_regions.regions.clear();
  nlohmann::ordered_json warnings = nlohmann::ordered_json::array();
  for (const std::string& remark : report.of.remarks) warnings.push_back(printable(remark));
  const nlohmann::ordered_json words = {
      {"title", make_title(report.how)}, {"subject", "across the stack"}, {"warnings", std::move(warnings)}};
  return make_page(shell_of_stack,
                   fmt::format(R"({{"page":"stack","levels":{},"words":{}}})",
                               to_json(levels_report{without_regions, report.how, report.stack}),
                               words.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)));
}

}  // namespace adaptyst::lib
