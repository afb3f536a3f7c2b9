#include "samples.hpp"

#include "context.hpp"

namespace adaptyst { inline namespace v1 {

std::optional<std::uint64_t> sample_usage::period_ns() const {
  return samples != 0 ? std::optional(observed_ns / samples) : std::nullopt;
}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

void add_samples(measurements& sum, const sample_sums& from, bool has_context) {
  const path_set countable = has_context ? path_set{} : find_complete_scopes(sum);
  std::unordered_map<std::uint64_t, std::uint64_t> by_path;
  for (const sample_row& row : from.rows)
    if (row.state == thread_state::on_cpu && row.path != 0) by_path[row.path] += row.count;
  for (auto& [id, row] : sum.rows) {
    if (has_context ? !row.self_context : countable.count(id) == 0) continue;
    const auto found = by_path.find(id);
    row.samples = found != by_path.end() ? found->second : 0;
  }
}

}  // namespace adaptyst::lib
