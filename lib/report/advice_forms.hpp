// Advice as JSON (docs/advice.md has its keys), and for people.
#ifndef ADAPTYST_LIB_REPORT_ADVICE_FORMS_HPP
#define ADAPTYST_LIB_REPORT_ADVICE_FORMS_HPP

#include <string>

#include "../advise/fields.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

std::string to_json(const advice_report& report);
std::string to_table(const advice_report& report);
// A row for each region, device and input, with its cost.
text_table to_rows(const advice_report& report);

}  // namespace adaptyst::lib

#endif
