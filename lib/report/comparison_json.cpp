// A comparison as JSON, as docs/comparison-schema.json describes it.
#include <adaptyst/compare.hpp>
#include <nlohmann/json.hpp>

namespace adaptyst { inline namespace v1 {

namespace {

using json = nlohmann::ordered_json;

template <class T>
json absent_or(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json make_side(const std::optional<compared_side>& side) {
  if (!side) return nullptr;
  return {{"runs", side->runs},
          {"count", side->count},
          {"total_ns", absent_or(side->total_ns)},
          {"mean_ns", absent_or(side->mean_ns())}};
}

json make_interval(const std::optional<change_interval>& interval) {
  if (!interval) return nullptr;
  return {interval->low, interval->high};
}

}  // namespace

std::string to_json(const comparison& comparison) {
  json all = {
      {"comparison", 1},
      {"runs", {{"before", comparison.runs_before}, {"after", comparison.runs_after}}},
      {"by", to_string(comparison.by)},
      {"equal", comparison.is_equal},
      {"no_core", {{"before", absent_or(comparison.no_core_before)}, {"after", absent_or(comparison.no_core_after)}}},
      {"method", to_string(comparison.method)},
      {"significance_level", significance_level},
      {"floor", comparison.method == comparison_method::single_runs ? json(single_run_floor) : json(nullptr)},
      {"ignored", comparison.ignored}};
  all["differing"] = json::array();
  for (const differing_setting& setting : comparison.differing)
    all["differing"].push_back({{"kind", to_string(setting.kind)},
                                {"name", setting.name},
                                {"before", setting.before},
                                {"after", setting.after}});
  all["regions"] = json::array();
  for (const compared_region& region : comparison.regions)
    all["regions"].push_back(
        {{"path", region.path},
         {"kind", to_string(region.kind)},
         {"device",
          {{"kind", region.device_kind ? to_string(*region.device_kind) : "?"}, {"index", region.device_index}}},
         {"before", make_side(region.before)},
         {"after", make_side(region.after)},
         {"change_of_total", absent_or(region.change_of_total())},
         {"change_of_mean", absent_or(region.change_of_mean)},
         {"interval", make_interval(region.interval)},
         {"p", absent_or(region.p)},
         {"slower", absent_or(region.slower)},
         {"verdict", to_string(region.found)}});
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}}  // namespace adaptyst::v1
