// Finds the files that a request for functions may mean.
#ifndef ADAPTYST_LIB_DISCOVER_LIBRARY_FILES_HPP
#define ADAPTYST_LIB_DISCOVER_LIBRARY_FILES_HPP

#include <string>
#include <sys/types.h>
#include <vector>

#include "function_request.hpp"

namespace adaptyst::lib {

// The path that the request spells; else what a process has mapped; else all libraries with that name where the loader
// would look for them. Each file once.
std::vector<std::string> files_for(const function_request& request, pid_t process);

// The same for a command that has not begun: the words of it that name programs, and all libraries with that name where
// the loader would look for those of any of them. `mpirun -n 2 solver` uses no MPI library itself, but its solver does.
std::vector<std::string> files_for(const function_request& request, const std::vector<std::string>& command);

// What a process has mapped of programs and libraries.
std::vector<std::string> list_files(pid_t process);

// The programs that a command's words name, and all libraries that these need, as far as they name them themselves.
std::vector<std::string> list_files(const std::vector<std::string>& command);

// Where the loader looks for libraries.

// LD_LIBRARY_PATH, what `programs` say themselves (run_path()), /etc/ld.so.conf, and the system's directories.
std::vector<std::string> library_directories(const std::vector<std::string>& programs);

// The directories in a file like /etc/ld.so.conf, and in the files that it includes.
std::vector<std::string> configured_directories(const std::string& file);

// Where an ELF file for this machine says that its libraries are: DT_RUNPATH or DT_RPATH. Empty if it does not say, or
// if the file is of another kind.
std::vector<std::string> run_path(const std::string& file);

// The libraries that an ELF file names itself (DT_NEEDED).
std::vector<std::string> needed_libraries(const std::string& file);

// Whether a file is ELF for this machine: next to libx.so.1 may lie a libx.so for the linker that is a script.
bool is_elf(const std::string& file);

}  // namespace adaptyst::lib

#endif
