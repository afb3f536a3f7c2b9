// Finds the files that a request for functions may refer to.
#ifndef ADAPTYST_LIB_DISCOVER_LIBRARY_FILES_HPP
#define ADAPTYST_LIB_DISCOVER_LIBRARY_FILES_HPP

#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "function_request.hpp"

namespace adaptyst::lib {

// The path in the request; otherwise the files that a process has mapped; otherwise all libraries with that name in the
// loader's directories. Each file once.
std::vector<std::string> files_for(const function_request& request, pid_t process);

// The same for a command that has not started: the words that name programs, and all libraries with that name in the
// loader's directories for any of these programs. `mpirun -n 2 solver` uses no MPI library, but its solver does.
std::vector<std::string> files_for(const function_request& request, const std::vector<std::string>& command);

// The programs and libraries that a process has mapped.
std::vector<std::string> list_files(pid_t process);

// The programs among a command's words, and all libraries that these name as needed, directly or indirectly.
std::vector<std::string> list_files(const std::vector<std::string>& command);

// The directories in which the loader searches for libraries.

// LD_LIBRARY_PATH, the paths in `programs` (run_path()), /etc/ld.so.conf, and the system's directories.
std::vector<std::string> library_directories(const std::vector<std::string>& programs);

// The directories in a list such as LD_LIBRARY_PATH.
std::vector<std::string> split_directories(const std::string& list);

// LD_LIBRARY_PATH.
std::vector<std::string> environment_directories();

// The directories in a file like /etc/ld.so.conf, and in the files that it includes.
std::vector<std::string> configured_directories(const std::string& file);

// The library path in an ELF file for this machine: DT_RUNPATH or DT_RPATH. Empty if it has none, or if the file has
// another format.
std::vector<std::string> run_path(const std::string& file);

// The entries of an ELF file for this machine that the loader uses.
struct linked_libraries {
  bool is_elf = false;
  bool has_interpreter = false;     // without one, the loader does not run for a program
  std::vector<std::string> needed;  // DT_NEEDED
  std::vector<std::string> path;    // run_path()
  bool has_run_path = false;        // DT_RUNPATH, which applies to this file only; DT_RPATH also to its libraries
};
linked_libraries read_linked_libraries(const std::string& file);

// The libraries that an ELF file names (DT_NEEDED).
std::vector<std::string> needed_libraries(const std::string& file);

// The versions of symbols that a library defines, such as "GLIBCXX_3.4.30". Empty for most libraries.
std::set<std::string> defined_versions(const std::string& file);

// The versions of symbols that a program or library needs, by the name of the library. Without those that the loader
// does not require.
std::map<std::string, std::set<std::string>> needed_versions(const std::string& file);

// Whether a file is ELF for this machine: a libx.so next to libx.so.1 may be a script for the linker.
bool is_elf(const std::string& file);

}  // namespace adaptyst::lib

#endif
