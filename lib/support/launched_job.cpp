// All ranks of a job on a machine have a common launcher: the nearest ancestor without a rank. The launcher's name of
// the job only distinguishes jobs of one launcher, as made by MPI_Comm_spawn(): not all launchers set a name, and
// another user could guess it. The identity also contains the launcher's load address, which other users cannot read.
#include "launch_rank.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include "process_stat.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* job_variables[] = {
    "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID", "SLURM_STEP_ID", "FLUX_JOB_ID",
    "PALS_APID",      "TORCHELASTIC_RUN_ID"};
constexpr const char* local_rank_count_variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                                      "MV2_COMM_WORLD_LOCAL_SIZE"};
constexpr const char* rank_count_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};

// Random addresses. Empty: the process belongs to another user.
std::string read_addresses(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/auxv", process), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct job_launcher {
  std::string identity;  // empty: unknown
  bool is_hidden = false;
};

job_launcher find_launcher(const char* rank) {
  constexpr int max_generations = 256;
  pid_t process = getppid();
  for (int at = 0; process > 0 && at != max_generations; ++at) {
    const std::optional<process_stat> stat = read_stat(process);
    if (!stat) return {fmt::format("{}", process), true};
    if (!find_variable(read_environment(process), rank))
      return {fmt::format("{}/{}/{}", process, stat->started, read_addresses(process))};
    process = stat->parent;
  }
  return {};
}

template <std::size_t Count>
std::uint32_t find_number(const char* const (&names)[Count]) {
  for (const char* const name : names) {
    const char* const text = secure_getenv(name);
    if (text == nullptr) continue;
    const std::string_view all(text);
    std::uint32_t number = 0;
    if (std::from_chars(all.data(), all.data() + all.size(), number).ec == std::errc()) return number;
  }
  return 0;
}

}  // namespace

std::optional<launched_job> find_job() {
  const char* const rank = rank_variable();
  if (rank == nullptr || !has_other_ranks()) return std::nullopt;
  const job_launcher by = find_launcher(rank);
  std::string names;
  for (const char* const name : job_variables)
    if (const char* const value = secure_getenv(name); value != nullptr) names += fmt::format("/{}", value);
  if (by.identity.empty()) return std::nullopt;
  launched_job job;
  // Another process may get the number of a hidden launcher, so the job needs a name.
  if (!by.is_hidden || !names.empty()) job.identity = by.identity + names;
  job.ranks_here = find_number(local_rank_count_variables);
  job.is_here_alone = job.ranks_here != 0 && job.ranks_here == find_number(rank_count_variables);
  return job;
}

}  // namespace adaptyst::lib
