// The schemas in docs/ are what the lists of fields say.
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "advise/fields.hpp"
#include "analyse/levels/fields.hpp"
#include "catch.hpp"
#include "discover/fields.hpp"
#include "model/comparison_fields.hpp"
#include "model/fields.hpp"
#include "model/measurements.hpp"
#include "model/words.hpp"
#ifdef ADAPTYST_HAS_SQLITE
#include "analyse/variability/fields.hpp"
#endif

namespace {

using json = nlohmann::ordered_json;
namespace listed = adaptyst::lib::listed;
using adaptyst::histogram, adaptyst::budget_step, adaptyst::losses;

json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

json or_none(const json& type) { return {{"oneOf", {type, {{"type", "null"}}}}}; }

json array_of(const json& items) { return {{"type", "array"}, {"items", items}}; }

json map_of(const json& values) { return {{"type", "object"}, {"additionalProperties", values}}; }

// The keys of an object, and which of them it always has.
struct keys {
  json required = json::array(), properties = json::object();

  void add(const char* name, const char* description, bool is_required, const json& property) {
    json made = json::object();
    made["description"] = description;
    made.update(property);
    properties[name] = std::move(made);
    if (is_required) required.push_back(name);
  }
};

json make_object(const char* description, const keys& all) {
  return {{"description", description},
          {"type", "object"},
          {"required", all.required},
          {"additionalProperties", false},
          {"properties", all.properties}};
}

// The schemas of types without members. No templates, which would be compiled for each result.
struct simple_types {
  bool is_profile;

  json of(const std::uint64_t*, listed::form as) const {
    if (as == listed::id) return reference("id");
    if (as == listed::id_or_none) return or_none(reference("id"));
    return reference(as == listed::timed || as == listed::not_zero ? "count_or_absent" : "count");
  }
  json of(const std::optional<std::uint64_t>*, listed::form) const { return reference("count_or_absent"); }
  json of(const std::uint32_t*, listed::form as) const {
    return reference(as == listed::not_zero ? "count_or_absent" : "count");
  }
  json of(const std::int64_t*, listed::form) const { return {{"type", "integer"}}; }
  json of(const int*, listed::form) const { return {{"const", 1}}; }  // of this schema
  json of(const double*, listed::form) const { return reference("number_or_absent"); }
  json of(const std::optional<double>*, listed::form as) const {
    if (!is_profile) return reference("number_or_absent");
    return reference(as == listed::fraction ? "fraction_or_absent" : "ratio_or_absent");
  }
  json of(const std::string*, listed::form) const { return {{"type", "string"}}; }
  json of(const std::string_view*, listed::form) const { return {{"type", "string"}}; }
  json of(const char* const*, listed::form) const { return {{"type", "string"}}; }
  json of(const bool*, listed::form) const { return {{"type", "boolean"}}; }
  json of(const std::array<double, 2>*, listed::form) const {
    return {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}, {"maxItems", 2}};
  }
  json of(const adaptyst::wide_sum*, listed::form) const { return {{"type", "string"}, {"pattern", "^[0-9a-f]{32}$"}}; }
  json of(const histogram*, listed::form) const { return reference("histogram"); }
  json of(const losses*, listed::form) const { return map_of(reference("count")); }
  json of(const std::map<budget_step, std::uint64_t>*, listed::form) const {
    return {{"type", "object"},
            {"propertyNames", {{"pattern", "^(kernel|recorder|1 of ([2-9]|[1-9][0-9]+))$"}}},
            {"additionalProperties", reference("count")}};
  }
  json of(const std::vector<std::string>*, listed::form) const {
    json made = {{"type", "array"}};
    if (is_profile) made.update({{"minItems", 1}, {"maxItems", adaptyst::lib::max_path_names}});  // a path
    made["items"] = {{"type", "string"}};
    return made;
  }
};

// The schema of a type. Structs are added to the definitions. `Whole`: the result.
template <class Whole>
struct types : simple_types {
  json& definitions;
  explicit types(json& to) : simple_types{std::is_same_v<Whole, adaptyst::profile>}, definitions(to) {}
  using simple_types::of;

  template <class Value>
  json of(const std::map<std::string, Value>*, listed::form as) const {
    return map_of(of(static_cast<const Value*>(nullptr), as));
  }
  template <class Value>
  json of(const std::vector<Value>*, listed::form as) const {
    return array_of(of(static_cast<const Value*>(nullptr), as));
  }
  template <class Value>
  json of(const std::optional<Value>*, listed::form as) const {
    return or_none(of(static_cast<const Value*>(nullptr), as));
  }
  template <class Value>
  json of(const Value*, listed::form) const {
    if constexpr (std::is_enum_v<Value>) {
      json words = json::array();
      for (const char* const word : adaptyst::lib::words<Value>) words.push_back(word);
      if (is_profile && std::is_same_v<Value, adaptyst::region_kind>) words.erase(words.size() - 1);  // metric
      if (std::is_same_v<Value, adaptyst::level>) words.erase(0);                                     // none
      return {{"enum", words}};
    } else {
      const char* const name = listed::fields(listed::type<Value>{}).name;
      if (!definitions.contains(name)) {
        definitions[name] = nullptr;  // keeps its place
        json made = object<Value>();
        definitions[name] = std::move(made);
      }
      return reference(name);
    }
  }

  template <class Struct>
  json object() const {
    const auto list = listed::fields(listed::type<Struct>{});
    keys all;
    add_fields<Struct>(all, list.fields, true);
    return make_object(list.description, all);
  }

  template <class Struct, class Fields>
  void add_fields(keys& to, const Fields& fields, bool are_there) const {
    std::apply([&](const auto&... field) { (add<Struct>(to, field, are_there), ...); }, fields);
  }

  template <class Struct, class Field>
  void add(keys& to, const Field& field, bool is_present) const {
    to.add(field.name, field.description, is_present && field.in == listed::always, property<Struct>(field));
  }
  template <class Struct, class Get>
  void add(keys& to, const listed::also_of<Get>& /*field*/, bool is_present) const {
    add_others(to, static_cast<const made_by<Get, Struct>*>(nullptr), is_present);
  }
  template <class Other>
  void add_others(keys& to, const Other*, bool are_there) const {
    add_fields<Other>(to, listed::fields(listed::type<Other>{}).fields, are_there);
  }
  template <class Other>
  void add_others(keys& to, const std::optional<Other>*, bool /*are_there*/) const {
    add_others(to, static_cast<const Other*>(nullptr), false);
  }

  template <class Get, class Struct>
  using made_by = std::decay_t<decltype(listed::get_of(std::declval<const Get&>(), std::declval<const Struct&>(),
                                                       std::declval<const Whole&>()))>;

  template <class Struct, class Value>
  json property(const listed::member<Struct, Value>& field) const {
    return where_there(static_cast<const Value*>(nullptr), field.in == listed::sometimes && field.as == listed::plain,
                       field.as);
  }
  template <class Struct, class Get>
  json property(const listed::derived<Get>& field) const {
    return where_there(static_cast<const made_by<Get, Struct>*>(nullptr), field.in == listed::sometimes, field.as);
  }
  template <class Struct, class... Fields>
  json property(const listed::object_of<Fields...>& field) const {
    keys all;
    add_fields<Struct>(all, field.fields, true);
    return make_object(field.description, all);
  }
  template <class Struct, class Value>
  json property(const listed::extra<Value>& /*field*/) const {
    json made = of(static_cast<const Value*>(nullptr), listed::plain);
    if (std::is_same_v<Value, std::vector<adaptyst::process_info>>) made["minItems"] = 2;
    return made;
  }
  // Never null, as there is no key then.
  template <class Value>
  json where_there(const std::optional<Value>* absent, bool is_never_null, listed::form as) const {
    return is_never_null ? of(static_cast<const Value*>(nullptr), as) : of(absent, as);
  }
  template <class Value>
  json where_there(const Value* type, bool, listed::form as) const {
    return of(type, as);
  }
};

json make_definitions() {
  return {{"id", {{"type", "string"}, {"pattern", "^[0-9a-f]{16}$"}}},
          {"count", {{"type", "integer"}, {"minimum", 0}}},
          {"count_or_absent", {{"type", {"integer", "null"}}, {"minimum", 0}}},
          {"number_or_absent", {{"type", {"number", "null"}}}},
          {"ratio_or_absent", {{"type", {"number", "null"}}, {"minimum", 0}}},
          {"fraction_or_absent", {{"type", {"number", "null"}}, {"minimum", 0}, {"maximum", 1}}}};
}

const json histogram_type = {
    {"description",
     "Pairs of a bucket's number and a count of durations; empty buckets are left out. Bucket b below 64 holds b ns. "
     "Another holds from (64 + cuts[(b - 64) mod 13]) * 2^((b - 64) div 13) ns to below where bucket b + 1 begins, "
     "with cuts = [0, 3, 7, 11, 15, 19, 24, 29, 34, 40, 46, 52, 59]; the last, 583, holds all above as well."},
    {"type", "array"},
    {"items",
     {{"type", "array"},
      {"items",
       {{{"type", "integer"}, {"minimum", 0}, {"maximum", ADAPTYST_HISTOGRAM_BUCKETS - 1}},
        {{"type", "integer"}, {"minimum", 1}}}},
      {"minItems", 2},
      {"maxItems", 2}}}};

template <class Result>
json make_schema(const std::string& name, json definitions = make_definitions()) {
  json all = {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"$id", "urn:adaptyst:" + name + ":1"},
      {"title", std::string(1, static_cast<char>(std::toupper(name[0]))) + name.substr(1) + " of adaptyst, schema 1"}};
  all.update(types<Result>{definitions}.template object<Result>());
  all["definitions"] = definitions;
  return all;
}

json make_profile_schema() {
  json definitions = make_definitions();
  definitions["histogram"] = histogram_type;
  json all = make_schema<adaptyst::profile>("profile", definitions);
  all["properties"]["engine"]["pattern"] = R"(^((ebpf|inline|off)( \| (ebpf|inline|off))*)?$)";
  return all;
}

// `adaptyst sites` prints a list.
json make_sites_schema() {
  json definitions = make_definitions();
  const json items =
      types<adaptyst::inspection>{definitions}.of(static_cast<const adaptyst::inspection*>(nullptr), listed::plain);
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"$id", "urn:adaptyst:sites:1"},
          {"title", "Sites of adaptyst, schema 1"},
          {"type", "array"},
          {"items", items},
          {"definitions", definitions}};
}

std::map<std::string, json> make_schemas() {
  return {{"profile", make_profile_schema()},
          {"comparison", make_schema<adaptyst::comparison>("comparison")},
          {"levels", make_schema<adaptyst::lib::levels_report>("levels")},
          {"advice", make_schema<adaptyst::lib::advice_report>("advice")},
          {"ceilings", make_schema<adaptyst::lib::measured_ceilings>("ceilings")},
#ifdef ADAPTYST_HAS_SQLITE
          {"variability", make_schema<adaptyst::lib::variability_result>("variability")},
          {"variability-runs", make_schema<adaptyst::lib::run_comparison>("variability-runs")},
#endif
          {"doctor", make_schema<adaptyst::diagnosis>("doctor")},
          {"sites", make_sites_schema()}};
}

constexpr std::size_t columns = 120;

std::string on_one_line(const json& value) {
  if (!value.is_structured()) return value.dump();
  std::string line;
  for (const auto& [key, inner] : value.items())
    line += (line.empty() ? "" : ", ") + (value.is_object() ? json(key).dump() + ": " : "") + on_one_line(inner);
  return value.is_object() ? "{" + line + "}" : "[" + line + "]";
}

// On one line what fits there; words fill several.
std::string printed(const json& value, const std::string& indent, std::size_t before) {
  const std::string line = on_one_line(value);
  if (!value.is_structured() || (before + line.size() < columns && !indent.empty())) return line;
  const std::string deeper = indent + "  ";
  std::string text(1, line.front());
  if (value.is_array() && !value.front().is_structured()) {
    std::size_t used = before + 1;
    for (const json& word : value) {
      const std::string next = word.dump();
      const bool is_first = text.size() == 1;
      if (!is_first) text += ",";
      if (used + next.size() + 3 > columns) {
        text += "\n" + deeper + " ";
        used = deeper.size() + 1;
      } else if (!is_first) {
        text += " ";
      }
      text += next;
      used += next.size() + 2;
    }
    return text + line.back();
  }
  for (const auto& [key, inner] : value.items()) {
    const std::string name = value.is_object() ? json(key).dump() + ": " : "";
    text += (text.size() == 1 ? "\n" : ",\n") + deeper + name + printed(inner, deeper, deeper.size() + name.size());
  }
  return text + "\n" + indent + line.back();
}

}  // namespace

TEST_CASE("schemas describe every key") {
  const auto described = [](const json& object) {
    for (const auto& [key, property] : object.items()) {
      CAPTURE(key);
      CHECK_FALSE(property["description"].get<std::string>().empty());
    }
  };
  for (const auto& [name, all] : make_schemas()) {
    CAPTURE(name);
    if (all.contains("properties")) described(all["properties"]);
    for (const json& value : all["definitions"])
      if (value.contains("properties")) described(value["properties"]);
  }
}

TEST_CASE("the schemas in docs are what the lists of fields say") {
  for (const auto& [name, schema] : make_schemas()) {
    const std::string file_name = name + "-schema.json";
    std::ifstream file(ADAPTYST_TEST_SOURCES "/docs/" + file_name);
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    const std::string expected = printed(schema, "", 0) + "\n";
    if (found != expected) std::ofstream(file_name) << expected;
    INFO("what it should be is in " << file_name << ", where the test ran");
    CHECK((found == expected));
  }
}
