// What `adaptyst levels` has found, and the analyses across the stack, A1 to A15, for people and for programs; docs/levels.md explains each figure.
#ifndef ADAPTYST_LIB_REPORT_LEVELS_FORMS_HPP
#define ADAPTYST_LIB_REPORT_LEVELS_FORMS_HPP

#include <cstddef>
#include <string>

#include "../analyse/levels/fields.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

std::string to_json(const levels_report& report);
std::string to_table(const levels_result& result, const levels_settings& how, std::size_t screen);
std::string to_table(const stack_result& result, std::size_t screen);
// A row for each region.
text_table to_rows(const levels_result& result);

}  // namespace adaptyst::lib

#endif
