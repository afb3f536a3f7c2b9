#include "units.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace adaptyst::lib {

namespace {

struct unit {
  std::string_view name;
  double times, over;  // a division keeps 7% the same number as 0.07
};

// Units of one kind; the first is the default.
struct units {
  const unit* first;
  std::size_t count;

  const unit* begin() const { return first; }
  const unit* end() const { return first + count; }
};

constexpr unit units_of_duration[] = {{"s", 1e9, 1}, {"ms", 1e6, 1},   {"us", 1e3, 1},
                                      {"ns", 1, 1},  {"min", 60e9, 1}, {"h", 3600e9, 1}};
constexpr unit units_of_percentage[] = {{"%", 1, 100}};
constexpr unit units_of_size[] = {{"M", 0x1p20, 1}, {"K", 0x1p10, 1}, {"G", 0x1p30, 1}, {"T", 0x1p40, 1}};

units units_of(unit_kind kind) {
  if (kind == unit_kind::duration) return {units_of_duration, std::size(units_of_duration)};
  if (kind == unit_kind::percentage) return {units_of_percentage, std::size(units_of_percentage)};
  return {units_of_size, std::size(units_of_size)};
}

}  // namespace

std::optional<double> parse_number(unit_kind kind, std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || std::signbit(number)) return std::nullopt;
  const std::string_view name(read, static_cast<std::size_t>(end - read));
  for (const unit& unit : units_of(kind))
    if (name.empty() || name == unit.name) {
      const double value = number * unit.times / unit.over;
      return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
  return std::nullopt;
}

std::string list_units(unit_kind kind) {
  const units all = units_of(kind);
  if (all.count == 1) return fmt::format("the unit is {}, also if none is given", all.first->name);
  std::string names;
  for (const unit& unit : all)
    names += fmt::format("{}{}", &unit == all.begin() ? "" : &unit + 1 == all.end() ? " and " : ", ", unit.name);
  return fmt::format("the units are {}; {} if none is given", names, all.first->name);
}

}  // namespace adaptyst::lib
