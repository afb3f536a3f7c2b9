// Reads the text file that describes a basin. Every complaint names the file and the line.
#include "input.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace shallow_water {
namespace {

// One line of the file, and complaints about it.
struct line {
  std::string place;  // file:number
  std::string key, example;
  std::vector<std::string> values;

  [[noreturn]] void refuse(const std::string& what) const {
    throw input_error(place + ": " + key + ": " + what + "; write for example \"" + example + '"');
  }

  void expect(std::size_t count) const {
    if (values.size() == count) return;
    refuse("has " + std::to_string(values.size()) + (values.size() == 1 ? " value" : " values") + " instead of " +
           std::to_string(count));
  }

  double number(std::size_t at) const {
    const std::string& text = values[at];
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != '\0' || !std::isfinite(value)) refuse('"' + text + "\" is not a number");
    return value;
  }

  double positive(std::size_t at) const {
    const double value = number(at);
    if (value <= 0) refuse('"' + values[at] + "\" is not greater than 0");
    return value;
  }

  double not_negative(std::size_t at) const {
    const double value = number(at);
    if (value < 0) refuse('"' + values[at] + "\" is negative");
    return value;
  }

  int cells(std::size_t at) const {
    constexpr double min = 4, max = 16384;
    const double value = number(at);
    if (value != std::floor(value) || value < min || value > max)
      refuse('"' + values[at] + "\" is not a whole number from 4 to 16384");
    return static_cast<int>(value);
  }
};

struct input_key {
  const char* name;
  const char* example;
  bool required, repeatable;
  std::size_t values;
  void (*read)(const line& from, setup& into);
};

const std::array<input_key, 10> input_keys{{
    {"cells", "cells = 400 400", true, false, 2,
     [](const line& from, setup& into) {
       into.columns = from.cells(0);
       into.rows = from.cells(1);
     }},
    {"size", "size = 100 100", true, false, 2,
     [](const line& from, setup& into) {
       into.width = from.positive(0);
       into.height = from.positive(1);
     }},
    {"end_time", "end_time = 5", true, false, 1,
     [](const line& from, setup& into) { into.end_time = from.positive(0); }},
    {"gravity", "gravity = 9.81", false, false, 1,
     [](const line& from, setup& into) { into.gravity = from.positive(0); }},
    {"cfl", "cfl = 0.45", false, false, 1,
     [](const line& from, setup& into) {
       into.cfl = from.positive(0);
       if (into.cfl > 0.5)
         from.refuse('"' + from.values[0] + "\" is greater than 0.5, and the depth may become negative");
     }},
    {"boundary", "boundary = wall", false, false, 1,
     [](const line& from, setup& into) {
       if (from.values[0] != "wall" && from.values[0] != "periodic")
         from.refuse('"' + from.values[0] + "\" is neither wall nor periodic");
       into.edges = from.values[0] == "wall" ? boundary::wall : boundary::periodic;
     }},
    {"depth", "depth = 1", true, false, 1, [](const line& from, setup& into) { into.depth = from.not_negative(0); }},
    {"box", "box = 0 0 50 50 3", false, true, 5,
     [](const line& from, setup& into) {
       const box read{from.number(0), from.number(1), from.number(2), from.number(3), from.not_negative(4)};
       if (read.x0 >= read.x1 || read.y0 >= read.y1) from.refuse("is empty: x0 y0 x1 y1 need x0 < x1 and y0 < y1");
       into.boxes.push_back(read);
     }},
    {"hump", "hump = 50 50 5 1", false, true, 4,
     [](const line& from, setup& into) {
       into.humps.push_back({from.number(0), from.number(1), from.positive(2), from.positive(3)});
     }},
    {"velocity", "velocity = 0 0", false, false, 2,
     [](const line& from, setup& into) {
       into.x_velocity = from.number(0);
       into.y_velocity = from.number(1);
     }},
}};

std::string trimmed(const std::string& text) {
  const char* const blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string list_keys() {
  std::string names;
  for (const input_key& key : input_keys) names += (names.empty() ? "" : ", ") + std::string(key.name);
  return names;
}

const input_key& find_key(const std::string& place, const std::string& name) {
  for (const input_key& key : input_keys)
    if (name == key.name) return key;
  throw input_error(place + ": unknown key \"" + name + "\"; choose from " + list_keys());
}

bool has_water(const setup& in) {
  bool found = in.depth > 0 || !in.humps.empty();
  for (const box& each : in.boxes) found = found || each.depth > 0;
  return found;
}

}  // namespace

setup read_setup(std::istream& from, const std::string& file) {
  setup into;
  std::array<int, input_keys.size()> seen_on{};  // line numbers; 0: not yet
  std::string text;
  for (int number = 1; std::getline(from, text); ++number) {
    text = trimmed(text.substr(0, text.find('#')));
    if (text.empty()) continue;

    line read{file + ':' + std::to_string(number), {}, {}, {}};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw input_error(read.place + ": \"" + text + "\" has no \"=\"; write \"key = value\", or # before a comment");
    const input_key& key = find_key(read.place, trimmed(text.substr(0, equals)));
    read.key = key.name;
    read.example = key.example;

    int& first_seen = seen_on[static_cast<std::size_t>(&key - input_keys.data())];
    if (first_seen != 0 && !key.repeatable)
      throw input_error(read.place + ": " + read.key + " is given again; keep this line or line " +
                        std::to_string(first_seen));
    first_seen = number;

    std::istringstream words(text.substr(equals + 1));
    for (std::string word; words >> word;) read.values.push_back(word);
    read.expect(key.values);
    key.read(read, into);
  }
  if (from.bad()) throw input_error(file + ": cannot be read; name a text file");

  for (std::size_t at = 0; at != input_keys.size(); ++at)
    if (input_keys[at].required && seen_on[at] == 0)
      throw input_error(file + ": " + input_keys[at].name + " is missing; add for example \"" + input_keys[at].example +
                        '"');
  if (!has_water(into)) throw input_error(file + ": there is no water; add depth, a box or a hump");
  return into;
}

setup read_setup(const std::string& file) {
  std::ifstream from(file);
  if (!from)
    throw input_error(file + ": cannot be opened: " + std::strerror(errno) + "; name an input file that exists");
  return read_setup(from, file);
}

}  // namespace shallow_water
