// The libraries that a program loads at its start, found by the loader's rules without running the program.
#ifndef ADAPTYST_LIB_DISCOVER_PROGRAM_LIBRARIES_HPP
#define ADAPTYST_LIB_DISCOVER_PROGRAM_LIBRARIES_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "library_files.hpp"

namespace adaptyst::lib {

struct program_libraries {
  std::string file;
  bool is_elf = false;              // for this machine
  std::string no_preload_because;   // "is linked statically": why no other library can be loaded into it; else empty
  bool fails_with_preload = false;  // it does not run with LD_PRELOAD
  std::vector<std::string> names;   // of the needed libraries, direct and indirect, also of those without a file
  std::map<std::string, std::string> files;  // of these libraries, by name; without those that were not found
  std::set<std::string> direct;              // the names that the program itself needs
  std::set<std::string> texts;  // found in the program, or in its libraries outside of the system's folders; LLVM's
                                // OpenMP is not searched
  // The directories that also apply to libraries that are preloaded into the program: LD_LIBRARY_PATH and DT_RPATH.
  std::vector<std::string> by_environment, by_program;
};

// The name of a library that prevents preloading; empty: none. Either it is missing for the preloaded library, or the
// file that the loader takes lacks versions of symbols that either of both needs. The loader takes the libraries that
// the program itself needs, then those of the preloaded library, then all others.
std::string find_preload_conflict(const program_libraries& preloaded, const program_libraries& program);

// Reads programs within common limits of files, bytes and time, because their files may be damaged, huge or slow. For
// one thread; the limit is CPU time. Typical cost: 0.1 ms for a program of the system, 5 ms with 100 libraries.
class library_search {
 public:
  // `texts`: constants that reveal an interface that is compiled into programs, such as the name of a variable of the
  // environment.
  explicit library_search(std::vector<std::string> texts);

  // Never throws for a damaged or missing file.
  program_libraries read(const std::string& program) { return read(program, by_environment_); }
  // `by_environment`: the directories of LD_LIBRARY_PATH.
  program_libraries read(const std::string& program, const std::vector<std::string>& by_environment);
  // A library that is preloaded into a program. The loader uses DT_RPATH of the program for it as well.
  program_libraries read_preloaded(const std::string& library, const program_libraries& program);
  // False: a limit has ended the search, and names may be missing.
  bool is_whole() const noexcept { return !is_over_ && !is_cut_; }
  bool has_time() noexcept;

 private:
  const linked_libraries& read_file(const std::string& file);
  std::string find_library(const std::string& name, const std::vector<std::string>& directories);
  void limit(std::vector<std::string>& directories) noexcept;
  program_libraries read_all(const std::string& program, const std::vector<std::string>& by_environment,
                             const std::vector<std::string>& inherited);
  void add_texts(const std::string& file, bool is_program, std::set<std::string>& found);
  std::set<std::string> find_texts(const std::string& file, std::uint64_t bytes_left);

  const std::vector<std::string> texts_;
  std::vector<std::string> by_environment_, of_system_;    // folders
  std::map<std::string, linked_libraries> files_;          // read files, by path
  std::map<std::string, std::set<std::string>> texts_of_;  // by path of a searched file
  std::uint64_t text_bytes_left_ = std::uint64_t{16} << 20;
  const std::chrono::steady_clock::time_point end_;
  const std::chrono::nanoseconds end_of_cpu_time_;  // of the thread
  bool is_over_ = false;                            // true: no time is left, or too many files were read
  bool is_cut_ = false;  // true: too many bytes or folders; texts or libraries may be missing
};

}  // namespace adaptyst::lib

#endif
