// What launchers leave in the environment: ranks, and the job that they are of.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "support/launch_rank.hpp"

namespace lib = adaptyst::lib;

namespace {

// Variables of this process, gone again at the end.
struct launched {
  launched() {
    for (const char* const name : names) unsetenv(name);
  }
  ~launched() {
    for (const char* const name : names) unsetenv(name);
  }
  launched(const launched&) = delete;
  launched& operator=(const launched&) = delete;
  static void set(const char* name, const char* value) { setenv(name, value, 1); }

  static constexpr const char* names[] = {"OMPI_COMM_WORLD_RANK",
                                          "OMPI_COMM_WORLD_SIZE",
                                          "PMI_RANK",
                                          "PMI_SIZE",
                                          "MPI_LOCALNRANKS",
                                          "PMIX_RANK",
                                          "PMIX_NAMESPACE",
                                          "SLURM_PROCID",
                                          "OMPI_COMM_WORLD_LOCAL_SIZE",
                                          "SLURM_JOB_ID",
                                          "SLURM_STEP_ID",
                                          "OMPI_MCA_ess_base_jobid",
                                          "RANK",
                                          "WORLD_SIZE",
                                          "TORCHELASTIC_RUN_ID",
                                          "MV2_COMM_WORLD_RANK",
                                          "MV2_COMM_WORLD_SIZE",
                                          "JSM_NAMESPACE_RANK",
                                          "JSM_NAMESPACE_SIZE",
                                          "PALS_RANKID",
                                          "PALS_NRANKS",
                                          "ALPS_APP_PE",
                                          "FLUX_TASK_RANK",
                                          "FLUX_JOB_SIZE",
                                          "HOROVOD_RANK",
                                          "HOROVOD_SIZE"};
};

}  // namespace

TEST_CASE("a variable is found by its whole name, wherever it stands") {
  const std::string all("A=1\0PMI_RANKS=7\0PMI_RANK=3\0EMPTY=\0LAST=x", 40);
  CHECK(lib::find_variable(all, "PMI_RANK") == "3");
  CHECK(lib::find_variable(all, "A") == "1");
  CHECK(lib::find_variable(all, "EMPTY") == "");
  CHECK(lib::find_variable(all, "LAST") == "x");
  CHECK(lib::find_variable(all, "RANK") == std::nullopt);
  CHECK(lib::find_variable("", "A") == std::nullopt);
}

TEST_CASE("each launcher's rank is known, and that there are others") {
  struct {
    const char *rank, *size;
  } const launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                         {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                         {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},
                         {"PMI_RANK", "PMI_SIZE"},
                         {"PALS_RANKID", "PALS_NRANKS"},
                         {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
                         {"HOROVOD_RANK", "HOROVOD_SIZE"},
                         {"RANK", "WORLD_SIZE"}};
  for (const auto& launcher : launchers) {
    CAPTURE(launcher.rank);
    const launched of;
    launched::set(launcher.size, "8");
    CHECK(lib::launch_rank().empty());
    launched::set(launcher.rank, "5");
    CHECK(lib::launch_rank() == "5");
    CHECK(lib::has_other_ranks());
    launched::set(launcher.size, "1");
    CHECK_FALSE(lib::has_other_ranks());
  }
  const launched of;
  launched::set("RANK", "3");  // a name that others use as well
  CHECK(lib::launch_rank().empty());
  launched::set("WORLD_SIZE", "4");
  launched::set("OMPI_COMM_WORLD_RANK", "1");
  CHECK(lib::launch_rank() == "1");
  launched::set("TORCHELASTIC_RUN_ID", "none");  // torchrun, which mpirun has started on each node
  CHECK(lib::launch_rank() == "3");
}

TEST_CASE("ranks of a job on a machine have one identity, those of another have another") {
  const launched of;
  CHECK_FALSE(lib::find_job().has_value());
  launched::set("PMI_RANK", "1");
  launched::set("PMI_SIZE", "1");
  CHECK_FALSE(lib::find_job().has_value());  // there is no rank to share an observer with
  launched::set("PMI_SIZE", "4");
  launched::set("MPI_LOCALNRANKS", "2");
  const auto first = lib::find_job();
  REQUIRE(first.has_value());
  CHECK(first->identity.find(std::to_string(getppid()) + "/") == 0);
  CHECK(first->ranks_here == 2);
  CHECK_FALSE(first->is_here_alone);
  launched::set("PMI_RANK", "2");
  launched::set("MPI_LOCALNRANKS", "4");
  const auto second = lib::find_job();
  REQUIRE(second.has_value());
  CHECK(second->identity == first->identity);
  CHECK(second->is_here_alone);
  launched::set("PMIX_NAMESPACE", "spawned");
  CHECK(lib::find_job()->identity != first->identity);
}
