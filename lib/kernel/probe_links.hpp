// Attaches to the probes of ELF files: at the point that a trial on a function of our own has shown to be good, and to
// each file once.
#ifndef ADAPTYST_LIB_KERNEL_PROBE_LINKS_HPP
#define ADAPTYST_LIB_KERNEL_PROBE_LINKS_HPP

#include <sys/types.h>

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel_rows.hpp"
#include "probed_files.hpp"
#include "uprobe_link.hpp"

namespace adaptyst::lib {

class probe_links {
 public:
  // Loads the programs. `process`: the one whose probes are attached; 0: all processes. `listed`: only the processes
  // that rows().add_process() has named are counted. `among_functions`: see kernel_rows. Throws error.
  probe_links(pid_t process, bool listed, bool among_functions);
  ~probe_links();
  probe_links(const probe_links&) = delete;
  probe_links& operator=(const probe_links&) = delete;

  // Finds the point to attach to. For that, it attaches to the file that holds this library, and keeps that link if the
  // file is to be probed. Throws error.
  void start();
  // Attaches to a file, if that has not been done; false: too late. Throws error, also if it has no probes. Thread-safe.
  bool attach(const std::string& file);
  // Detaches from all. Thread-safe.
  void stop();

  const kernel_rows& rows() const { return rows_; }
  std::string mechanism() const;
  double hit_ns() const { return hit_ns_; }  // what a hit costs

 private:
  bool try_point(unsigned point);
  std::string attach_file(const std::string& file, std::vector<uprobe_place> more, pid_t process);
  kernel_rows load() const;

  pid_t process_;
  bool listed_;
  bool among_functions_;
  bool multi_;
  kernel_rows rows_;
  std::mutex mutex_;  // of what follows: objects may be loaded on any thread
  std::vector<uprobe_link> links_;
  probed_files files_;
  bool stopped_ = false;
  unsigned point_ = 0;
  bool optimised_ = false;
  double hit_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
