// `--with`: finds the adapters' libraries and sets the variables of the environment that load them.
#include "adapters.hpp"

#include <adaptyst/detail/error.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "discover/elf_probes.hpp"
#include "discover/library_files.hpp"
#include "output.hpp"
#include "support/launch_rank.hpp"
#include "support/search_path.hpp"

namespace adaptyst::tools {

namespace {

struct adapter {
  const char* name;
  const char* file;
  const char* option;  // the option of CMake that builds it
  const char* variable;
  // Separates several libraries in the variable; null: the variable takes one library. LD_PRELOAD loads all libraries,
  // so the adapter comes last. OpenMP uses the first tool that accepts, so the adapter comes first.
  const char* separator;
  bool all_are_used;
  const char* older_variable = nullptr;  // for earlier versions; later versions need equal values in both
};

constexpr adapter adapters[] = {
    {"openmpi", "libadaptyst-openmpi.so", "ADAPTYST_WITH_MPI", "LD_PRELOAD", ":", true},
    {"mpich", "libadaptyst-mpich.so", "ADAPTYST_WITH_MPI", "LD_PRELOAD", ":", true},
    {"opencl", "libadaptyst-opencl.so", "ADAPTYST_WITH_OPENCL", "LD_PRELOAD", ":", true},
    {"torch", "libadaptyst-torch.so", "ADAPTYST_WITH_TORCH", "LD_PRELOAD", ":", true},
    {"cuda", "libadaptyst-cuda.so", "ADAPTYST_WITH_CUDA", "CUDA_INJECTION64_PATH", nullptr, false},
    {"openmp", "libadaptyst-ompt.so", "ADAPTYST_WITH_OMPT", "OMP_TOOL_LIBRARIES", ":", false},
    {"itt", "libadaptyst-itt.so", "ADAPTYST_WITH_ITT", "INTEL_LIBITTNOTIFY64", nullptr, false},
    {"nvtx", "libadaptyst-nvtx.so", "ADAPTYST_WITH_NVTX", "NVTX_INJECTION64_PATH", nullptr, false},
    {"roctx", "libadaptyst-roctx.so", "ADAPTYST_WITH_ROCTX", "LD_PRELOAD", ":", true},
    {"kokkos", "libadaptyst-kokkos.so", "ADAPTYST_WITH_KOKKOS", "KOKKOS_TOOLS_LIBS", ";", false,
     "KOKKOS_PROFILE_LIBRARY"},
};

std::string find_library(const adapter& adapter) {
  return find_own_library(adapter.file, fmt::format("--with {}", adapter.name), adapter.option);
}

// Means openmpi or mpich, by the libraries that the program needs.
constexpr const char* any_mpi = "mpi";

struct mpi_library {
  const char* begin;  // of the file name
  const char* adapter;
};

// MPICH's binary interface has the number 12: Intel MPI, Cray MPICH and MVAPICH have it as well.
constexpr mpi_library mpi_libraries[] = {
    {"libmpi.so.12", "mpich"},    {"libmpich.so", "mpich"},       {"libmpifort.so", "mpich"},
    {"libmpi_intel.so", "mpich"}, {"libmpi_gnu", "mpich"},        {"libmpi_cray", "mpich"},
    {"libmpi.so.", "openmpi"},    {"libmpi_mpifh.so", "openmpi"}, {"libopen-rte.so", "openmpi"},
};

const char* find_mpi(const std::vector<std::string>& needed) {
  for (const mpi_library& library : mpi_libraries)
    for (const std::string& name : needed)
      if (name.rfind(library.begin, 0) == 0) return library.adapter;
  return nullptr;
}

// The MPI of the program or of a program in its arguments; otherwise the MPI of the launcher that started this rank.
std::string choose_mpi(const std::vector<std::string>& command) {
  for (const std::string& word : command)
    if (const char* const found =
            find_mpi(lib::needed_libraries(&word == &command.front() ? lib::program_called(word) : word));
        found != nullptr)
      return found;
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) return "openmpi";
  if (std::getenv("PMI_RANK") != nullptr) return "mpich";
  throw error(fmt::format("--with mpi: cannot determine which MPI {} is linked with", command.front()), command.front(),
              0, "say --with openmpi, or --with mpich; one that is linked statically cannot be observed so");
}

// The MPI adapter collects only in a program that uses MPI.
void warn_about_no_mpi(const std::vector<std::string>& command, const char* name) {
  if (!lib::prints_for_all_ranks()) return;
  for (const std::string& word : command) {
    const std::string file = &word == &command.front() ? lib::program_called(word) : word;
    const std::vector<std::string> needed = lib::needed_libraries(file);
    if (!needed.empty() && find_mpi(needed) == nullptr && lib::has_markers(file))
      complain(fmt::format(
          "--with {}: {} is not linked with MPI: unless one of its libraries is, nothing is collected; leave --with "
          "{} away then",
          name, word, name));
  }
}

// GCC's OpenMP loads no tools.
void warn_about_libgomp(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    const bool is_program = &word == &command.front();
    const std::vector<std::string> needed = lib::needed_libraries(is_program ? lib::program_called(word) : word);
    const auto needs = [&](const char* name) {
      return std::any_of(needed.begin(), needed.end(),
                         [&](const std::string& text) { return text.rfind(name, 0) == 0; });
    };
    if (needs("libgomp.so") && !needs("libomp.so") && !needs("libiomp5.so"))
      complain(
          fmt::format("--with openmp: {} uses libgomp, GCC's OpenMP, which has no interface for tools (OMPT): nothing "
                      "will be recorded; LLVM's libomp has (clang -fopenmp)",
                      word));
  }
}

// Only for programs with markers: Python, for example, loads libtorch later, as a module.
void warn_about_no_torch(const std::vector<std::string>& command) {
  if (!lib::prints_for_all_ranks()) return;
  for (const std::string& word : command) {
    const std::string file = &word == &command.front() ? lib::program_called(word) : word;
    const std::vector<std::string> needed = lib::needed_libraries(file);
    const bool has_torch = std::any_of(needed.begin(), needed.end(),
                                       [](const std::string& text) { return text.rfind("libtorch", 0) == 0; });
    if (!needed.empty() && !has_torch && lib::has_markers(file))
      complain(fmt::format(
          "--with torch: {} is not linked with libtorch: unless one of its libraries is, or it loads it later, "
          "nothing is seen of torch",
          word));
  }
}

}  // namespace

std::string find_own_library(const char* file, const std::string& what, const char* option) {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path folders[] = {here / ADAPTYST_TOOLS_LIBRARIES, here / ".." / "adapters"};
  for (const std::filesystem::path& folder : folders) {
    std::error_code failed;
    const std::filesystem::path found = std::filesystem::canonical(folder / file, failed);
    if (!failed) return found.string();
  }
  throw error(fmt::format("{}: there is no {} in {} or {}", what, file, folders[0].lexically_normal().string(),
                          folders[1].lexically_normal().string()),
              file, 0, fmt::format("cmake -D{}=ON reports what the build needs", option));
}

std::vector<std::string> adapter_names() {
  std::vector<std::string> names;
  names.emplace_back(any_mpi);
  for (const adapter& adapter : adapters) names.emplace_back(adapter.name);
  return names;
}

bool collect_in_ranks(const std::vector<std::string>& chosen) {
  return std::any_of(chosen.begin(), chosen.end(),
                     [](const std::string& one) { return one == any_mpi || one == "openmpi" || one == "mpich"; });
}

std::vector<std::pair<std::string, std::string>> adapter_environment(std::vector<std::string> chosen,
                                                                     const std::vector<std::string>& command) {
  std::vector<std::pair<std::string, std::string>> gained;
  for (std::string& one : chosen)
    if (one == any_mpi) one = choose_mpi(command);
  const auto find_set = [&](const char* variable) -> const char* {
    const auto found =
        std::find_if(gained.rbegin(), gained.rend(), [&](const auto& one) { return one.first == variable; });
    return found != gained.rend() ? found->second.c_str() : std::getenv(variable);
  };
  for (const adapter& adapter : adapters) {
    if (std::find(chosen.begin(), chosen.end(), adapter.name) == chosen.end()) continue;
    const std::string library = find_library(adapter);
    if (std::string_view{adapter.name} == "openmp") warn_about_libgomp(command);
    if (std::string_view{adapter.name} == "torch") warn_about_no_torch(command);
    if (collect_in_ranks({adapter.name})) warn_about_no_mpi(command, adapter.name);
    const char* set = find_set(adapter.variable);
    if (set == nullptr && adapter.older_variable != nullptr) set = std::getenv(adapter.older_variable);
    const std::string before = set != nullptr ? set : "";
    std::string value = library;
    if (!before.empty()) {
      if (!adapter.all_are_used)
        complain(fmt::format("--with {}: {} is set already, to {}; only one can be used, and that is ours",
                             adapter.name, adapter.variable, before));
      if (adapter.separator != nullptr)
        value = adapter.all_are_used ? fmt::format("{}{}{}", before, adapter.separator, library)
                                     : fmt::format("{}{}{}", library, adapter.separator, before);
    }
    gained.emplace_back(adapter.variable, value);
    if (adapter.older_variable != nullptr) gained.emplace_back(adapter.older_variable, value);
  }
  return gained;
}

}  // namespace adaptyst::tools
