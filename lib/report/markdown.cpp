// A short report in Markdown for an issue, a review or the mail of a job: the findings and the largest rows.
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../model/unmarked.hpp"
#include "../model/words.hpp"
#include "../support/text.hpp"
#include "parts.hpp"
#include "region_figures.hpp"
#include "region_tree.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::context_parts, lib::escaped_for_markdown, lib::region_figures;

std::string format_line(const std::string& name, const std::string& device, const region_figures& figures,
                        const context_parts& parts) {
  return fmt::format("| {} | {} | {} | {} |\n", name, device, fmt::join(figures, " | "), fmt::join(parts, " | "));
}

// Replaces empty figures; unknown and absent figures look the same in Markdown.
region_figures without_gaps(region_figures figures) {
  for (std::string& figure : figures)
    if (figure.empty()) figure = "—";
  return figures;
}

// The findings with the largest shares of the run.
std::string list_findings(const profile& profile) {
  constexpr std::size_t most = 5;
  const std::vector<lib::finding_words> all = lib::put_findings_in_words(profile);
  if (all.empty()) return {};
  std::string made = "**Findings**\n\n";
  for (std::size_t at = 0; at != std::min(most, all.size()); ++at)
    made += fmt::format("{}. {} ({}){}. Try: {}\n", at + 1, escaped_for_markdown(all[at].sentence),
                        escaped_for_markdown(all[at].evidence), escaped_for_markdown(all[at].place),
                        escaped_for_markdown(all[at].advice));
  if (all.size() > most) made += fmt::format("\n{} more are in the profile.\n", all.size() - most);
  return made + "\n";
}

std::string quote_what_is_missing(const profile& profile) {
  std::string made;
  for (const std::string& text : lib::list_what_is_missing(profile))
    made += (made.empty() ? "> " : ">\n> ") + escaped_for_markdown(text) + "\n";
  return made.empty() ? made : made + "\n";
}

std::string indent(std::size_t depth) {
  std::string made;
  for (std::size_t level = 0; level != depth; ++level) made += "&nbsp;&nbsp;";
  return made;
}

}  // namespace

std::string to_markdown(const profile& profile, const table_options& options) {
  table_options how = options;
  if (!how.rows && !how.verbose) how.rows = table_options::usual_rows_of_markdown;
  const lib::figure_form form = lib::find_figure_form(profile);
  region_figures above;
  for (std::size_t at = 0; at != above.size(); ++at) above[at] = lib::figures[at].heading;
  context_parts above_parts;
  for (std::size_t at = 0; at != above_parts.size(); ++at) above_parts[at] = lib::parts[at].heading;
  std::string out = quote_what_is_missing(profile) + list_findings(profile) +
                    format_line("REGION", "ON", above, above_parts) + "|---|---|";
  for (std::size_t at = 0; at != above.size() + above_parts.size(); ++at) out += "--:|";
  out += "\n";
  const lib::shown_regions shown = lib::regions_to_show(profile, how);
  for (const lib::region_node& node : shown.nodes) {
    const std::string name = indent(node.depth) + escaped_for_markdown(node.name);
    const region* const row = node.row;
    if (row == nullptr) out += format_line(name + " (open)", "", {}, {});
    else
      out += format_line(row->count == 0 && row->attributes.empty() ? name + " (open)" : name,
                         escaped_for_markdown(lib::place_label(row->kind, lib::device_label(profile, row->device))),
                         without_gaps(lib::make_figures(*row, form)), lib::make_parts(row->context));
  }
  out += format_line(lib::unmarked_name, "host", lib::make_unmarked_figures(profile), {"—", "—", "—"});
  if (const std::string left_out = lib::left_out_text(profile, shown); !left_out.empty()) out += "\n" + left_out + "\n";
  return out + "\n" + lib::unmarked_legend(profile) + "\n";
}

}}  // namespace adaptyst::v1
