// Computes POP's efficiencies of MPI, from the time of a rank inside and outside MPI.
#include "mpi_usage.hpp"

#include <algorithm>
#include <cmath>
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

struct quotient {
  std::optional<double> value, error;
};

// Assumes independent values. The mean and the maximum of ranks vary together, so the error of a load balance is an
// upper limit. A value with an error greater than itself is omitted.
quotient divide(std::optional<double> a, double a_error, std::optional<double> b, double b_error, bool is_estimate) {
  quotient made{divide(a, b), std::nullopt};
  if (!made.value || !is_estimate) return made;
  made.error = std::hypot(a_error, *made.value * b_error) / *b;
  if (*made.error > *made.value) return {};
  return made;
}

double find_greatest_error(const mpi_usage& usage) {
  return usage.outside_errors ? static_cast<double>(usage.outside_errors->greatest_ns) : 0;
}

double find_mean_error(const mpi_usage& usage) {
  if (!usage.outside_errors || usage.outside.ranks == 0) return 0;
  const wide_sum& squares = usage.outside_errors->squares;
  const double sum = std::ldexp(static_cast<double>(squares.high), 64) + static_cast<double>(squares.low);
  return std::sqrt(sum) / static_cast<double>(usage.outside.ranks);
}

// The error of a node's mean is not stored; it is at most the error of a rank.
quotient find_parallel(const mpi_usage& usage) {
  return divide(usage.outside.total_ns.mean(), find_mean_error(usage), static_cast<double>(usage.longest_ns), 0,
                usage.outside_errors.has_value());
}
quotient find_balance(const mpi_usage& usage) {
  return divide(usage.outside.total_ns.mean(), find_mean_error(usage), find_greatest(usage), find_greatest_error(usage),
                usage.outside_errors.has_value());
}
quotient find_balance_in(const mpi_usage& usage) {
  const double error = find_greatest_error(usage);
  return divide(find_node_mean(usage), error, find_greatest(usage), error, usage.outside_errors.has_value());
}
quotient find_balance_out(const mpi_usage& usage) {
  return divide(usage.outside.total_ns.mean(), find_mean_error(usage), find_node_mean(usage),
                find_greatest_error(usage), usage.outside_errors.has_value());
}
quotient find_communication(const mpi_usage& usage) {
  return divide(find_greatest(usage), find_greatest_error(usage), static_cast<double>(usage.longest_ns), 0,
                usage.outside_errors.has_value());
}

}  // namespace

void rank_errors::merge(const rank_errors& other) {
  squares.add(other.squares);
  greatest_ns = std::max(greatest_ns, other.greatest_ns);
}

void mpi_usage::merge(const mpi_usage& other) {
  longest_ns = std::max(longest_ns, other.longest_ns);
  ranks_without += other.ranks_without;
  outside.merge(other.outside);
  if (other.outside_errors && outside_errors) outside_errors->merge(*other.outside_errors);
  else if (other.outside_errors) outside_errors = other.outside_errors;
  busiest.reset();  // of several nodes, which may be equal
}

std::optional<double> mpi_usage::parallel_efficiency() const { return find_parallel(*this).value; }
std::optional<double> mpi_usage::load_balance() const { return find_balance(*this).value; }
std::optional<double> mpi_usage::load_balance_in() const { return find_balance_in(*this).value; }
std::optional<double> mpi_usage::load_balance_out() const { return find_balance_out(*this).value; }
std::optional<double> mpi_usage::communication_efficiency() const { return find_communication(*this).value; }
std::optional<double> mpi_usage::parallel_error() const { return find_parallel(*this).error; }
std::optional<double> mpi_usage::load_balance_error() const { return find_balance(*this).error; }
std::optional<double> mpi_usage::load_balance_in_error() const { return find_balance_in(*this).error; }
std::optional<double> mpi_usage::load_balance_out_error() const { return find_balance_out(*this).error; }
std::optional<double> mpi_usage::communication_error() const { return find_communication(*this).error; }

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

namespace {

bool begins_mpi(const std::string& name) { return name.rfind("MPI_Init", 0) == 0; }

bool is_named_mpi(const std::string& name) { return name.rfind("MPI_", 0) == 0; }

// A call that is not nested in another call.
bool is_outermost_call(const region& row) {
  return is_mpi_call(row) && row.device == 0 && std::none_of(row.path.begin(), row.path.end() - 1, is_named_mpi);
}

std::uint64_t to_whole(double ns) {
  constexpr double most = 9e18;
  return ns < most ? static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(most);
}

}  // namespace

bool is_nonblocking_call(const region& row) {
  if (row.path.empty() || row.device != 0) return false;
  std::string_view name = row.path.back();
  name = name.substr(0, name.find(" ["));  // without payload texts, such as the peer of a call
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
  return find_mpi_usage(profile.regions, 1, run_ns, place, [](const region& row) {
    return measured_time{row.total_ns, row.total_variance.value_or(0)};
  });
}

mpi_usage find_mpi_usage(const std::vector<region>& regions, std::uint32_t ranks, std::uint64_t run_ns,
                         const rank_place& place, const std::function<measured_time(const region&)>& time_in) {
  std::uint64_t inside_ns = 0;
  std::uint32_t threads = 1;
  bool has_calls = false;
  double variance = 0;
  for (const region& row : regions) {
    if (!is_outermost_call(row)) continue;
    const auto [time_ns, time_variance] = time_in(row);
    has_calls = has_calls || time_ns != 0;
    if (begins_mpi(row.path.back())) {
      run_ns -= std::min(run_ns, time_ns);
    } else {
      inside_ns += time_ns;
      variance += time_variance;
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
  if (variance > 0) {
    rank_errors& errors = made.outside_errors.emplace();
    errors.greatest_ns = to_whole(std::ceil(std::sqrt(variance) / threads));
    errors.squares.add_square(errors.greatest_ns);
  }
  return made;
}

}  // namespace adaptyst::lib
