// The analyses across the stack, A1 to A15, for people and for programs; docs/levels.md says which is which.
#ifndef ADAPTYST_LIB_REPORT_STACK_FORMS_HPP
#define ADAPTYST_LIB_REPORT_STACK_FORMS_HPP

#include <nlohmann/json.hpp>
#include <string>

#include "../analyse/levels/stack.hpp"

namespace adaptyst::lib {

// As in a profile.
nlohmann::ordered_json roofline_to_value(const roofline& from);
nlohmann::ordered_json stack_to_value(const stack_result& result);
std::string to_table(const stack_result& result, std::size_t screen);

}  // namespace adaptyst::lib

#endif
