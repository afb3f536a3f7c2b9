// What `adaptyst levels` has found, for people and for programs; docs/levels.md explains each figure.
#ifndef ADAPTYST_LIB_REPORT_LEVELS_FORMS_HPP
#define ADAPTYST_LIB_REPORT_LEVELS_FORMS_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "../analyse/levels/levels.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

// How it was measured.
struct levels_settings {
  std::vector<std::string> command;
  std::size_t repeat = 0;
  std::string overhead;            // the option
  std::string engine;              // of the runs
  std::vector<std::string> rules;  // of the user
  bool with_stack = false;         // the analyses of stack.hpp as well
};

std::string to_json(const levels_result& result, const levels_settings& how);
std::string to_table(const levels_result& result, const levels_settings& how, std::size_t screen);
// A row for each region.
text_table to_rows(const levels_result& result);

}  // namespace adaptyst::lib

#endif
