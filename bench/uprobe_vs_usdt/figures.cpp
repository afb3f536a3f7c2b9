// From what was measured to the keys of build/bench.json, which docs/uprobes-and-usdt.md lists.
#include <algorithm>
#include <cmath>

#include "comparison.hpp"

namespace study {

namespace {

double interquartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double part) {
    return values[static_cast<std::size_t>(std::lround(part * static_cast<double>(values.size() - 1)))];
  };
  return at(0.75) - at(0.25);
}

// What an event took by round, less what it took in the plain program.
std::vector<double> cost_ns(const series& series) {
  std::vector<double> values;
  for (std::size_t round = 0; round != series.event_ns.size(); ++round)
    values.push_back(series.event_ns[round] - series.plain_ns[round]);
  return values;
}

std::vector<double> ratio(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> values;
  for (std::size_t round = 0; round != over.size(); ++round) values.push_back(over[round] / under[round]);
  return values;
}

void add(bench::measurements& results, const compared& compared) {
  const bool bare = compared.what.load == measured_with::no_work;
  const std::string prefix = (bare ? "" : "study_") + compared.what.name + "_";
  const std::vector<double> cost = cost_ns(compared.at[only_events]);
  results[prefix + "ns"] = bench::median(cost);
  results[prefix + "spread_ns"] = interquartile(cost);
  for (std::size_t at = 0; !bare && at != rates.size(); ++at) {
    const std::string key = at == only_events ? prefix : prefix + rates[at].name + "_";
    const double total_ns = compared.at[at].user_ns + compared.at[at].system_ns;
    if (total_ns > 0) results[key + "system_percent"] = 100 * compared.at[at].system_ns / total_ns;
    if (at == only_events) continue;
    const std::vector<double> slowdown = ratio(compared.at[at].event_ns, compared.at[at].plain_ns);
    results[key + "slowdown"] = bench::median(slowdown);
    results[key + "spread_percent"] = 100 * interquartile(slowdown) / bench::median(slowdown);
  }
}

}  // namespace

const compared* comparison::find(const char* name, measured_with load) const {
  for (const compared& method : methods_)
    if (method.what.name == name && method.what.load == load && !method.left_out) return &method;
  return nullptr;
}

bench::measurements comparison::figures() const {
  bench::measurements results;
  results["study_uncounted_events"] = uncounted_;
  for (const compared& method : methods_)
    if (!method.left_out) add(results, method);
  const compared& any = methods_.front();  // nothing that a kernel could lack
  results["study_rounds"] = static_cast<double>(any.at[only_events].event_ns.size());
  for (std::size_t at = 1; at != rates.size(); ++at)
    results["study_" + std::string(rates[at].name) + "_events_per_s"] = 1e9 / bench::median(any.at[at].plain_ns);

  // An entry probe on a function is nothing but its site.
  for (const std::string name : {"uprobe_emulated", "uprobe_single_step"})
    for (const char* what : {"_ns", "_spread_ns"})
      if (results.count("study_" + name + what) != 0) results[name + what] = results["study_" + name + what];
  const compared* const session = find("uprobe_session", measured_with::work);
  const compared* const entry = find("entry_empty", measured_with::no_work);
  if (session == nullptr || entry == nullptr) return results;
  results["function_over_entry"] =
      bench::median(ratio(session->at[only_events].event_ns, entry->at[only_events].event_ns));
  return results;
}

}  // namespace study
