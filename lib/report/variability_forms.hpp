// An analysis of variability as JSON (docs/variability.md has its keys), as CSV of its windows, as a page, and for people.
#ifndef ADAPTYST_LIB_REPORT_VARIABILITY_FORMS_HPP
#define ADAPTYST_LIB_REPORT_VARIABILITY_FORMS_HPP

#include <string>

#include "../analyse/variability/variability.hpp"
#include "../support/output_file.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

// Piece by piece: of many windows the text is larger than all that they are made of.
void write_json(const variability_result& result, const text_taker& to);
void write_csv(const variability_result& result, const text_taker& to);
std::string to_json(const variability_result& result);
std::string to_html(const variability_result& result);
std::string to_table(const variability_result& result, int width_of_screen);
// A row for each name on each device or in each process.
text_table to_rows(const variability_result& result);

const char* to_string(variability_metric metric);
const char* to_string(variability_by by);

}  // namespace adaptyst::lib

#endif
