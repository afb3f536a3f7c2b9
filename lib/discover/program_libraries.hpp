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
  bool is_elf = false;              // for this machine
  std::string no_preload_because;   // "is linked statically": why no other library can be loaded into it; else empty
  bool fails_with_preload = false;  // it does not run with LD_PRELOAD
  std::vector<std::string> names;   // of the needed libraries, direct and indirect, also of those without a file
  std::map<std::string, std::string> files;  // of these libraries, by name; without those that were not found
  std::set<std::string> direct;              // the names that the program itself needs
  std::set<std::string> texts;  // found in the program, or in its libraries outside of the system's folders; LLVM's
                                // OpenMP is not searched
};

// The name of a library that prevents preloading; empty: none. Either it is missing for the preloaded library, or both find
// different files, and the file that the loader takes may lack versions of symbols of the other. The loader takes the
// libraries that the program itself needs, then those of the preloaded library, then all others.
std::string find_preload_conflict(const program_libraries& preloaded, const program_libraries& program);

// Reads programs within common limits of files, bytes and time, because their files may be damaged, huge or slow. For
// one thread; the limit is CPU time. Typical cost: 0.1 ms for a program of the system, 5 ms with 100 libraries.
class library_search {
 public:
  // `texts`: constants that reveal an interface that is compiled into programs, such as the name of a variable of the
  // environment.
  explicit library_search(std::vector<std::string> texts);

  // Never throws for a damaged or missing file.
  program_libraries read(const std::string& program);
  // False: a limit has ended the search, and names may be missing.
  bool is_whole() const noexcept { return !is_over_ && !lacks_texts_; }
  bool has_time() noexcept;

 private:
  const linked_libraries& read_file(const std::string& file);
  std::string find_library(const std::string& name, const std::vector<std::string>& directories);
  void find_texts(const std::string& file, std::set<std::string>& found);

  const std::vector<std::string> texts_;
  std::vector<std::string> by_environment_, of_system_;  // folders
  std::map<std::string, linked_libraries> files_;        // read files, by path
  std::uint64_t text_bytes_left_ = std::uint64_t{16} << 20;
  const std::chrono::steady_clock::time_point end_;
  const std::chrono::nanoseconds end_of_cpu_time_;  // of the thread
  bool is_over_ = false;                            // true: no time is left, or too many files were read
  bool lacks_texts_ = false;                        // true: too many bytes to search; texts may be missing
};

}  // namespace adaptyst::lib

#endif
