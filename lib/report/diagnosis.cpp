#include "../discover/inspection.hpp"
#include "forms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../discover/fields.hpp"
#include "../support/text.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::fitted, lib::printable, lib::width;

}  // namespace

std::string to_table(const diagnosis& diagnosis) {
  std::size_t subject_columns = 0;
  for (const check& check : diagnosis.checks) subject_columns = std::max(subject_columns, width(check.subject));
  const std::string indent(subject_columns + 11, ' ');
  std::string text;
  for (const check& check : diagnosis.checks) {
    text += fmt::format("{:<9}{}  {}\n", lib::word_at(check.is), fitted(check.subject, subject_columns),
                        printable(check.found));
    text += fmt::format("{}for: {}\n", indent, check.enables);
    if (!check.advice.empty()) text += fmt::format("{}do:  {}\n", indent, printable(check.advice));
  }
  return text + (diagnosis.ebpf_works ? "\nengine=ebpf works here.\n"
                                      : "\nengine=ebpf does not work here; engine=inline does.\n");
}

lib::text_table to_rows(const diagnosis& diagnosis) {
  using lib::column_kind;
  lib::text_table table({{"verdict", column_kind::text},
                         {"subject", column_kind::text},
                         {"found", column_kind::text, 0, std::string::npos},
                         {"for", column_kind::text, 0, std::string::npos},
                         {"do", column_kind::text, 0, std::string::npos}});
  for (const check& one : diagnosis.checks)
    table.add({lib::word_at(one.is), one.subject, one.found, one.enables, one.advice});
  return table;
}

}}  // namespace adaptyst::v1
