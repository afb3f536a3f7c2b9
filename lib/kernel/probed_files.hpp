// The files with attached probes: each once, for any number of names.
#ifndef ADAPTYST_LIB_KERNEL_PROBED_FILES_HPP
#define ADAPTYST_LIB_KERNEL_PROBED_FILES_HPP

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../discover/elf_probes.hpp"
#include "../support/regular_file.hpp"
#include "uprobe_link.hpp"

namespace adaptyst::lib {

class probed_files {
 public:
  // Calls attach(file, probes) once for the file to which `name` now leads. Another process may replace the file under
  // that name at any moment, so the file is held open: the same file is read and attached to. A file for which attach
  // throws is not remembered: attaching may work for another process. Returns why the file has no probes; empty if it
  // has probes. Throws error.
  template <class Attach>
  std::string once(const std::string& name, Attach&& attach) {
    const regular_file opened(name, "probes", "the file must still be where it was loaded from");
    const auto [entry, is_new] = attached_.try_emplace(opened.identity());
    if (!is_new) return entry->second;
    try {
      elf_markers markers = find_elf_markers(opened.path(), name);
      attach(uprobe_file{opened.path(), name}, markers.probes);
      return entry->second = std::move(markers.no_probes_because);
    } catch (...) {
      attached_.erase(entry);
      throw;
    }
  }
  // Forgets all files without detaching, so that once() attaches to them again.
  void clear() { attached_.clear(); }

 private:
  std::map<std::pair<dev_t, ino_t>, std::string> attached_;  // an inode has one number and perhaps many names
};

}  // namespace adaptyst::lib

#endif
