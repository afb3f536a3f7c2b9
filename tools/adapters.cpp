// `--with`: finds the adapters' libraries and sets the variables of the environment that load them.
#include "adapters.hpp"

#include <adaptyst/detail/error.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "discover/elf_probes.hpp"
#include "discover/library_files.hpp"
#include "followed_command.hpp"
#include "output.hpp"
#include "support/launch_rank.hpp"
#include "support/regular_file.hpp"

namespace adaptyst::tools {

namespace {

struct adapter {
  const char* name;
  const char* file;
  const char* option;  // the option of CMake that builds it
  const char* variable;
  // Separates several libraries in the variable; null: the variable takes one library. LD_PRELOAD loads all libraries,
  // so the adapter comes last; that of the heap first, to call an allocator that the user has preloaded. OpenMP uses the
  // first tool that accepts, so the adapter comes first.
  const char* separator;
  bool all_are_used;
  const char* older_variable = nullptr;  // for earlier versions; later versions need equal values in both
  // How `auto` recognises that a program uses the interface: the beginnings of names of needed libraries, a constant in
  // its files, or a module that a Python script imports. The libraries of MPI are in another table.
  const char* libraries[2] = {};
  const char* text = nullptr;
  const char* module = nullptr;
  const char* only_by_name = nullptr;  // the reason if `auto` must not load it
  // A constant of programs that record their commands themselves, with names and amounts that the adapter lacks.
  const char* own_tracking = nullptr;
};

// clang-format off
constexpr adapter adapters[] = {
    {"openmpi", "libadaptyst-openmpi.so", "ADAPTYST_WITH_MPI", "LD_PRELOAD", ":", true},
    {"mpich", "libadaptyst-mpich.so", "ADAPTYST_WITH_MPI", "LD_PRELOAD", ":", true},
    {"opencl", "libadaptyst-opencl.so", "ADAPTYST_WITH_OPENCL", "LD_PRELOAD", ":", true, nullptr,
     {"libOpenCL.so"}, nullptr, nullptr, nullptr, "adaptyst_opencl_interposer"},
    {"torch", "libadaptyst-torch.so", "ADAPTYST_WITH_TORCH", "LD_PRELOAD", ":", true, nullptr,
     {"libtorch"}, nullptr, "torch"},
    {"cuda", "libadaptyst-cuda.so", "ADAPTYST_WITH_CUDA", "CUDA_INJECTION64_PATH", nullptr, false, nullptr,
     {"libcuda.so", "libcudart.so"}, "libcuda.so.1", nullptr, "CUPTI accepts one tool and slows down launches; add it by --with auto,cuda"},
    {"openmp", "libadaptyst-ompt.so", "ADAPTYST_WITH_OMPT", "OMP_TOOL_LIBRARIES", ":", false, nullptr,
     {"libomp.so", "libiomp5.so"}},
    {"itt", "libadaptyst-itt.so", "ADAPTYST_WITH_ITT", "INTEL_LIBITTNOTIFY64", nullptr, false, nullptr,
     {"libtbb.so"}, "INTEL_LIBITTNOTIFY64"},
    {"nvtx", "libadaptyst-nvtx.so", "ADAPTYST_WITH_NVTX", "NVTX_INJECTION64_PATH", nullptr, false, nullptr,
     {}, "NVTX_INJECTION64_PATH", "nvtx"},
    {"roctx", "libadaptyst-roctx.so", "ADAPTYST_WITH_ROCTX", "LD_PRELOAD", ":", true, nullptr,
     {"libroctx64.so", "librocprofiler-sdk-roctx.so"}},
    {"kokkos", "libadaptyst-kokkos.so", "ADAPTYST_WITH_KOKKOS", "KOKKOS_TOOLS_LIBS", ";", false,
     "KOKKOS_PROFILE_LIBRARY", {"libkokkoscore"}, "KOKKOS_PROFILE_LIBRARY"},
    {heap_adapter, "libadaptyst-heap.so", "ADAPTYST_WITH_HEAP", "LD_PRELOAD", ":", true},
    {timer_adapter, "libadaptyst-timer.so", "ADAPTYST_WITH_TIMER", "LD_PRELOAD", ":", true},
};
// clang-format on

// Libraries and modules that reveal an interface that no adapter can report.
struct unsupported_use {
  const char* file_prefix;  // the beginning of the name of its library; null: none
  const char* module;
  const char* name;
  const char* why;
};
constexpr unsupported_use unsupported_uses[] = {
    {"libgomp.so", nullptr, "libgomp", "GCC's OpenMP has no interface for tools; LLVM's has"},
    // A wheel's loader of OpenCL finds other devices than the system's, which the adapter would load before it.
    {nullptr, "pyopencl", "opencl", "Python modules may have another OpenCL library; add it by --with auto,opencl"},
    {nullptr, "mpi4py", "mpi", "Python loads MPI after its start; add --with mpi"},
};

bool is_heap(const adapter& adapter) { return adapter.name == std::string_view{heap_adapter}; }
bool is_timer(const adapter& adapter) { return adapter.name == std::string_view{timer_adapter}; }

std::string find_library(const adapter& adapter) {
  return find_own_library(adapter.file,
                          is_heap(adapter)    ? "--memory heap"
                          : is_timer(adapter) ? "--samples timer"
                                              : fmt::format("--with {}", adapter.name),
                          adapter.option);
}

// Selects openmpi or mpich by the libraries that the program needs.
constexpr const char* any_mpi = "mpi";

struct mpi_library {
  const char* begin;  // of the file name
  const char* adapter;
  bool is_untested = false;
};

// MPICH's binary interface has the number 12: Intel MPI, Cray MPICH and MVAPICH have it as well.
constexpr mpi_library mpi_libraries[] = {
    {"libmpi.so.12", "mpich"},          {"libmpich.so", "mpich"},       {"libmpifort.so", "mpich"},
    {"libmpi_intel.so", "mpich", true}, {"libmpi_gnu", "mpich", true},  {"libmpi_cray", "mpich", true},
    {"libmpi.so.", "openmpi"},          {"libmpi_mpifh.so", "openmpi"}, {"libopen-rte.so", "openmpi"},
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
              0, "use --with openmpi or --with mpich; MPI that is linked statically cannot be intercepted");
}

// The MPI adapter collects only in a program that uses MPI.
void warn_about_no_mpi(const std::vector<std::string>& command, const char* name) {
  if (!lib::prints_for_all_ranks()) return;
  for (const std::string& word : command) {
    const std::string file = &word == &command.front() ? lib::program_called(word) : word;
    const std::vector<std::string> needed = lib::needed_libraries(file);
    if (!needed.empty() && find_mpi(needed) == nullptr && lib::has_markers(file))
      complain(fmt::format(
          "--with {}: {} is not linked with MPI: unless one of its libraries is, nothing is collected; omit --with "
          "{} then",
          name, word, name));
  }
}

// A Python script loads MPI after its start, with mpi4py, when the adapter can no longer intercept it. The library for
// the ranks of this command needs MPI: preloaded, it loads MPI at the start, and mpi4py then uses this MPI. A script
// without mpi4py may start programs with MPI, which inherit the adapter: it must not get an MPI itself.
bool loads_mpi_late(const std::vector<std::string>& command, const followed_command& found) {
  if (found.modules.count("mpi4py") == 0) return false;
  std::error_code failed;
  const std::string program = lib::program_called(command.front());
  const std::string file = std::filesystem::canonical(program, failed).filename().string();
  if (failed || file.rfind("python", 0) != 0) return false;
  const std::vector<std::string> needed = lib::needed_libraries(program);
  return !needed.empty() && find_mpi(needed) == nullptr;
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
          "no operators of torch are reported",
          word));
  }
}

using variables = std::vector<std::pair<std::string, std::string>>;

// The value of the variable of an adapter, for which other adapters may have set it before; empty: none.
std::string find_value(const variables& gained, const adapter& adapter) {
  const auto found = std::find_if(gained.rbegin(), gained.rend(),
                                  [&](const auto& variable) { return variable.first == adapter.variable; });
  if (found != gained.rend()) return found->second;
  const char* set = std::getenv(adapter.variable);
  if (set == nullptr && adapter.older_variable != nullptr) set = std::getenv(adapter.older_variable);
  return set != nullptr ? set : "";
}

bool is_preloaded(const adapter& adapter) { return std::string_view{adapter.variable} == "LD_PRELOAD"; }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Whether the value of a variable holds the library of the adapter: an outer `adaptyst run` has set it.
bool holds_own(const adapter& adapter, const std::string& value) {
  std::string item;
  for (const char c : value + '\n') {
    const bool is_end =
        c == '\n' || (adapter.separator != nullptr && c == *adapter.separator) || (is_preloaded(adapter) && c == ' ');
    if (!is_end) item += c;
    else if (file_name(std::exchange(item, {})) == adapter.file) return true;
  }
  return false;
}

// Why the variable of an adapter cannot hold the path of its library; empty: it can. The loader splits LD_PRELOAD at
// spaces too, and no variable has an escape character.
std::string why_no_path(const adapter& adapter, const std::string& library) {
  const bool has_space = is_preloaded(adapter) && library.find(' ') != std::string::npos;
  const bool has_separator = adapter.separator != nullptr && library.find(*adapter.separator) != std::string::npos;
  if (!has_space && !has_separator) return {};
  return fmt::format("{} cannot hold the path {}, which contains {}", adapter.variable, library,
                     has_space ? "a space" : fmt::format("\"{}\"", adapter.separator));
}
constexpr const char* other_folder = "install adaptyst in a folder without spaces, colons and semicolons";

void add_variables(variables& gained, const adapter& adapter, const std::string& library, const std::string& before) {
  std::string value = library;
  if (!before.empty() && adapter.separator != nullptr)
    value = adapter.all_are_used && !is_heap(adapter) ? fmt::format("{}{}{}", before, adapter.separator, library)
                                                      : fmt::format("{}{}{}", library, adapter.separator, before);
  gained.emplace_back(adapter.variable, value);
  if (adapter.older_variable != nullptr) gained.emplace_back(adapter.older_variable, value);
}

// Why a program of the command would fail with a preloaded library; empty: none would.
std::string find_conflict(const followed_command& found, const std::string& library) {
  if (!found.has_unknown_path.empty())
    return fmt::format("LD_LIBRARY_PATH of {} is unknown before its script runs", found.has_unknown_path);
  lib::library_search search({});
  for (const followed_program& program : found.programs) {
    if (!program.libraries.is_elf || !program.libraries.no_preload_because.empty()) continue;
    const lib::program_libraries own = search.read_preloaded(library, program.libraries);
    if (!search.is_whole())
      return fmt::format("the search for the libraries of {} has ended at a limit", file_name(library));
    const std::string name = lib::find_preload_conflict(own, program.libraries);
    if (name.empty()) continue;
    if (own.files.count(name) == 0) return fmt::format("{} needs {}, which is missing", file_name(library), name);
    return fmt::format("{} and {} need different versions of {}", file_name(program.file), file_name(library), name);
  }
  return {};
}

// For a Python script with mpi4py: adds the library that loads MPI to LD_PRELOAD, the last variable of `gained`.
void preload_mpi(variables& gained, const adapter& adapter, const std::string& library, const followed_command& found) {
  const std::string with_mpi = find_own_library(fmt::format("libadaptyst-ranks-{}.so", adapter.name).c_str(),
                                                fmt::format("--with {}", adapter.name), adapter.option);
  if (const std::string why = find_conflict(found, with_mpi); !why.empty()) {
    complain(
        fmt::format("--with {}: {} is not preloaded: {}; calls of MPI are not observed\n"
                    "hint: use the Python and the MPI for which adaptyst was built, or --functions mpi",
                    adapter.name, with_mpi, why));
    return;
  }
  gained.back().second += ":" + with_mpi;
  // Other children of the interpreter must not get an MPI that they do not use.
  gained.emplace_back("ADAPTYST_PRELOAD", fmt::format("{}:{}", library, with_mpi));
}

const std::string* find_begin(const std::vector<std::string>& names, const char* begin) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const std::string& name) { return name.rfind(begin, 0) == 0; });
  return found != names.end() ? &*found : nullptr;
}

// `--with auto`.
class adapter_choice {
 public:
  adapter_choice(variables& gained, const std::vector<std::string>& named) : gained_(gained), named_(named) {}

  chosen_adapters choose(const std::vector<std::string>& command) {
    std::vector<std::string> texts;
    for (const adapter& adapter : adapters)
      for (const char* const text : {adapter.text, adapter.own_tracking})
        if (text != nullptr) texts.emplace_back(text);
    found_ = follow_command(command, texts);
    for (const adapter& adapter : adapters)
      if (!is_named(adapter.name)) consider(adapter);
    for (const unsupported_use& use : unsupported_uses) {
      const bool has_module = use.module != nullptr && found_.modules.count(use.module) != 0;
      const bool is_loaded = result_.loaded.count(use.name) != 0 || is_named(use.name);
      if (!is_loaded && (has_module || is_needed(use.file_prefix))) result_.skipped.emplace(use.name, use.why);
    }
    for (const followed_program& program : found_.programs) name_unreachable(program);
    if (!found_.starts_container.empty()) result_.skipped.emplace("other interfaces", why_no_container());
    if (!found_.is_whole)
      result_.skipped.emplace("other interfaces", "the search reached its limit; name adapters: --with auto,NAME");
    for (const auto& [variable, value] : gained_)  // of named adapters
      if (!preloads_.empty() && variable == "ADAPTYST_PRELOAD") preloads_ = fmt::format("{}:{}", value, preloads_);
    if (!preloads_.empty()) gained_.emplace_back("ADAPTYST_PRELOAD", preloads_);
    return result_;
  }

 private:
  bool is_named(const char* adapter) const {
    return std::find(named_.begin(), named_.end(), adapter) != named_.end() ||
           (collect_in_ranks({adapter}) && collect_in_ranks(named_));
  }

  bool is_needed(const char* library) const {
    return library != nullptr &&
           std::any_of(found_.programs.begin(), found_.programs.end(), [&](const followed_program& program) {
             return find_begin(program.libraries.names, library) != nullptr;
           });
  }

  // The library or text that reveals the interface in a program; empty: none. `untested`: a reason not to load it.
  std::string find_use(const adapter& adapter, const lib::program_libraries& in, std::string& untested) const {
    for (const mpi_library& library : mpi_libraries) {
      const std::string* const name = find_begin(in.names, library.begin);
      if (name == nullptr) continue;
      if (adapter.name != std::string_view{library.adapter}) break;  // the first line counts
      if (library.is_untested)
        untested = fmt::format("untested with {}; add it by --with auto,{}", *name, adapter.name);
      return *name;
    }
    for (const char* const library : adapter.libraries)
      if (const std::string* const name = library != nullptr ? find_begin(in.names, library) : nullptr) return *name;
    return adapter.text != nullptr && in.texts.count(adapter.text) != 0 ? adapter.text : "";
  }

  void consider(const adapter& adapter) {
    std::string use, untested, unreachable;
    if (adapter.module != nullptr && found_.modules.count(adapter.module) != 0)
      use = fmt::format("import {}", adapter.module);
    for (auto program = found_.programs.begin(); program != found_.programs.end() && use.empty(); ++program) {
      use = find_use(adapter, program->libraries, untested);
      if (use.empty()) continue;
      if (!program->libraries.no_preload_because.empty()) {
        unreachable = fmt::format("{} {}", file_name(program->file), program->libraries.no_preload_because);
        use.clear();
        untested.clear();
      } else if (adapter.own_tracking != nullptr && program->libraries.texts.count(adapter.own_tracking) != 0) {
        unreachable = fmt::format(
            "{} contains track() of <adaptyst/opencl.hpp>, which names commands itself; all "
            "commands by --with auto,{}",
            file_name(program->file), adapter.name);
        use.clear();
      } else if (found_.programs.size() > 1) {
        use += fmt::format(" of {}", file_name(program->file));
      }
    }
    if (use.empty() && unreachable.empty()) return;
    const std::string reason = use.empty() ? unreachable : why_not(adapter, untested);
    if (!reason.empty()) {
      result_.skipped.emplace(adapter.name, reason);
      return;
    }
    load(adapter, use);
  }

  // The reason not to load an adapter that a program could use; empty: none.
  std::string why_not(const adapter& adapter, const std::string& untested) const {
    if (adapter.only_by_name != nullptr) return adapter.only_by_name;
    if (!untested.empty()) return untested;
    if (!found_.starts_container.empty()) return why_no_container();
    if (!found_.starts_outside.empty())
      return fmt::format("{} starts ranks outside this command; use {} … adaptyst run -- PROGRAM",
                         found_.starts_outside, found_.starts_outside);
    const std::string before = find_value(gained_, adapter);
    if (!adapter.all_are_used && !before.empty() && !holds_own(adapter, before))
      return fmt::format("{} is set already, to {}", adapter.variable, before);
    const char* const tool = std::getenv("OMP_TOOL");
    if (std::string_view{adapter.name} == "openmp" && tool != nullptr && std::string_view{tool} == "disabled")
      return "OMP_TOOL is disabled";
    if (!is_preloaded(adapter)) return {};
    for (const followed_program& program : found_.programs)
      if (program.libraries.fails_with_preload)
        return fmt::format("{} {}", file_name(program.file), program.libraries.no_preload_because);
    const bool is_mpi = collect_in_ranks({adapter.name});
    if (is_mpi && (result_.loaded.count("openmpi") != 0 || result_.loaded.count("mpich") != 0))
      return "another MPI is used as well, and only one can be observed";
    return {};
  }

  std::string why_no_container() const {
    return fmt::format("{} starts programs with other libraries; put adaptyst run inside the container",
                       found_.starts_container);
  }

  void load(const adapter& adapter, const std::string& use) {
    std::string library;
    try {
      library = find_library(adapter);
    } catch (const std::exception&) {
      result_.skipped.emplace(adapter.name, fmt::format("{} is not installed", adapter.file));
      return;
    }
    if (const std::string why = why_no_path(adapter, library); !why.empty()) {
      result_.skipped.emplace(adapter.name, fmt::format("{}; {}", why, other_folder));
      return;
    }
    const std::string before = find_value(gained_, adapter);
    if (!holds_own(adapter, before)) {
      const std::string why = is_preloaded(adapter) ? find_conflict(found_, library) : "";
      if (!why.empty()) {
        result_.skipped.emplace(adapter.name, why);
        return;
      }
      add_variables(gained_, adapter, library, before);
      if (is_preloaded(adapter)) preloads_ += (preloads_.empty() ? "" : ":") + library;
    }
    result_.loaded.emplace(adapter.name, use);
  }

  void name_unreachable(const followed_program& program) {
    const char* why = nullptr;
    if (program.format == file_format::foreign_elf) why = "no program for this machine's architecture";
    else if (program.format == file_format::unreadable) why = "cannot be read";
    else if (program.format == file_format::elf && !program.libraries.is_elf && found_.is_whole)
      why = "cannot be read as ELF";
    else if (program.libraries.no_preload_because == "is linked statically")
      why = "a static program can load no adapter";
    constexpr std::size_t max_skipped = 16;
    if (why != nullptr && result_.skipped.size() < max_skipped) result_.skipped.emplace(file_name(program.file), why);
  }

  variables& gained_;
  const std::vector<std::string>& named_;
  followed_command found_;
  chosen_adapters result_;
  std::string preloads_;
};

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

std::vector<std::string> words_of_with() {
  std::vector<std::string> names{automatic, no_adapters, any_mpi};
  for (const adapter& adapter : adapters)
    if (!is_heap(adapter) && !is_timer(adapter)) names.emplace_back(adapter.name);
  return names;
}

namespace {

// Complains about programs that cannot load an adapter. `so`: what that means, and a hint. False: they would not run.
bool check_programs(const std::vector<std::string>& command, const char* option, const char* so) {
  bool can = true;
  for (const followed_program& program : follow_command(command, {}).programs) {
    const std::string& why = program.libraries.no_preload_because;
    if (why.empty()) continue;
    complain(fmt::format("{}: {} {}: {}", option, program.file, why, so));
    can = can && !program.libraries.fails_with_preload;
  }
  return can;
}

}  // namespace

bool check_timer_adapter(const std::vector<std::string>& command) {
  return check_programs(command, "--samples timer",
                        "it cannot be sampled\n"
                        "hint: link it dynamically and without a sanitizer, or use --samples auto");
}

bool check_heap_adapter(const std::vector<std::string>& command) {
  // A sanitizer ends a program in which another allocator is in front of its own.
  const char* const preloaded = std::getenv("LD_PRELOAD");
  const std::string_view libraries = preloaded != nullptr ? preloaded : "";
  for (const char* const sanitizer : {"libasan.", "libtsan.", "liblsan.", "libhwasan.", "libclang_rt."})
    if (libraries.find(sanitizer) != std::string_view::npos) {
      complain(
          fmt::format("--memory heap: LD_PRELOAD={}: a sanitizer has its own allocator; only resident memory is "
                      "reported\nhint: preload no sanitizer",
                      libraries));
      return false;
    }
  return check_programs(command, "--memory heap",
                        "its allocations cannot be counted\n"
                        "hint: link it dynamically and without a sanitizer, or use --memory rss");
}

bool collect_in_ranks(const std::vector<std::string>& chosen) {
  return std::any_of(chosen.begin(), chosen.end(), [](const std::string& interface) {
    return interface == any_mpi || interface == "openmpi" || interface == "mpich";
  });
}

std::vector<std::pair<std::string, std::string>> adapter_environment(std::vector<std::string> chosen,
                                                                     const std::vector<std::string>& command) {
  variables gained;
  for (std::string& text : chosen)
    if (text == any_mpi) text = choose_mpi(command);
  const auto is_chosen = [&](const char* name) {
    return std::find(chosen.begin(), chosen.end(), name) != chosen.end();
  };
  if (is_chosen("openmpi") && is_chosen("mpich"))
    throw error("--with openmpi and --with mpich exclude each other: a program has one MPI", "openmpi,mpich", 0,
                "name one of them, or use --with mpi");
  for (const adapter& adapter : adapters) {
    if (!is_chosen(adapter.name)) continue;
    const std::string library = find_library(adapter);
    if (std::string_view{adapter.name} == "openmp") warn_about_libgomp(command);
    if (std::string_view{adapter.name} == "torch") warn_about_no_torch(command);
    if (collect_in_ranks({adapter.name})) warn_about_no_mpi(command, adapter.name);
    if (const std::string why = why_no_path(adapter, library); !why.empty())
      throw error(fmt::format("--with {}: {}", adapter.name, why), library, 0, other_folder);
    const std::string before = find_value(gained, adapter);
    if (holds_own(adapter, before)) continue;
    if (!before.empty() && adapter.separator == nullptr)
      throw error(fmt::format("--with {}: {} is set already, to {}, and takes one tool", adapter.name, adapter.variable,
                              before),
                  before, 0, fmt::format("unset {}, or omit --with {}", adapter.variable, adapter.name));
    if (!before.empty() && !adapter.all_are_used)
      complain(fmt::format("--with {}: {} is set already, to {}; only one is used: adaptyst's", adapter.name,
                           adapter.variable, before));
    add_variables(gained, adapter, library, before);
    if (!collect_in_ranks({adapter.name})) continue;
    const followed_command found = follow_command(command, {});
    if (loads_mpi_late(command, found)) preload_mpi(gained, adapter, library, found);
  }
  return gained;
}

chosen_adapters choose_adapters(std::vector<std::pair<std::string, std::string>>& gained,
                                const std::vector<std::string>& named, const std::vector<std::string>& command) {
  return adapter_choice(gained, named).choose(command);
}

}  // namespace adaptyst::tools
