// What there is to observe, as JSON and for people.
#ifndef ADAPTYST_LIB_REPORT_INSPECTION_HPP
#define ADAPTYST_LIB_REPORT_INSPECTION_HPP

#include <string>
#include <vector>

#include "../discover/inspection.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

// An array of them, and tables.
std::string to_json(const std::vector<inspection>& inspections);
std::string to_table(const std::vector<inspection>& inspections);
// A row for each probe.
lib::text_table to_rows(const std::vector<inspection>& inspections);

}}  // namespace adaptyst::v1

#endif
