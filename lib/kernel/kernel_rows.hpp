// The BPF programs that sum the events of probes, and their rows in the kernel.
#ifndef ADAPTYST_LIB_KERNEL_KERNEL_ROWS_HPP
#define ADAPTYST_LIB_KERNEL_KERNEL_ROWS_HPP

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "../../probes/kernel_layout.h"
#include "../model/measurements.hpp"
#include "../model/ranks.hpp"
#include "bpf_loading.hpp"
#include "process_filter.hpp"
#include "uprobe_link.hpp"

struct region_bpf;

namespace adaptyst::lib {

class kernel_rows {
 public:
  // `multi`: for attachment by uprobe_multi links. `among_functions`: regions may be nested in functions without
  // markers, see function_probes. Throws error.
  kernel_rows(bool multi, process_filter filter, bool among_functions);
  kernel_rows(kernel_rows&&) noexcept;
  kernel_rows& operator=(kernel_rows&&) noexcept;
  ~kernel_rows();

  // Attaches the program of region_end. `process`: 0 for all. Throws error.
  uprobe_link attach(const uprobe_file& file, const std::vector<uprobe_place>& places, pid_t process) const;

  // Adds a process to the list, or removes it.
  void add_process(pid_t process, const adaptyst_kernel_process& identity) const;
  void remove_process(pid_t process) const;

  // All rows, the names of their paths, and the kernel's losses. `groups`: see read_summed_rows().
  measurements read(rank_times* groups = nullptr) const;
  // Removes the row of a path outside the groups, and returns its events; faster if they are as `expected`. Throws
  // error.
  std::uint64_t take(std::uint64_t path, std::uint64_t expected) const;

  // For the BPF programs that observe functions: the filter of processes, and two shared maps.
  const adaptyst_kernel_filter& filter() const;
  int processes() const;
  int function_stacks() const;

 private:
  bool multi_;
  owned_programs<region_bpf> programs_;
};

}  // namespace adaptyst::lib

#endif
