// Attaches to the probes of ELF files, to each file once, at the point selected by a trial on a function of this
// library.
#ifndef ADAPTYST_LIB_KERNEL_PROBE_LINKS_HPP
#define ADAPTYST_LIB_KERNEL_PROBE_LINKS_HPP

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attach_point.hpp"
#include "kernel_rows.hpp"
#include "probed_files.hpp"
#include "uprobe_link.hpp"

namespace adaptyst::lib {

class probe_links {
 public:
  // Loads the programs. `process`: its probes are attached; 0: those of all processes. `listed`: only processes named
  // by rows().add_process() are counted. `among_functions`: see kernel_rows. Throws error.
  probe_links(pid_t process, bool listed, bool among_functions);
  ~probe_links();
  probe_links(const probe_links&) = delete;
  probe_links& operator=(const probe_links&) = delete;

  // Finds the attach point: attaches to the file that contains this library, and keeps that link if the file must be
  // probed. Throws error.
  void start();
  // Attaches to a file, once; false: too late. Throws error, also if it has no probes. Thread-safe.
  bool attach(const std::string& file);
  // Detaches from all. Thread-safe.
  void stop();

  const kernel_rows& rows() const { return rows_; }
  std::string mechanism() const;
  double hit_ns() const { return hit_ns_; }  // cost of a hit

 private:
  bool find_point();
  bool try_point(attach_point point);
  std::string attach_file(const std::string& file, std::vector<uprobe_place> more, pid_t process);
  kernel_rows load();

  pid_t process_;
  bool listed_;
  bool among_functions_;
  bool multi_;
  std::optional<early_probe> early_;  // made before the programs are loaded
  kernel_rows rows_;
  std::mutex mutex_;  // for the members below: objects may be loaded on any thread
  std::vector<uprobe_link> links_;
  probed_files files_;
  bool stopped_ = false;
  attach_point point_ = attach_point::breakpoint;
  double hit_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
