// Files whose probes are attached to, each once however many names it has.
#ifndef ADAPTYST_LIB_KERNEL_PROBED_FILES_HPP
#define ADAPTYST_LIB_KERNEL_PROBED_FILES_HPP

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../discover/elf_probes.hpp"
#include "../support/error.hpp"
#include "../support/regular_file.hpp"
#include "uprobe_link.hpp"

namespace adaptyst::lib {

class probed_files {
 public:
  // Calls attach(file, probes) unless that was done before for this very file. Its owner may replace the file at any
  // moment, so the file that is read is also the one that is probed. After an error, attach may be tried again: it may
  // work for another process. Throws error.
  template <class Attach>
  void once(const std::string& name, Attach&& attach) {
    const regular_file opened(name, "probes, which are to be observed",
                              "the file must still be where it was loaded from");
    struct stat identity {};
    if (fstat(opened.descriptor(), &identity) != 0)
      throw error(fmt::format("cannot look at {}", name), name, errno, "");
    if (!seen_.emplace(identity.st_dev, identity.st_ino).second) return;
    try {
      attach(uprobe_file{opened.path(), name}, find_elf_markers(opened.path()).probes);
    } catch (...) {
      seen_.erase({identity.st_dev, identity.st_ino});
      throw;
    }
  }
  void clear() { seen_.clear(); }

 private:
  std::set<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace adaptyst::lib

#endif
