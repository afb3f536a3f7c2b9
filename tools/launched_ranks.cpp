// Chooses Open MPI or MPICH by the launcher's variables in the environment, and loads the library for this MPI.
#include "launched_ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "adapters.hpp"
#include "output.hpp"

namespace adaptyst::tools {

namespace {

struct implementation {
  const char* rank;  // variables of its launcher
  const char* size;
  const char* file;
};

constexpr implementation implementations[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "libadaptyst-ranks-openmpi.so"},
    {"PMI_RANK", "PMI_SIZE", "libadaptyst-ranks-mpich.so"},
};

const implementation* find_launcher() {
  for (const implementation& implementation : implementations)
    if (const char* const size = std::getenv(implementation.size);
        size != nullptr && std::getenv(implementation.rank) != nullptr && std::string_view(size) != "1")
      return &implementation;
  return nullptr;
}

template <class Function>
Function* find_function(void* library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) throw error(fmt::format("cannot use MPI: {}", dlerror()), name, 0, "");
  return found;
}

}  // namespace

void in_launched_ranks(const std::function<void(rank_transport*)>& work) {
  const implementation* const launcher = find_launcher();
  if (launcher == nullptr) return work(nullptr);
  const std::string file = find_own_library(launcher->file, "several ranks", "ADAPTYST_WITH_MPI");
  // Global, because the plug-ins of Open MPI look up its functions in the global scope.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    throw error(fmt::format("cannot use MPI: {}", dlerror()), file, 0, "without a launcher, the command uses threads");
  auto* const begin = find_function<rank_transport*()>(library, "adaptyst_begin_ranks");
  auto* const end = find_function<void(int)>(library, "adaptyst_end_ranks");
  rank_transport* const over = begin();
  if (over == nullptr)
    throw error("MPI did not begin", file, 0,
                "the launcher may be of another MPI than the one that its environment names");
  try {
    work(over);
  } catch (const CLI::RuntimeError&) {
    end(0);
    throw;
  } catch (const std::exception& failed) {
    complain(failed.what());
    flushed();
    end(bad_input);
    end_with(bad_input);
  }
  end(0);
}

}  // namespace adaptyst::tools
