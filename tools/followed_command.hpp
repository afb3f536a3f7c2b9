// The programs that a command runs, also after launchers and in scripts. They are found without running the command.
#ifndef ADAPTYST_TOOLS_FOLLOWED_COMMAND_HPP
#define ADAPTYST_TOOLS_FOLLOWED_COMMAND_HPP

#include <set>
#include <string>
#include <vector>

#include "discover/program_libraries.hpp"

namespace adaptyst::tools {

enum class file_format { elf, foreign_elf, other, unreadable };  // foreign: for another machine

struct followed_program {
  std::string file;
  lib::program_libraries libraries;
  file_format format;
};

struct followed_command {
  std::vector<followed_program> programs;  // each file once for each LD_LIBRARY_PATH
  std::set<std::string> modules;           // that Python scripts import
  std::string starts_outside;              // a launcher that starts processes which this observer cannot reach
  std::string starts_container;            // a command that starts programs with other libraries, such as docker
  std::string has_unknown_path;            // a program with an LD_LIBRARY_PATH that is unknown before the script runs
  bool is_whole = true;                    // false: a limit has ended the search
};

// Follows the interpreters of scripts, the words after launchers and wrappers such as `env`, and the words of shell
// scripts. Unknown: programs that a program starts by itself, names in variables, and modules that import modules.
// `texts`: for lib::library_search. Never throws for a file that it reads.
followed_command follow_command(const std::vector<std::string>& command, std::vector<std::string> texts);

}  // namespace adaptyst::tools

#endif
