// A check of options that are numbers: those of CLI11 take what is no number for one within every range.
#ifndef ADAPTYST_TOOLS_FINITE_NUMBER_HPP
#define ADAPTYST_TOOLS_FINITE_NUMBER_HPP

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace adaptyst::tools {

inline CLI::Validator finite_number() {
  return CLI::Validator(
      [](std::string& text) {
        double number = 0;
        return CLI::detail::lexical_cast(text, number) && std::isfinite(number)
                   ? std::string()
                   : "'" + text + "' is no number, or not a finite one";
      },
      "");
}

}  // namespace adaptyst::tools

#endif
