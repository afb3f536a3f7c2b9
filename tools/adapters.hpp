// The libraries of the adapters, which report devices without a change to the program: their paths, and the environment
// variables that load them.
#ifndef ADAPTYST_TOOLS_ADAPTERS_HPP
#define ADAPTYST_TOOLS_ADAPTERS_HPP

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace adaptyst::tools {

// The words of `--with`.
std::vector<std::string> words_of_with();

// A library of adaptyst next to this command: installed, or in the build tree. Throws error. `what`: its purpose;
// `option`: the option of CMake that builds it.
std::string find_own_library(const char* file, const std::string& what, const char* option);

// The adapters of `--memory heap` and `--samples timer`, which are no words of `--with`.
constexpr const char* heap_adapter = "heap";
constexpr const char* timer_adapter = "timer";
// Complain about programs of the command that cannot load it. False: they would not run with the adapter.
bool check_heap_adapter(const std::vector<std::string>& command);
bool check_timer_adapter(const std::vector<std::string>& command);

// Whether one of the adapters collects in the program's ranks, so that no observer is needed.
bool collect_in_ranks(const std::vector<std::string>& adapters);

// The variables that load these adapters into a command. Warns if an adapter will record nothing; throws error if a
// library cannot be found.
std::vector<std::pair<std::string, std::string>> adapter_environment(std::vector<std::string> adapters,
                                                                     const std::vector<std::string>& command);

// `--with auto`, and `--with none`, which loads nothing.
constexpr const char* automatic = "auto";
constexpr const char* no_adapters = "none";
constexpr const char* default_adapters = automatic;  // of `adaptyst run` without `--with`

// The adapters of the interfaces that the programs of a command use, of those that are tested.
struct chosen_adapters {
  std::map<std::string, std::string> loaded;   // what has revealed the interface, by adapter
  std::map<std::string, std::string> skipped;  // the reason, by adapter, library or program
};
// Adds the variables that load them to `gained`, which may have those of other adapters: `named`. The observer always
// collects: the adapter of MPI then makes regions and collects nothing. Throws no error for a program or a
// library that is missing or damaged.
chosen_adapters choose_adapters(std::vector<std::pair<std::string, std::string>>& gained,
                                const std::vector<std::string>& named, const std::vector<std::string>& command);

}  // namespace adaptyst::tools

#endif
