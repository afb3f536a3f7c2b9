// Where the loader looks for libraries.
#ifndef ADAPTYST_LIB_DISCOVER_LIBRARY_DIRECTORIES_HPP
#define ADAPTYST_LIB_DISCOVER_LIBRARY_DIRECTORIES_HPP

#include <string>
#include <vector>

namespace adaptyst::lib {

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
