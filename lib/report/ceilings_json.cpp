#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ceilings_forms.hpp"
#include "json_value.hpp"

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

constexpr const char* counting =
    "24 bytes an element of the triad, as STREAM counts; that caches read what is about to be written is not counted";

json to_value(const repeated_rate& rate) {
  json made;
  made["best"] = rate.best;
  made["median"] = rate.median;
  made["worst"] = rate.worst;
  made["n"] = rate.count;
  return made;
}

json to_value(const ceiling_rates& rates) {
  json made;
  made["gbytes_per_s"] = to_value(rates.gbytes);
  made["double_gflops"] = to_value(rates.double_gflops);
  made["single_gflops"] = to_value(rates.single_gflops);
  made["array_bytes"] = rates.array_bytes;
  return made;
}

double read_rate(const json_value& at) {
  const double rate = at.number();
  if (!(rate > 0) || rate > 1e9) at.fail("a rate, greater than 0");
  return rate;
}

repeated_rate read_repeated(const json_value& at) {
  at.require_keys({"best", "median", "worst", "n"}, {});
  repeated_rate made{read_rate(at["best"]), read_rate(at["median"]), read_rate(at["worst"]),
                     static_cast<std::size_t>(at["n"].count(1'000'000))};
  if (made.count == 0) at["n"].fail("at least 1");
  if (made.worst > made.median || made.median > made.best) at.fail("\"best\" to be the greatest, \"worst\" the least");
  return made;
}

ceiling_rates read_rates(const json_value& at) {
  at.require_keys({"gbytes_per_s", "double_gflops", "single_gflops", "array_bytes"}, {});
  return {read_repeated(at["gbytes_per_s"]), read_repeated(at["double_gflops"]), read_repeated(at["single_gflops"]),
          at["array_bytes"].count()};
}

}  // namespace

std::string to_json(const measured_ceilings& ceilings) {
  json all;
  all["schema"] = 1;
  all["host"] = ceilings.host;
  all["cpu"] = ceilings.cpu;
  all["measured"] = ceilings.measured;
  all["cpus"] = ceilings.cpus;
  all["instructions"] = ceilings.instructions;
  all["cache_bytes"] = ceilings.cache_bytes != 0 ? json(ceilings.cache_bytes) : json(nullptr);
  all["seconds"] = ceilings.seconds;
  all["counting"] = counting;
  all["disturbed"] = ceilings.is_disturbed();
  all["one_thread"] = to_value(ceilings.one);
  all["all_cpus"] = to_value(ceilings.all);
  all["devices"] = nullptr;  // not measured yet
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

measured_ceilings ceilings_from_json(std::string_view text) {
  const nlohmann::json parsed = parse_json(text);
  const json_value all(parsed);
  all.require_object();
  if (!all.has("schema")) all.fail("ceilings, with \"schema\"");
  if (all["schema"].count() != 1) all["schema"].fail("1, all that this version reads");
  all.require_keys({"schema", "host", "cpu", "measured", "cpus", "instructions", "cache_bytes", "seconds", "counting",
                    "disturbed", "one_thread", "all_cpus", "devices"},
                   {});
  measured_ceilings made;
  made.host = all["host"].text();
  made.cpu = all["cpu"].text();
  made.measured = all["measured"].text();
  made.cpus = static_cast<std::uint32_t>(all["cpus"].count(1U << 20U));
  if (made.cpus == 0) all["cpus"].fail("at least 1");
  made.instructions = all["instructions"].text();
  if (!all["cache_bytes"].is_null()) made.cache_bytes = all["cache_bytes"].count();
  made.seconds = all["seconds"].number();
  made.one = read_rates(all["one_thread"]);
  made.all = read_rates(all["all_cpus"]);
  return made;
}

}  // namespace adaptyst::lib
