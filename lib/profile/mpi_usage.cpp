// Computes POP's efficiencies of MPI, and the time of a rank inside and outside MPI that they are computed from.
#include "mpi_usage.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace adaptyst { inline namespace v1 {

namespace {

std::optional<double> divide(std::optional<double> a, std::optional<double> b) {
  return a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt;
}

std::optional<double> find_greatest(const mpi_usage& usage) {
  return usage.outside.ranks != 0 ? std::optional(static_cast<double>(usage.outside.total_ns.max)) : std::nullopt;
}

std::optional<double> find_node_mean(const mpi_usage& usage) {
  if (!usage.busiest || usage.busiest->ranks == 0) return std::nullopt;
  return static_cast<double>(usage.busiest->time_ns) / static_cast<double>(usage.busiest->ranks);
}

}  // namespace

void mpi_usage::merge(const mpi_usage& other) {
  longest_ns = std::max(longest_ns, other.longest_ns);
  ranks_without += other.ranks_without;
  outside.merge(other.outside);
  busiest.reset();  // of several nodes, which may be the same
}

std::optional<double> mpi_usage::parallel_efficiency() const {
  return divide(outside.total_ns.mean(), static_cast<double>(longest_ns));
}
std::optional<double> mpi_usage::load_balance() const { return divide(outside.total_ns.mean(), find_greatest(*this)); }
std::optional<double> mpi_usage::load_balance_in() const { return divide(find_node_mean(*this), find_greatest(*this)); }
std::optional<double> mpi_usage::load_balance_out() const {
  return divide(outside.total_ns.mean(), find_node_mean(*this));
}
std::optional<double> mpi_usage::communication_efficiency() const {
  return divide(find_greatest(*this), static_cast<double>(longest_ns));
}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

namespace {

bool begins_mpi(const std::string& name) { return name.rfind("MPI_Init", 0) == 0; }

bool is_named_mpi(const std::string& name) { return name.rfind("MPI_", 0) == 0; }

// Not one below another one.
bool is_outermost_call(const region& row) {
  return is_mpi_call(row) && row.device == 0 && std::none_of(row.path.begin(), row.path.end() - 1, is_named_mpi);
}

}  // namespace

bool is_nonblocking_call(const region& row) {
  if (row.path.empty() || row.device != 0) return false;
  const std::string_view name = row.path.back();
  const auto begins_with = [&](std::string_view text) { return name.substr(0, text.size()) == text; };
  const auto ends_with = [&](std::string_view text) {
    return name.size() >= text.size() && name.substr(name.size() - text.size()) == text;
  };
  if (!is_mpi_call(row)) return ends_with("Async") || begins_with("clEnqueue");
  constexpr std::string_view at_once[] = {"MPI_Init", "MPI_Info", "MPI_Inter", "MPI_Is_"};
  if (std::any_of(std::begin(at_once), std::end(at_once), begins_with)) return false;
  constexpr std::string_view of_memory[] = {"MPI_Put",  "MPI_Get",  "MPI_Accumulate",  "MPI_Get_accumulate",
                                            "MPI_Rput", "MPI_Rget", "MPI_Raccumulate", "MPI_Rget_accumulate"};
  if (std::find(std::begin(of_memory), std::end(of_memory), name) != std::end(of_memory)) return true;
  const bool is_immediate = begins_with("MPI_I") && name.size() > 5 && name[5] >= 'a' && name[5] <= 'z';
  return is_immediate || begins_with("MPI_Start") || ends_with("_init");
}

bool is_mpi_call(const region& row) { return !row.path.empty() && is_named_mpi(row.path.back()); }

mpi_usage find_mpi_usage(const profile& profile, const rank_place& place) {
  std::uint64_t run_ns = 0;
  for (const process_info& process : profile.processes) run_ns = std::max(run_ns, process.duration_ns);
  return find_mpi_usage(profile.regions, 1, run_ns, place, [](const region& row) { return row.total_ns; });
}

mpi_usage find_mpi_usage(const std::vector<region>& regions, std::uint32_t ranks, std::uint64_t run_ns,
                         const rank_place& place, const std::function<std::uint64_t(const region&)>& time_in) {
  std::uint64_t inside_ns = 0;
  std::uint32_t threads = 1;
  bool has_calls = false;
  for (const region& row : regions) {
    if (!is_outermost_call(row)) continue;
    const std::uint64_t time_ns = time_in(row);
    has_calls = has_calls || time_ns != 0;
    if (begins_mpi(row.path.back())) {
      run_ns -= std::min(run_ns, time_ns);
    } else {
      inside_ns += time_ns;
      threads = std::max(threads, row.threads / ranks);
    }
  }
  mpi_usage made;
  if (!has_calls) {
    made.ranks_without = 1;
    return made;
  }
  made.longest_ns = run_ns;
  made.outside.ranks = 1;
  made.outside.total_ns.add(run_ns - std::min(run_ns, inside_ns / threads), place.rank, place.host);
  return made;
}

}  // namespace adaptyst::lib
