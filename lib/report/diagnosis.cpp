#include "diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../support/text.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using json = nlohmann::ordered_json;
using lib::fitted, lib::printable, lib::width;

}  // namespace

std::string to_json(const diagnosis& diagnosis) {
  json all = {{"ebpf_works", diagnosis.ebpf_works}, {"checks", json::array()}};
  for (const check& one : diagnosis.checks)
    all["checks"].push_back({{"subject", one.subject},
                             {"verdict", lib::word_at(one.is)},
                             {"found", one.found},
                             {"enables", one.enables},
                             {"advice", one.advice.empty() ? json(nullptr) : json(one.advice)}});
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string to_table(const diagnosis& diagnosis) {
  std::size_t subject_columns = 0;
  for (const check& one : diagnosis.checks) subject_columns = std::max(subject_columns, width(one.subject));
  const std::string indent(subject_columns + 11, ' ');
  std::string text;
  for (const check& one : diagnosis.checks) {
    text +=
        fmt::format("{:<9}{}  {}\n", lib::word_at(one.is), fitted(one.subject, subject_columns), printable(one.found));
    text += fmt::format("{}for: {}\n", indent, one.enables);
    if (!one.advice.empty()) text += fmt::format("{}do:  {}\n", indent, printable(one.advice));
  }
  return text + (diagnosis.ebpf_works ? "\nengine=ebpf works here.\n"
                                      : "\nengine=ebpf does not work here; engine=inline does.\n");
}

}}  // namespace adaptyst::v1
