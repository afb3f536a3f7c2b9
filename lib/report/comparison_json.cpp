#include <adaptyst/compare.hpp>
#include <nlohmann/json.hpp>

namespace adaptyst { inline namespace v1 {

namespace {

using json = nlohmann::ordered_json;

template <class T>
json absent_or(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json side_of(const std::optional<compared_side>& side) {
  if (!side) return nullptr;
  return {{"count", side->count}, {"total_ns", absent_or(side->total_ns)}, {"mean_ns", absent_or(side->mean_ns())}};
}

}  // namespace

std::string to_json(const comparison& of) {
  json all = {{"comparison", 1}, {"significance_level", significance_level}, {"ignored", of.ignored}};
  all["regions"] = json::array();
  for (const compared_region& one : of.regions)
    all["regions"].push_back(
        {{"path", one.path},
         {"kind", word_of(one.kind)},
         {"device", {{"kind", one.device_kind ? word_of(*one.device_kind) : "?"}, {"index", one.device_index}}},
         {"before", side_of(one.before)},
         {"after", side_of(one.after)},
         {"change_of_total", absent_or(one.change_of_total())},
         {"change_of_mean", absent_or(one.change_of_mean())},
         {"p", one.test ? json(one.test->p) : json(nullptr)},
         {"slower", one.test ? json(one.test->slower) : json(nullptr)},
         {"significant", one.significant()}});
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}}  // namespace adaptyst::v1
