#include "value_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "support/nearest.hpp"
#include "support/units.hpp"

namespace adaptyst::tools {

namespace {

bool read_finite(const std::string& text, double& number) {
  return CLI::detail::lexical_cast(text, number) && std::isfinite(number);
}

std::string format_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:g}s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:g}ms", seconds * 1e3);
  return seconds >= 1e-6 ? fmt::format("{:g}us", seconds * 1e6) : fmt::format("{:g}ns", seconds * 1e9);
}

// "from 1ms to 10s", "from 1ms on"
template <class Format>
std::string format_range(double least, double most, const Format& format) {
  return fmt::format("from {} {}", format(least), std::isinf(most) ? "on" : "to " + format(most));
}

}  // namespace

CLI::Validator number_between(double least, double most) {
  return {[least, most](std::string& text) {
            double number = 0;
            if (read_finite(text, number) && number >= least && number <= most) return std::string();
            return fmt::format("'{}' is not a number from {:g} to {:g}", text, least, most);
          },
          ""};
}

CLI::Validator positive_number() {
  return {[](std::string& text) {
            double number = 0;
            if (read_finite(text, number) && number > 0) return std::string();
            return fmt::format("'{}' is not a number above 0", text);
          },
          ""};
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[least, most](std::string& text) {
            std::uint64_t number = 0;
            const char* const end = text.data() + text.size();
            const auto [read, failed] = std::from_chars(text.data(), end, number);
            if (failed == std::errc() && read == end && number >= least && number <= most) return std::string();
            if (most == std::numeric_limits<std::uint64_t>::max())
              return fmt::format("'{}' is not a whole number from {} on", text, least);
            return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
          },
          ""};
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return {[words](std::string& text) {
            return std::find(words.begin(), words.end(), text) != words.end()
                       ? std::string()
                       : fmt::format("unknown value '{}'\n{}", text,
                                     lib::did_you_mean(text, {words.begin(), words.end()}));
          },
          fmt::format("{{{}}}", fmt::join(words, ","))};
}

CLI::Validator duration(double least_s, double most_s) {
  return {[least_s, most_s](std::string& text) {
            const std::optional<double> ns = lib::parse_number(lib::unit_kind::duration, text);
            if (ns && *ns >= least_s * 1e9 && *ns <= most_s * 1e9) {
              text = fmt::format("{}", *ns / 1e9);
              return std::string();
            }
            return fmt::format("'{}' is not a duration {}\n{}", text, format_range(least_s, most_s, format_seconds),
                               lib::list_units(lib::unit_kind::duration));
          },
          ""};
}

CLI::Validator percentage(double least, double most) {
  return {[least, most](std::string& text) {
            const std::optional<double> share = lib::parse_number(lib::unit_kind::percentage, text);
            if (share && *share * 100 >= least && *share * 100 <= most) {
              if (text.back() != '%') text += '%';
              return std::string();
            }
            const auto format = [](double limit) { return fmt::format("{:g}%", limit); };
            return fmt::format("'{}' is not a percentage {}\n{}", text, format_range(least, most, format),
                               lib::list_units(lib::unit_kind::percentage));
          },
          ""};
}

double parse_fraction(const std::string& text) {
  return lib::parse_number(lib::unit_kind::percentage, text).value_or(0);
}

}  // namespace adaptyst::tools
