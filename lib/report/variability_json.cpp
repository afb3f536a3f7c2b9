// An analysis of variability as JSON, and its windows as CSV.
#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "../analyse/variability/fields.hpp"
#include "../analyse/variability/variability.hpp"
#include "forms.hpp"
#include "json_writer.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t csv_passed_on_at_once = std::size_t{1} << 16U;

}  // namespace

void write_json(const variability_result& result, const text_taker& taker) {
  json_stream to(taker);
  json_writer<variability_result>(to, result).put_object(result);
  to.finish();
}

std::string to_json(const variability_result& result) { return make_json(result); }

void write_csv(const variability_result& result, const text_taker& to) {
  const variability_by by = result.settings.by;
  to(fmt::format("start,end,{},n,mean,std,min,max,p50,p95,stall,busy,copied,value,flag{}\n", word_at(by),
                 result.is_simulated ? ",simulated" : ""));
  std::string made;
  for (const variability_window& one : result.windows) {
    const variability_group what = find_group(result, one.group);
    std::string place = std::to_string(what.number);
    if (result.settings.by_name() || what.what == variability_group::kind::process) {
      place = "\"";
      for (const char letter : result.settings.by_name() ? std::string(one.name) : group_name(result, one.group)) {
        if (letter == '"') place += '"';
        place += letter;
      }
      place += '"';
    }
    made += fmt::format("{},{},{},{},", one.start_ns, one.end_ns, place, one.count);
    if (one.count != 0)
      made += fmt::format("{},{},{},{},{},{},", one.mean, one.std, one.min, one.max, one.p50, one.p95);
    else made += ",,,,,,";
    const auto of_copies = [&](std::uint64_t ns) {
      return result.settings.has_stalls() ? std::to_string(ns) : std::string();
    };
    made += fmt::format("{},{},{},{},{}{}\n", of_copies(one.stall_ns), one.busy_ns, of_copies(one.copy_ns),
                        one.value ? fmt::format("{}", *one.value) : "", one.is_flagged ? 1 : 0,
                        result.is_simulated ? ",1" : "");
    if (made.size() < csv_passed_on_at_once) continue;
    to(made);
    made.clear();
  }
  to(made);
}

}  // namespace adaptyst::lib
