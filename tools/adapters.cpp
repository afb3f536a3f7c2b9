// `--with`: finds the adapters' libraries and sets the variables of the environment that load them.
#include "adapters.hpp"

#include <adaptyst/error.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "discover/library_directories.hpp"
#include "output.hpp"
#include "support/search_path.hpp"

namespace adaptyst::tools {

namespace {

struct adapter {
  const char* name;
  const char* file;
  const char* option;  // the option of CMake that builds it
  const char* variable;
  // Separates several libraries in the variable. All libraries in LD_PRELOAD are loaded, so ours comes last; of tools
  // of OpenMP only the first that accepts is used, so ours comes first. Null: there can be only one.
  const char* separator;
  bool all_are_used;
  const char* older_variable = nullptr;  // of earlier versions; later ones want the two to be equal
};

constexpr adapter adapters[] = {
    {"opencl", "libadaptyst-opencl.so", "ADAPTYST_WITH_OPENCL", "LD_PRELOAD", ":", true},
    {"cuda", "libadaptyst-cuda.so", "ADAPTYST_WITH_CUDA", "CUDA_INJECTION64_PATH", nullptr, false},
    {"openmp", "libadaptyst-ompt.so", "ADAPTYST_WITH_OMPT", "OMP_TOOL_LIBRARIES", ":", false},
    {"kokkos", "libadaptyst-kokkos.so", "ADAPTYST_WITH_KOKKOS", "KOKKOS_TOOLS_LIBS", ";", false,
     "KOKKOS_PROFILE_LIBRARY"},
};

// Finds the library next to this command: installed, or in the build tree.
std::string find_library(const adapter& adapter) {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path folders[] = {here / ADAPTYST_TOOLS_LIBRARIES, here / ".." / "adapters"};
  for (const std::filesystem::path& folder : folders) {
    std::error_code failed;
    const std::filesystem::path found = std::filesystem::canonical(folder / adapter.file, failed);
    if (!failed) return found.string();
  }
  throw error(fmt::format("--with {}: no {} in {} or {}", adapter.name, adapter.file,
                          folders[0].lexically_normal().string(), folders[1].lexically_normal().string()),
              adapter.file, 0, fmt::format("cmake -D{}=ON tells what building it takes", adapter.option));
}

// GCC's OpenMP never asks for a tool.
void warn_of_libgomp(const std::vector<std::string>& command) {
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
                      "will be seen of it; LLVM's libomp has (clang -fopenmp)",
                      word));
  }
}

}  // namespace

std::vector<std::string> adapter_names() {
  std::vector<std::string> names;
  for (const adapter& one : adapters) names.emplace_back(one.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> environment_of_adapters(const std::vector<std::string>& chosen,
                                                                         const std::vector<std::string>& command) {
  std::vector<std::pair<std::string, std::string>> gained;
  for (const adapter& one : adapters) {
    if (std::find(chosen.begin(), chosen.end(), one.name) == chosen.end()) continue;
    const std::string library = find_library(one);
    if (std::string_view{one.name} == "openmp") warn_of_libgomp(command);
    const char* set = std::getenv(one.variable);
    if (set == nullptr && one.older_variable != nullptr) set = std::getenv(one.older_variable);
    const std::string before = set != nullptr ? set : "";
    std::string value = library;
    if (!before.empty()) {
      if (!one.all_are_used)
        complain(fmt::format("--with {}: {} is set already, to {}; only one can be used, and that is ours", one.name,
                             one.variable, before));
      if (one.separator != nullptr)
        value = one.all_are_used ? fmt::format("{}{}{}", before, one.separator, library)
                                 : fmt::format("{}{}{}", library, one.separator, before);
    }
    gained.emplace_back(one.variable, value);
    if (one.older_variable != nullptr) gained.emplace_back(one.older_variable, value);
  }
  return gained;
}

}  // namespace adaptyst::tools
