#include "value_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "support/nearest.hpp"

namespace adaptyst::tools {

namespace {

bool read_finite(const std::string& text, double& number) {
  return CLI::detail::lexical_cast(text, number) && std::isfinite(number);
}

}  // namespace

CLI::Validator number_between(double least, double most) {
  return {[least, most](std::string& text) {
            double number = 0;
            return read_finite(text, number) && number >= least && number <= most
                       ? std::string()
                       : fmt::format("'{}' is no number from {:g} to {:g}", text, least, most);
          },
          fmt::format("FLOAT in [{:g} - {:g}]", least, most)};
}

CLI::Validator positive_number() {
  return {[](std::string& text) {
            double number = 0;
            return read_finite(text, number) && number > 0 ? std::string()
                                                           : fmt::format("'{}' is no number above 0", text);
          },
          "POSITIVE"};
}

CLI::Validator whole_number() {
  return {[](std::string& text) {
            std::uint64_t number = 0;
            return text.find('-') == std::string::npos && CLI::detail::lexical_cast(text, number)
                       ? std::string()
                       : fmt::format("'{}' is no whole number from 0 on", text);
          },
          "NONNEGATIVE"};
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return {[words](std::string& text) {
            return std::find(words.begin(), words.end(), text) != words.end()
                       ? std::string()
                       : fmt::format("'{}' is unknown; {}", text,
                                     lib::did_you_mean(text, {words.begin(), words.end()}));
          },
          fmt::format("{{{}}}", fmt::join(words, ","))};
}

}  // namespace adaptyst::tools
