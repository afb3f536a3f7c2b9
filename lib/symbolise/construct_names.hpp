// Replaces the addresses in names that adapters give to constructs (<adaptyst/adapter/code_name.hpp>) by functions and
// lines: "solve solver.cc:2240 parallel"; without debugging information "solve+0x4f parallel".
//
//   construct_names names;
//   names.expect(pid, "/usr/lib/libadaptyst-ompt.so"); // it has loaded an adapter
//   names.note_mappings(pid);                               // again while it runs
//   names.spell(profile);
#ifndef ADAPTYST_LIB_SYMBOLISE_CONSTRUCT_NAMES_HPP
#define ADAPTYST_LIB_SYMBOLISE_CONSTRUCT_NAMES_HPP

#include <sys/types.h>

#include <adaptyst/profile.hpp>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "symboliser.hpp"

namespace adaptyst::lib {

// Thread-safe: timelines are written while other threads read.
class construct_names {
 public:
  // Call it when a process has loaded a file. If the file is an adapter, names are replaced from now on.
  void expect(pid_t process, const std::string& file);
  bool are_expected();
  // Reads the code that the process has mapped, if it has an adapter and its mappings have changed.
  void note_mappings(pid_t process);

  // Returns the name unchanged if it is a name of another kind, or if the file has no symbol for it.
  std::string spelled(const std::string& name);
  // Replaces names in all paths of regions and in the call sites of constructs.
  void spell(profile& in);

 private:
  struct spelled_name {
    std::string name;
    source_location site;  // empty: unknown
  };
  void note_again(pid_t process, std::uint64_t& state);
  const spelled_name& find(const std::string& name);
  void spell(std::vector<std::string>& path);

  std::mutex mutex_;
  symboliser code_;
  std::map<pid_t, std::uint64_t> noted_;  // of processes with adapters; see read_file_state()
  std::unordered_map<std::string, spelled_name> names_;
};

}  // namespace adaptyst::lib

#endif
