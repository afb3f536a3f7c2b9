// One attachment of a BPF program to places in a file, or to a tracepoint.
#ifndef ADAPTYST_LIB_KERNEL_UPROBE_LINK_HPP
#define ADAPTYST_LIB_KERNEL_UPROBE_LINK_HPP

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct bpf_link;
struct bpf_program;

namespace adaptyst::lib {

// Probes the file to which `path` leads at that moment; messages use `name`.
struct uprobe_file {
  uprobe_file(const std::string& file) : path(file), name(file) {}
  uprobe_file(const char* file) : path(file), name(file) {}
  uprobe_file(std::string leads_there, std::string called) : path(std::move(leads_there)), name(std::move(called)) {}

  std::string path, name;
};

struct uprobe_place {
  std::uint64_t offset;            // of the instruction, in the file
  std::uint64_t semaphore_offset;  // in the file; 0: none
  std::uint64_t cookie = 0;        // the result of bpf_get_attach_cookie() in the program
};

// The place of a link's program. A session runs it at the entry of a function and, if it returned 0, at its return.
enum class uprobe_moment { instruction, function_return, session };

// Call it before the program is loaded, if attach_multi() will attach the program.
void expect_multi(bpf_program* program, uprobe_moment moment = uprobe_moment::instruction);

// Detaches when destroyed. Detaching waits for a grace period of the kernel, about 30 ms. In a forked child the link is
// empty: a copy would keep the parent's probes attached.
class uprobe_link {
 public:
  uprobe_link() = default;
  uprobe_link(uprobe_link&& from) noexcept;
  uprobe_link& operator=(uprobe_link&& from) noexcept;
  ~uprobe_link();
  bool is_attached() const noexcept { return descriptor_ >= 0 || !events_.empty(); }

  // One uprobe_multi link, for one process or, with 0, for all: needs CAP_BPF and CAP_PERFMON. Throws error.
  static uprobe_link attach_multi(bpf_program* program, const uprobe_file& file,
                                  const std::vector<uprobe_place>& places, pid_t process,
                                  uprobe_moment moment = uprobe_moment::instruction);

  // A perf event for each place and every process: needs CAP_SYS_ADMIN; detaching takes 0.1 s a place. Throws error.
  static uprobe_link attach_perf(bpf_program* program, const uprobe_file& file,
                                 const std::vector<uprobe_place>& places);

  // A raw tracepoint of the kernel. Detaching does not wait. An empty link, with the reason in errno, if the kernel refuses.
  static uprobe_link attach_tracepoint(bpf_program* program, const char* name);

  // An empty program, and a file that no process has mapped; an empty link if the kernel refuses.
  static uprobe_link attach_to_nothing();

 private:
  int descriptor_ = -1;
  std::vector<bpf_link*> events_;
  pid_t maker_ = 0;
};

// Makes the next probe quicker. Before Linux writes a probe into memory, it waits for a grace period, about 11 ms, to
// exclude forks; further probes within some milliseconds do not wait. While the caller loads programs, a thread
// attaches an empty program where no process has code, and then detaches it, which takes 20 ms more. Only for
// uprobe_multi links.
class early_probe {
 public:
  early_probe();
  ~early_probe();  // waits until it is detached
  early_probe(const early_probe&) = delete;
  early_probe& operator=(const early_probe&) = delete;

  // Waits until it is attached, or the kernel has refused: then the next probe waits, or fails with the reason.
  void wait();

 private:
  struct state;
  pid_t process_;
  std::unique_ptr<state> state_;
};

// Detaches all at once, so that their grace periods overlap.
void detach(std::vector<uprobe_link> links);

}  // namespace adaptyst::lib

#endif
