// The table of named function sets (mpi, opencl, …) makes requests. Finds the files with the requested functions.
#include "function_request.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <string>

#include "../support/error.hpp"
#include "../support/nearest.hpp"
#include "elf_functions.hpp"

namespace adaptyst::lib {

namespace {

using names = std::initializer_list<const char*>;

struct part {
  names files;
  names globs;
};

struct named_set {
  const char* name;
  std::initializer_list<part> parts;
};

// The sets exclude functions that only query, such as omp_get_thread_num: they are called too often, and take too
// little time, for a trap.
const std::initializer_list<named_set>& sets() {
  static const std::initializer_list<named_set> all = {
      {"mpi",
       {{{"libmpi.so", "libmpich.so"}, {"MPI_*"}},
        {{"libmpi_mpifh.so", "libmpi_usempif08.so", "libmpifort.so", "libmpichfort.so"}, {"mpi_*"}}}},
      {"opencl", {{{"libOpenCL.so"}, {"cl*"}}}},
      {"cuda", {{{"libcudart.so"}, {"cuda*"}}, {{"libcuda.so"}, {"cu*"}}}},
      {"hip", {{{"libamdhip64.so"}, {"hip*"}}}},
      {"openmp",
       {{{"libgomp.so"},
         {"GOMP_parallel*", "GOMP_barrier*", "GOMP_critical_*", "GOMP_task*", "GOMP_loop_*", "GOMP_sections_*",
          "GOMP_single_*", "GOMP_target*", "GOMP_teams*"}},
        {{"libomp.so", "libiomp5.so"},
         {"__kmpc_fork_*", "__kmpc_barrier*", "__kmpc_critical*", "__kmpc_end_critical", "__kmpc_omp_task*",
          "__kmpc_reduce*", "__kmpc_dispatch_*", "__kmpc_single", "__kmpc_target*"}}}},
      {"blas",
       {{{"libblas.so", "libopenblas.so", "libopenblasp*.so", "libblis.so", "libmkl_rt.so", "libatlas.so"},
         {"cblas_*", "?dot*_", "?nrm2_", "?asum_",  "?axpy_",  "?scal_", "?copy_",  "?swap_",
          "?gemv_",  "?symv_", "?hemv_", "?trmv_",  "?trsv_",  "?ger*_", "?gemm*_", "?symm_",
          "?hemm_",  "?syrk_", "?herk_", "?syr2k_", "?her2k_", "?trmm_", "?trsm_"}}}},
      {"io", {{{"libc.so"}, {"open",   "open64",    "openat",    "openat64", "creat",  "close",  "read",    "write",
                             "pread",  "pread64",   "pwrite",    "pwrite64", "readv",  "writev", "fopen",   "fopen64",
                             "fclose", "fread",     "fwrite",    "fflush",   "fgets",  "fputs",  "getline", "fseek",
                             "fsync",  "fdatasync", "ftruncate", "rename",   "unlink", "stat",   "fstat",   "lstat",
                             "mkdir",  "opendir",   "readdir",   "sendfile", "msync"}}}},
      {"malloc",
       {{{"libc.so", "libjemalloc.so", "libtcmalloc*.so", "libmimalloc.so"},
         {"malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc", "memalign",
          "valloc"}}}},
  };
  return all;
}

}  // namespace

std::vector<std::string_view> function_set_names() {
  std::vector<std::string_view> names;
  for (const named_set& set : sets()) names.emplace_back(set.name);
  return names;
}

std::vector<function_request> find_set(std::string_view name) {
  for (const named_set& set : sets()) {
    if (set.name != name) continue;
    std::vector<function_request> requests;
    for (const part& part : set.parts)
      for (const char* const file : part.files)
        for (const char* const glob : part.globs) requests.push_back({file, glob});
    return requests;
  }
  throw error(fmt::format("no set of functions is called '{}'", name), std::string(name), 0,
              did_you_mean(name, function_set_names()) + "; or write FILE:PATTERN");
}

std::vector<function_request> parse_requests(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return find_set(text);
  return {parse_function(text)};
}

named_functions find_named(const std::vector<std::string>& named,
                           const std::function<std::vector<std::string>(const function_request&)>& files) {
  named_functions all;
  std::map<std::string, std::vector<std::string>> files_named;
  for (const std::string& text : named) {
    const bool is_set = text.find(':') == std::string::npos;
    bool is_present = false;
    for (const function_request& request : parse_requests(text)) {
      const auto [entry, is_new] = files_named.try_emplace(request.file);  // sets have many patterns for each file
      if (is_new) entry->second = files(request);
      for (const std::string& file : entry->second) {
        is_present = true;
        // By the real name: the loader's name libblas.so may be a link to another file.
        all.by_file[file].push_back({file, request.glob});
        // A program may use no function of a set.
        if (!is_set && find_functions(file, request.glob).empty())
          all.not_found.push_back(explain_no_function(file, request.glob));
      }
    }
    if (is_present) continue;
    if (is_set) all.not_found.emplace_back(text + ": none of its libraries was found", text, 0, "name one by its path");
    else all.not_found.emplace_back(text + ": no such file or library", text, 0, "");
  }
  return all;
}

}  // namespace adaptyst::lib
