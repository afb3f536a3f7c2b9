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

std::string to_json(const run_comparison& of) { return make_json(of); }

void write_csv(const variability_result& result, const text_taker& to) {
  const variability_by by = result.settings.by;
  to(fmt::format("start,end,{},n,mean,std,min,max,p50,p95,stall,busy,copied,bytes,launch_gap,value,flag{}\n",
                 word_at(by), result.is_simulated ? ",simulated" : ""));
  std::string made;
  for (const variability_window& window : result.windows) {
    const variability_group what = find_group(result, window.group);
    std::string place = std::to_string(what.number);
    if (result.settings.by_name() || what.what == variability_group::kind::process) {
      place = "\"";
      for (const char letter :
           result.settings.by_name() ? std::string(window.name) : group_name(result, window.group)) {
        if (letter == '"') place += '"';
        place += letter;
      }
      place += '"';
    }
    made += fmt::format("{},{},{},{},", window.start_ns, window.end_ns, place, window.count);
    if (window.count != 0)
      made +=
          fmt::format("{},{},{},{},{},{},", window.mean, window.std, window.min, window.max, window.p50, window.p95);
    else made += ",,,,,,";
    const auto of_copies = [&](std::uint64_t ns) {
      return result.settings.has_stalls() ? std::to_string(ns) : std::string();
    };
    const std::optional<std::uint64_t> bytes = find_copied_bytes(result, window);
    const std::optional<double> gap = result.settings.has_stalls() ? find_launch_gap(result, window) : std::nullopt;
    made += fmt::format("{},{},{},{},{},{},{}{}\n", of_copies(window.stall_ns), window.busy_ns,
                        of_copies(window.copy_ns), bytes ? std::to_string(*bytes) : "",
                        gap ? fmt::format("{}", *gap) : "", window.value ? fmt::format("{}", *window.value) : "",
                        window.is_flagged ? 1 : 0, result.is_simulated ? ",1" : "");
    if (made.size() < csv_passed_on_at_once) continue;
    to(made);
    made.clear();
  }
  to(made);
}

}  // namespace adaptyst::lib
