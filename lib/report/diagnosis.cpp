#include "../discover/inspection.hpp"
#include "forms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../discover/fields.hpp"
#include "../support/text.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::fitted, lib::printable, lib::width;

lib::text_style style_of(verdict is) {
  return is == verdict::ok   ? lib::text_style::green
         : is == verdict::no ? lib::text_style::red
                             : lib::text_style::yellow;
}

}  // namespace

std::string to_table(const diagnosis& diagnosis, const lib::screen& on) {
  const std::string subject = "SUBJECT";
  std::size_t subject_columns = subject.size();
  for (const check& check : diagnosis.checks) subject_columns = std::max(subject_columns, width(check.subject));
  const std::string indent(subject_columns + 11, ' ');
  std::string text =
      lib::painted_heading(fmt::format("VERDICT  {}  FOUND\n", fitted(subject, subject_columns)), on.has_colour);
  for (const check& check : diagnosis.checks) {
    const std::string word(lib::word_at(check.is));
    text += (on.has_colour ? lib::painted(word, style_of(check.is)) : word) + std::string(9 - word.size(), ' ');
    text += fmt::format("{}  {}\n", fitted(check.subject, subject_columns), printable(check.found));
    text += fmt::format("{}for: {}\n", indent, check.enables);
    if (!check.advice.empty()) text += fmt::format("{}do:  {}\n", indent, printable(check.advice));
  }
  return text + (diagnosis.ebpf_works ? "\nengine=ebpf works here.\n"
                                      : "\nengine=ebpf does not work here; engine=inline does.\n");
}

lib::text_table to_rows(const diagnosis& diagnosis) {
  using lib::column_kind;
  lib::text_table table({{"VERDICT", column_kind::text},
                         {"SUBJECT", column_kind::text},
                         {"FOUND", column_kind::text, 0, std::string::npos},
                         {"FOR", column_kind::text, 0, std::string::npos},
                         {"DO", column_kind::text, 0, std::string::npos}});
  for (const check& check : diagnosis.checks)
    table.add({lib::word_at(check.is), check.subject, check.found, check.enables, check.advice});
  return table;
}

}}  // namespace adaptyst::v1
