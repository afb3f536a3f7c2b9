// Reads the rank of a process from the variables that launchers set in its environment.
#include "launch_rank.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "reading_process.hpp"

namespace adaptyst::lib {

namespace {

struct launcher {
  const char* rank;
  const char* size;      // null: this launcher does not set the number of ranks
  bool numbers_scripts;  // sets a rank also for single processes, such as batch scripts, without a number of ranks
  const char* sign = nullptr;  // a second necessary variable, since others also use the name of the rank
};

// The launcher nearest to the program comes first: Slurm may start mpirun, and mpirun may start torchrun. docs/mpi.md
// names the launchers.
constexpr launcher launchers[] = {
    {"RANK", "WORLD_SIZE", false, "TORCHELASTIC_RUN_ID"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", false},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", false},
    {"PMI_RANK", "PMI_SIZE", false},
    {"PMIX_RANK", nullptr, false},
    {"PALS_RANKID", "PALS_NRANKS", false},
    {"ALPS_APP_PE", nullptr, false},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", false},
    {"HOROVOD_RANK", "HOROVOD_SIZE", false},
    {"RANK", "WORLD_SIZE", false, "WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool represents_all = false;

const launcher* launched_by() {
  if (represents_all) return nullptr;
  for (const launcher& launcher : launchers)
    if (const char* const rank = secure_getenv(launcher.rank);
        rank != nullptr && is_number(rank) && (launcher.sign == nullptr || secure_getenv(launcher.sign) != nullptr))
      return &launcher;
  return nullptr;
}

}  // namespace

std::string launch_rank() {
  const launcher* const by = launched_by();
  return by != nullptr ? secure_getenv(by->rank) : "";
}

const char* rank_variable() {
  const launcher* const by = launched_by();
  return by != nullptr ? by->rank : nullptr;
}

std::string read_environment(pid_t process) {
  constexpr std::size_t max_bytes = std::size_t{8} << 20;  // more than exec() takes by default
  std::string text;
  read_process_file(process, "environ", max_bytes, text);
  return text;
}

std::optional<std::string> find_variable(const std::string& environment, const std::string& name) {
  const std::string begin = name + "=";
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    if (environment.compare(at, begin.size(), begin) == 0)
      return environment.substr(at + begin.size(), end - at - begin.size());
    at = end + 1;
  }
  return std::nullopt;
}

void represent_all_ranks() { represents_all = true; }

namespace {

std::optional<std::uint32_t> read_rank(const std::string& text) {
  std::uint32_t rank = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), rank);
  return !text.empty() && wrong == std::errc() && end == text.data() + text.size() ? std::optional(rank) : std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> find_rank(const std::string& environment) {
  // The order of the table decides, not the order of the environment.
  for (const launcher& launcher : launchers)
    if (const auto found = find_variable(environment, launcher.rank);
        found && is_number(*found) && (launcher.sign == nullptr || find_variable(environment, launcher.sign)))
      return read_rank(*found);
  return std::nullopt;
}

std::optional<std::uint32_t> find_rank(pid_t process) {
  return process == getpid() ? read_rank(launch_rank()) : find_rank(read_environment(process));
}

bool has_other_ranks() {
  const launcher* const by = launched_by();
  if (by == nullptr) return false;
  const char* const size = by->size != nullptr ? secure_getenv(by->size) : nullptr;
  if (size != nullptr) return std::string_view(size) != "1";
  return !by->numbers_scripts;
}

bool is_spawned() { return secure_getenv("OMPI_PARENT_PORT") != nullptr || secure_getenv("PMI_SPAWNED") != nullptr; }

bool prints_for_all_ranks() {
  const std::string rank = launch_rank();
  return rank.empty() || rank == "0";
}

}  // namespace adaptyst::lib
