// The BPF programs that sum what probes report, and the rows that they keep in the kernel.
#ifndef ADAPTYST_LIB_KERNEL_KERNEL_ROWS_HPP
#define ADAPTYST_LIB_KERNEL_KERNEL_ROWS_HPP

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "../../probes/kernel_layout.h"
#include "../model/measured.hpp"
#include "../model/ranks.hpp"
#include "bpf_loading.hpp"
#include "process_filter.hpp"
#include "uprobe_link.hpp"

struct region_bpf;

namespace adaptyst::lib {

class kernel_rows {
 public:
  // `multi`: to be attached by uprobe_multi links. `among_functions`: regions may stand below functions that carry no
  // markers, see function_probes. Throws error.
  kernel_rows(bool multi, process_filter filter, bool among_functions);
  kernel_rows(kernel_rows&&) noexcept;
  kernel_rows& operator=(kernel_rows&&) noexcept;
  ~kernel_rows();

  // Attaches the program of region_end. `process`: 0 for all. Throws error.
  uprobe_link attach(const uprobe_file& file, const std::vector<uprobe_place>& places, pid_t process) const;

  // Lists a process, or takes it off the list.
  void add_process(pid_t process, const adaptyst_kernel_process& known) const;
  void remove_process(pid_t process) const;

  // All rows, what is known of their paths, and what was lost in the kernel. `groups`: see read_summed_rows().
  measured read(rank_times* groups = nullptr) const;
  void forget(std::uint64_t path) const;

  // For the BPF programs that observe functions: the filter of processes, and two maps that are shared.
  const adaptyst_kernel_filter& filter() const;
  int processes() const;
  int function_stacks() const;

 private:
  bool multi_;
  owned_programs<region_bpf> programs_;
};

}  // namespace adaptyst::lib

#endif
