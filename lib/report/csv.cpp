// Regions for a spreadsheet or a data frame, in raw units: RFC 4180, columns as in docs/report.md.
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <cmath>

#include "../model/unmarked.hpp"
#include "../model/words.hpp"
#include "../support/text.hpp"
#include "region_figures.hpp"
#include "region_tree.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::quoted_for_csv;

std::string number(const std::optional<std::uint64_t>& value) { return value ? std::to_string(*value) : ""; }
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string format_share(double ns, std::uint64_t wall_ns) {
  return wall_ns != 0 ? number(ns / static_cast<double>(wall_ns)) : "";
}

std::string format_line(const profile& profile, const region& row, std::uint64_t wall_ns) {
  const std::optional<os_context>& context = row.context;
  const bool is_timed = row.durations.count() != 0;
  const auto timed = [&](std::uint64_t ns) { return is_timed ? std::to_string(ns) : ""; };
  const bool has_parts = context && context->on_cpu_ns();
  const auto total = static_cast<double>(row.total_ns);
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
      quoted_for_csv(row.path.empty() ? "" : row.path.back()), quoted_for_csv(lib::join_path(row.path)),
      row.path.size(), to_string(row.kind), quoted_for_csv(lib::device_label(profile, row.device)),
      row.threads != 0 ? std::to_string(row.threads) : "", row.count, number(row.timed_events), timed(row.total_ns),
      timed(row.self_ns), is_timed ? format_share(total, wall_ns) : "", timed(row.min_ns),
      is_timed ? number(total / static_cast<double>(row.count)) : "", number(row.quantile_ns(0.5)),
      number(row.quantile_ns(0.99)), timed(row.max_ns), has_parts ? number(context->on_cpu_ns()) : "",
      has_parts ? std::to_string(context->runnable_ns) : "", has_parts ? std::to_string(context->blocked_ns()) : "",
      quoted_for_csv(row.site.file), row.site.line != 0 ? std::to_string(row.site.line) : "",
      quoted_for_csv(row.site.function), fmt::format("{:016x}", row.id));
}

}  // namespace

std::string to_csv(const profile& profile, const table_options& options) {
  table_options how = options;
  how.rows = options.rows.value_or(0);
  how.depth = options.depth.value_or(0);
  std::string out =
      "name,path,level,kind,device,threads,calls,sampled,time_ns,self_ns,run_fraction,min_ns,mean_ns,p50_ns,p99_ns,max_"
      "ns,running_ns,no_core_ns,blocked_ns,file,line,function,id\r\n";
  const std::uint64_t wall_ns = lib::compute_wall_ns(profile);
  for (const lib::region_node& node : lib::regions_to_show(profile, how).nodes)
    if (node.row != nullptr) out += format_line(profile, *node.row, wall_ns);
  const lib::unmarked_time rest = lib::compute_unmarked(profile);
  if (rest.state == lib::unmarked_state::known)
    out += fmt::format("\"{0}\",\"{0}\",1,unmarked,\"host\",,,,{1},{1},{2},,,,,,,,,,,,\r\n", lib::unmarked_name,
                       rest.ns, format_share(static_cast<double>(rest.ns), wall_ns));
  return out;
}

}}  // namespace adaptyst::v1
