// What stands in the way of eBPF, as JSON and for people.
#ifndef ADAPTYST_LIB_REPORT_DIAGNOSIS_HPP
#define ADAPTYST_LIB_REPORT_DIAGNOSIS_HPP

#include <string>

#include "../discover/diagnosis.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

std::string to_json(const diagnosis& diagnosis);
std::string to_table(const diagnosis& diagnosis);
// A row for each check.
lib::text_table to_rows(const diagnosis& diagnosis);

}}  // namespace adaptyst::v1

#endif
