// JSON that is passed on while it is made is the same tree to the library for JSON, and laid out as by it.
#include "report/json_stream.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "catch.hpp"

namespace {

using adaptyst::lib::json_stream;
using json = nlohmann::ordered_json;

// Objects and arrays in each other, and what numbers and texts can be.
json draw(std::mt19937_64& random, int depth, bool has_fractions) {
  const auto below = [&](std::uint64_t many) { return random() % many; };
  switch (below(depth > 0 ? 8 : 6)) {
    case 0: return random() >> below(64);
    case 1:
      if (!has_fractions) return nullptr;
      return std::ldexp(static_cast<double>(random()), static_cast<int>(below(400)) - 200);
    case 2: return below(2) == 0;
    case 3: return nullptr;
    case 4: return has_fractions ? json(static_cast<double>(below(1000))) : json(below(1000));
    case 5: {
      std::string text;
      for (std::uint64_t left = below(12); left != 0; --left) text += static_cast<char>(below(256));
      return text;
    }
    case 6: {
      json made = json::array();
      for (std::uint64_t left = below(5); left != 0; --left) made.push_back(draw(random, depth - 1, has_fractions));
      return made;
    }
    default: {
      json made = json::object();
      for (std::uint64_t left = below(5); left != 0; --left)
        made["key" + std::to_string(left)] = draw(random, depth - 1, has_fractions);
      return made;
    }
  }
}

void put(json_stream& to, const json& what) {
  if (what.is_object()) {
    to.begin_object();
    for (const auto& [name, value] : what.items()) {
      to.key(name);
      put(to, value);
    }
    to.end_object();
  } else if (what.is_array()) {
    to.begin_array();
    for (const json& json : what) put(to, json);
    to.end_array();
  } else if (what.is_number_unsigned()) {
    to.put(what.get<std::uint64_t>());
  } else if (what.is_number_float()) {
    to.put(what.get<double>());
  } else if (what.is_boolean()) {
    to.put(what.get<bool>());
  } else if (what.is_null()) {
    to.put_null();
  } else {
    to.put_text(what.get<std::string>());
  }
}

std::string stream(const json& what) {
  std::string made;
  const adaptyst::lib::text_taker taker = [&](std::string_view piece) { made += piece; };
  json_stream to(taker);
  put(to, what);
  to.finish();
  return made;
}

std::string dump(const json& what) { return what.dump(1, ' ', false, json::error_handler_t::replace) + "\n"; }

TEST_CASE("streamed JSON is laid out as the same tree") {
  std::mt19937_64 random(11);
  for (int at = 0; at != 3000; ++at) {
    const json what = draw(random, 4, false);
    REQUIRE(stream(what) == dump(what));
  }
  for (const double odd : {0.0, -0.0, 100.0, 1e-5, 1e22, std::numeric_limits<double>::infinity(), std::nan("")})
    CHECK(stream(odd) == dump(odd));
}

// Others write other digits of the same number.
TEST_CASE("streamed JSON has the same numbers") {
  std::mt19937_64 random(12);
  for (int at = 0; at != 3000; ++at) {
    const json what = draw(random, 4, true);
    REQUIRE(json::parse(stream(what)) == json::parse(dump(what)));
  }
  json large = json::array();
  for (int at = 0; at != 20'000; ++at) large.push_back({{"name", "kernel"}, {"ns", at * 0.1}});
  CHECK(json::parse(stream(large)) == large);  // passed on in many pieces
}

TEST_CASE("rows of streamed JSON are on one line each") {
  std::string made;
  json_stream to([&](std::string_view piece) { made += piece; });
  to.begin_object();
  to.key("rows").begin_array();
  to.begin_line();
  for (const std::uint64_t number : {1U, 2U}) {
    to.begin_object();
    to.key("a \"name\"").begin_array();
    to.put(number);
    to.put(0.5);
    to.end_array();
    to.key("none").begin_object();
    to.end_object();
    to.end_object();
  }
  to.end_line();
  to.end_array();
  to.key("next").put(true);
  to.end_object();
  to.finish();
  CHECK(made == R"({
 "rows": [
  {"a \"name\"":[1,0.5],"none":{}},
  {"a \"name\"":[2,0.5],"none":{}}
 ],
 "next": true
}
)");
}

}  // namespace
