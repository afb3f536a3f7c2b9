// Makes uprobe_multi links by the system call, since libbpf 1.1 lacks them, and perf events if the kernel lacks these
// links. A forked child closes its copies of the descriptors, which would keep the parent's probes attached.
#include "uprobe_link.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "../support/descriptor.hpp"
#include "../support/error.hpp"
#include "../support/threads.hpp"
#include "bpf_loading.hpp"

namespace adaptyst::lib {

namespace {

// Constants that Debian 12's headers lack, from the kernel's include/uapi/linux/bpf.h.
constexpr int link_create = 28;         // BPF_LINK_CREATE
constexpr std::uint32_t multi = 48;     // BPF_TRACE_UPROBE_MULTI
constexpr std::uint32_t session = 57;   // BPF_TRACE_UPROBE_SESSION
constexpr std::uint32_t at_return = 1;  // BPF_F_UPROBE_MULTI_RETURN

std::uint32_t attach_type(uprobe_moment moment) { return moment == uprobe_moment::session ? session : multi; }

struct multi_request {
  std::uint32_t program, target, attach_type, flags;
  std::uint64_t path, offsets, semaphore_offsets, cookies;
  std::uint32_t count, multi_flags, pid, pad;
};

int make_link(const multi_request& request) {
  return static_cast<int>(syscall(SYS_bpf, link_create, &request, sizeof request));
}

error cannot_attach(const std::string& file, int number) {
  const char* const why =
      number == not_supported_by_kernel ? ", because the kernel puts no probes on this instruction" : "";
  return error(fmt::format("cannot attach to the probes of {}{}", file, why), file, number,
               hint_on(number, "without, engine=inline measures the same", "engine=inline works without attaching"));
}

// Descriptors of all links. A child closes its copies immediately.
class open_links {
 public:
  static open_links& all() {
    static open_links* const links = new open_links;  // never destroyed: links may be as well
    return *links;
  }
  void add(int descriptor) {
    const std::lock_guard lock(mutex_);
    descriptors_.insert(descriptor);
  }
  // Opens a link while no child can be forked. Returns the result of `open()`: a descriptor, or a negative number.
  template <class Open>
  int open_link(const Open& open) {
    const change now(*this);
    const int descriptor = open();
    if (descriptor >= 0) add(descriptor);
    return descriptor;
  }
  // Closes a link while no child can be forked. Several threads may close links at once, because each close waits for the kernel.
  void close(int descriptor) {
    const change now(*this);
    {
      const std::lock_guard lock(mutex_);
      if (descriptors_.erase(descriptor) == 0) return;  // it belongs to the parent
    }
    ::close(descriptor);
  }

 private:
  // While one exists, fork() waits: the child would keep a descriptor that is not in the set.
  class change {
   public:
    explicit change(open_links& of) : of_(of) {
      const std::lock_guard lock(of_.mutex_);
      ++of_.changes_;
    }
    ~change() {
      const std::lock_guard lock(of_.mutex_);
      if (of_.changes_ != 0) --of_.changes_;  // this may be a child that a signal handler has forked
    }
    change(const change&) = delete;
    change& operator=(const change&) = delete;

   private:
    open_links& of_;
  };

  // Not without end: the thread with the change may not exist in a child of _Fork(), or may wait for the one that forks.
  void lock_without_changes() {
    constexpr timespec between_tries{0, 50'000};
    constexpr unsigned max_tries = 40'000;  // 2 to 4 s
    const int error_before = errno;
    unsigned tries = 0;
    for (mutex_.lock(); changes_ != 0 && ++tries != max_tries; mutex_.lock()) {
      mutex_.unlock();
      nanosleep(&between_tries, nullptr);
    }
    errno = error_before;
  }

  open_links() {
    pthread_atfork([] { all().lock_without_changes(); }, [] { all().mutex_.unlock(); },
                   [] {
                     for (const int descriptor : all().descriptors_) ::close(descriptor);
                     all().descriptors_.clear();
                     all().changes_ = 0;  // those of threads that are not here
                     all().mutex_.unlock();
                   });
  }

  std::mutex mutex_;
  std::set<int> descriptors_;
  unsigned changes_ = 0;
};

}  // namespace

void expect_multi(bpf_program* program, uprobe_moment moment) {
  bpf_program__set_expected_attach_type(program, static_cast<bpf_attach_type>(attach_type(moment)));
}

uprobe_link::uprobe_link(uprobe_link&& from) noexcept
    : descriptor_(std::exchange(from.descriptor_, -1)), events_(std::exchange(from.events_, {})), maker_(from.maker_) {}

uprobe_link& uprobe_link::operator=(uprobe_link&& from) noexcept {
  std::swap(descriptor_, from.descriptor_);
  std::swap(events_, from.events_);
  std::swap(maker_, from.maker_);
  return *this;
}

uprobe_link::~uprobe_link() {
  if (descriptor_ >= 0) open_links::all().close(descriptor_);
  for (bpf_link* event : events_) {
    if (maker_ != getpid()) bpf_link__disconnect(event);
    bpf_link__destroy(event);
  }
}

uprobe_link uprobe_link::attach_multi(bpf_program* program, const uprobe_file& file,
                                      const std::vector<uprobe_place>& places, pid_t process, uprobe_moment moment) {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> semaphores;
  std::vector<std::uint64_t> cookies;
  for (const uprobe_place& place : places) {
    offsets.push_back(place.offset);
    semaphores.push_back(place.semaphore_offset);
    cookies.push_back(place.cookie);
  }
  multi_request request{};
  request.program = static_cast<std::uint32_t>(bpf_program__fd(program));
  request.attach_type = attach_type(moment);
  request.path = reinterpret_cast<std::uint64_t>(file.path.c_str());
  request.offsets = reinterpret_cast<std::uint64_t>(offsets.data());
  request.semaphore_offsets = reinterpret_cast<std::uint64_t>(semaphores.data());
  request.cookies = reinterpret_cast<std::uint64_t>(cookies.data());
  request.count = static_cast<std::uint32_t>(places.size());
  request.multi_flags = moment == uprobe_moment::function_return ? at_return : 0;
  request.pid = static_cast<std::uint32_t>(process);
  uprobe_link made;
  made.descriptor_ = open_links::all().open_link([&] { return make_link(request); });
  if (made.descriptor_ < 0) throw cannot_attach(file.name, errno);
  return made;
}

uprobe_link uprobe_link::attach_tracepoint(bpf_program* program, const char* name) {
  uprobe_link made;
  made.descriptor_ =
      open_links::all().open_link([&] { return bpf_raw_tracepoint_open(name, bpf_program__fd(program)); });
  return made;
}

uprobe_link uprobe_link::attach_to_nothing() {
  const descriptor file(static_cast<int>(syscall(SYS_memfd_create, "adaptyst-probe", MFD_CLOEXEC)));
  constexpr bpf_insn code[] = {{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_KPROBE;
  load.expected_attach_type = static_cast<bpf_attach_type>(multi);
  load.insns = reinterpret_cast<std::uint64_t>(code);
  load.insn_cnt = std::size(code);
  load.license = reinterpret_cast<std::uint64_t>("GPL");
  const descriptor program(static_cast<int>(syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load)));
  if (!file || !program) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  constexpr std::uint64_t offset = 0;
  multi_request request{};
  request.program = static_cast<std::uint32_t>(program.get());
  request.attach_type = multi;
  request.path = reinterpret_cast<std::uint64_t>(path.c_str());
  request.offsets = reinterpret_cast<std::uint64_t>(&offset);
  request.count = 1;
  request.pid = static_cast<std::uint32_t>(getpid());
  uprobe_link made;
  made.descriptor_ = make_link(request);
  if (made.descriptor_ >= 0) open_links::all().add(made.descriptor_);
  return made;
}

uprobe_link uprobe_link::attach_perf(bpf_program* program, const uprobe_file& file,
                                     const std::vector<uprobe_place>& places) {
  uprobe_link made;
  made.maker_ = getpid();
  for (const uprobe_place& place : places) {
    bpf_uprobe_opts options{};
    options.sz = sizeof options;
    options.ref_ctr_offset = place.semaphore_offset;
    bpf_link* const event = bpf_program__attach_uprobe_opts(program, -1, file.path.c_str(), place.offset, &options);
    if (event == nullptr) throw cannot_attach(file.name, errno);
    made.events_.push_back(event);
  }
  return made;
}

struct early_probe::state {
  std::mutex mutex;
  std::condition_variable changes;
  bool is_attached = false;
  std::thread thread;
};

early_probe::early_probe() : process_(getpid()), state_(std::make_unique<state>()) {
  try {
    state_->thread = start_thread([&in = *state_] {
      uprobe_link made;
      try {
        made = uprobe_link::attach_to_nothing();
      } catch (const std::exception&) {  // no memory: the next probe waits
      }
      const std::lock_guard lock(in.mutex);
      in.is_attached = true;
      in.changes.notify_all();
    });
  } catch (const std::exception&) {  // no further thread, or no memory: the next probe waits
    state_->is_attached = true;
  }
}

early_probe::~early_probe() {
  if (process_ != getpid()) static_cast<void>(state_.release());  // this forked child has no such thread
  else if (state_->thread.joinable()) state_->thread.join();
}

void early_probe::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changes.wait(lock, [this] { return state_->is_attached; });
}

void detach(std::vector<uprobe_link> links) {
  std::vector<std::thread> closing;
  for (std::size_t at = 1; at < links.size(); ++at)
    closing.emplace_back([link = std::move(links[at])]() mutable { const uprobe_link gone = std::move(link); });
  links.clear();
  for (std::thread& thread : closing) thread.join();
}

}  // namespace adaptyst::lib
