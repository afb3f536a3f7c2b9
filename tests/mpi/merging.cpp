// Every rank merges a profile of its own, made by hand; the first one checks the result against what follows from the number
// of ranks. For SMPI, where all ranks share a process: so nothing is collected here.
#include <adaptyst/mpi.hpp>
#include <cstdio>

namespace {

constexpr std::uint32_t ranks_per_node = 16;

// Rank r has spent 1,000 + r ns in `work`; the odd ones 5 ns in `odd`.
adaptyst::profile make_profile(std::uint32_t rank) {
  adaptyst::profile made;
  made.engine = "inline";
  made.devices.emplace_back();
  adaptyst::process_info& process = made.processes.emplace_back();
  process.pid = rank + 1;
  process.command = "merging";
  process.host = "simulated" + std::to_string(rank / ranks_per_node);
  process.duration_ns = 10'000;
  process.rank = rank;
  const auto add = [&](const char* name, std::uint64_t id, std::uint64_t ns) {
    adaptyst::region& row = made.regions.emplace_back();
    row.path = {name};
    row.id = id;
    row.count = 1;
    row.threads = 1;
    row.total_ns = row.self_ns = row.min_ns = row.max_ns = ns;
    row.durations.add(ns);
  };
  add("work", 1, 1'000 + rank);
  if (rank % 2 != 0) add("odd", 2, 5);
  return made;
}

const adaptyst::region* find(const adaptyst::profile& in, const char* name) {
  for (const adaptyst::region& row : in.regions)
    if (row.path.back() == name) return &row;
  return nullptr;
}

bool is_right(const adaptyst::profile& all, std::uint32_t size) {
  const adaptyst::region *work = find(all, "work"), *odd = find(all, "odd");
  if (work == nullptr || odd == nullptr || !work->across_ranks || !odd->across_ranks) return false;
  const adaptyst::rank_totals& totals = work->across_ranks->total_ns;
  const std::uint64_t sum = std::uint64_t{1'000} * size + std::uint64_t{size} * (size - 1) / 2;
  const std::string last = "simulated" + std::to_string((size - 1) / ranks_per_node);
  return all.ranks == size && work->count == size && work->total_ns == sum && totals.min_rank == 0 &&
         totals.max_rank == size - 1 && totals.max == 1'000 + size - 1 && totals.max_host == last &&
         totals.min_host == "simulated0" && odd->across_ranks->ranks == size / 2 &&
         all.about_ranks->count_hosts() == (size - 1) / ranks_per_node + 1;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::optional<adaptyst::profile> all;
  for (int round = 0; round != 3; ++round)
    all = adaptyst::mpi::merge(make_profile(static_cast<std::uint32_t>(rank)), MPI_COMM_WORLD);
  const bool is_first = rank == 0;
  const bool is_well = all.has_value() == is_first && (!is_first || is_right(*all, static_cast<std::uint32_t>(size)));
  if (!is_well) std::printf("rank %d: wrong\n", rank);
  if (is_first && is_well) std::printf("%d ranks merged\n", size);
  MPI_Finalize();
  return is_well ? 0 : 1;
}
