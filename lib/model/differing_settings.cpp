#include "set_test.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace adaptyst::lib {

namespace {

struct values {
  std::set<std::string> before, after;
};

using settings = std::map<std::pair<setting_kind, std::string>, values>;

bool is_output_option(std::string_view option) {
  return option == "output" || option == "report" || option == "verbose" || option == "keep";
}

void add_settings(settings& differing, const std::vector<const profile*>& runs, std::set<std::string> values::*side) {
  for (const profile* const run : runs) {
    (differing[{setting_kind::engine, "engine"}].*side).insert(run->engine);
    for (const auto& [name, value] : run->options)
      if (name != "engine" && !is_output_option(name)) (differing[{setting_kind::option, name}].*side).insert(value);
    for (const auto& [name, value] : run->metadata) (differing[{setting_kind::metadata, name}].*side).insert(value);
  }
}

std::string join(const std::set<std::string>& all) {
  std::string made;
  for (const std::string& value : all) made += (made.empty() ? "" : ", ") + value;
  return made;
}

}  // namespace

std::vector<differing_setting> find_differing_settings(const std::vector<const profile*>& before,
                                                       const std::vector<const profile*>& after) {
  settings all;
  add_settings(all, before, &values::before);
  add_settings(all, after, &values::after);
  std::vector<differing_setting> made;
  for (const auto& [name, both] : all)
    if (both.before != both.after) made.push_back({name.first, name.second, join(both.before), join(both.after)});
  return made;
}

}  // namespace adaptyst::lib
