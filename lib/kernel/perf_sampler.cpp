#include "perf_sampler.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <linux/version.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "../discover/machine.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_processors = 4096;
constexpr std::uint64_t format_lost = 1U << 4U;  // PERF_FORMAT_LOST of Linux 6.0, which older headers lack

// Descriptors for clocks; beyond, threads are counted. The observer needs others for its processes and files. The program
// needs most of them, if it samples itself.
std::size_t max_clocks(bool is_own_process) {
  constexpr rlim_t most = 1U << 16U, reserve = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return most / 2;
  if (is_own_process) return static_cast<std::size_t>(std::min(most, limit.rlim_cur) / 8);
  return static_cast<std::size_t>(std::min(most, limit.rlim_cur - std::min(reserve, limit.rlim_cur / 2)));
}

std::vector<std::uint32_t> find_processors() {
  std::ifstream file("/sys/devices/system/cpu/online");
  std::string line;
  std::getline(file, line);
  std::vector<std::uint32_t> all = parse_cpu_list(line);
  for (long at = 0; all.empty() && at < sysconf(_SC_NPROCESSORS_CONF); ++at)
    all.push_back(static_cast<std::uint32_t>(at));
  all.erase(std::remove_if(all.begin(), all.end(), [](std::uint32_t processor) { return processor >= max_processors; }),
            all.end());
  return all;
}

// The current value; -1: unknown. From 3 on, the kernel refuses users without CAP_PERFMON; Debian's and Ubuntu's kernels
// have 3 and 4.
int read_paranoid() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int value = -1;
  file >> value;
  return file ? value : -1;
}

[[noreturn]] void refuse_samples(int number) {
  std::string hint = "see docs/samples.md";
  if (const int paranoid = read_paranoid(); (number == EACCES || number == EPERM) && paranoid > 2)
    hint = fmt::format(
        "kernel.perf_event_paranoid is {}; 2 permits it: sysctl kernel.perf_event_paranoid=2; `adaptyst run "
        "--samples timer` samples without it",
        paranoid);
  else if (number == EACCES || number == EPERM)
    hint =
        "a container may forbid perf_event_open; `adaptyst run --samples timer` samples without it; see docs/samples.md";
  else if (number == EMFILE || number == ENFILE) hint = "raise the limit of open files: ulimit -n";
  throw error("cannot sample stacks with perf_event_open", number, hint);
}

struct clock_choice {
  std::uint64_t period_ns;
  perf_sampler::begin when;
  std::uint64_t registers;  // a mask; 0: frames
  std::size_t stack_bytes;
  bool counts_losses;
  bool leaves_out_children;
  bool includes_kernel;
};

perf_event_attr describe_cpu_clock(const clock_choice& chosen) {
  perf_event_attr made{};
  made.type = PERF_TYPE_SOFTWARE;
  made.size = sizeof made;
  made.config = PERF_COUNT_SW_CPU_CLOCK;
  made.sample_period = chosen.period_ns;
  made.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
  if (chosen.registers != 0) {
    made.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    made.exclude_callchain_user = 1;
    made.sample_regs_user = chosen.registers;
    made.sample_stack_user = static_cast<std::uint32_t>(chosen.stack_bytes);
  }
  if (chosen.counts_losses) made.read_format = format_lost;
  made.disabled = chosen.when == perf_sampler::begin::at_exec ? 1 : 0;
  made.enable_on_exec = made.disabled;
  made.inherit = 1;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 13, 0)
  made.inherit_thread = chosen.leaves_out_children ? 1 : 0;
#endif
  made.exclude_hv = 1;
  made.exclude_kernel = made.exclude_callchain_kernel = chosen.includes_kernel ? 0 : 1;
  made.use_clockid = 1;
  made.clockid = CLOCK_MONOTONIC;
  return made;
}

int open_cpu_clock(perf_event_attr attributes, pid_t thread, int processor) {
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, processor, -1,
                                  static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC)));
}

// A record of a ring, which may be in two parts.
class record {
 public:
  record(const char* ring, std::size_t bytes, std::uint64_t from) : ring_(ring), bytes_(bytes), from_(from) {}

  void copy(std::size_t offset, void* to, std::size_t count) const {
    if (count == 0) return;  // then `to` may be null
    const std::size_t begin = static_cast<std::size_t>(from_ + offset) & (bytes_ - 1);
    const std::size_t first = std::min(count, bytes_ - begin);
    std::memcpy(to, ring_ + begin, first);
    std::memcpy(static_cast<char*>(to) + first, ring_, count - first);
  }
  template <class T>
  T value(std::size_t offset) const {
    T made{};
    copy(offset, &made, sizeof made);
    return made;
  }

 private:
  const char* ring_;
  std::size_t bytes_;
  std::uint64_t from_;
};

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

// Moves `at` behind the frames. False: the record is damaged.
bool read_frames(const record& from, std::size_t& at, std::size_t bytes, perf_sample& to) {
  if (bytes - at < word_bytes) return false;
  const auto frames = from.value<std::uint64_t>(at);
  at += word_bytes;
  if (frames > (bytes - at) / word_bytes) return false;
  to.frames.resize(frames);
  from.copy(at, to.frames.data(), frames * word_bytes);
  at += frames * word_bytes;
  // Markers between the parts of a chain are no addresses.
  constexpr auto first_marker = static_cast<std::uint64_t>(PERF_CONTEXT_MAX);
  to.frames.erase(
      std::remove_if(to.frames.begin(), to.frames.end(), [](std::uint64_t address) { return address >= first_marker; }),
      to.frames.end());
  return true;
}

// False: the record is damaged.
bool read_stack(const record& from, std::size_t at, std::size_t bytes, std::size_t registers, perf_sample& to) {
  to.registers.clear();
  if (bytes - at < 2 * word_bytes) return false;
  const auto form = from.value<std::uint64_t>(at);
  at += word_bytes;
  if (form != PERF_SAMPLE_REGS_ABI_NONE) {
    if (bytes - at < (registers + 1) * word_bytes) return false;
    to.registers.resize(registers);
    from.copy(at, to.registers.data(), registers * word_bytes);
    at += registers * word_bytes;
  }
  if (form != PERF_SAMPLE_REGS_ABI_64) to.registers.clear();
  const auto reserved = from.value<std::uint64_t>(at);
  at += word_bytes;
  if (reserved == 0) to.stack.clear();
  if (reserved == 0) return true;
  if (reserved > bytes - at || bytes - at - reserved < word_bytes) return false;
  const auto copied = from.value<std::uint64_t>(at + reserved);
  if (copied > reserved) return false;
  to.stack.resize(copied);
  from.copy(at, to.stack.data(), copied);
  return true;
}

// False: the record is damaged.
bool read_sample(const record& from, std::size_t bytes, std::size_t registers, perf_sample& to) {
  constexpr std::size_t clock = 8, tid = 16, time = 24, frames = 32;
  if (bytes < frames) return false;
  to.clock = from.value<std::uint64_t>(clock);
  to.process = static_cast<pid_t>(from.value<std::uint32_t>(tid));
  to.thread = from.value<std::uint32_t>(tid + 4);
  to.time_ns = from.value<std::uint64_t>(time);
  std::size_t at = frames;
  return read_frames(from, at, bytes, to) && (registers == 0 || read_stack(from, at, bytes, registers, to));
}

std::size_t count_registers(std::uint64_t mask) {
  std::size_t number = 0;
  for (; mask != 0; mask &= mask - 1) ++number;
  return number;
}

}  // namespace

void perf_records::take(const char* ring, std::size_t bytes, std::uint64_t tail, std::uint64_t head,
                        std::size_t registers, perf_losses& lost, const taker& visit) {
  if (head - tail > bytes) tail = head;
  perf_sample sample;
  while (head - tail >= sizeof(perf_event_header)) {
    const record next(ring, bytes, tail);
    const auto header = next.value<perf_event_header>(0);
    if (header.size < sizeof header || header.size > head - tail) {
      ++lost.ring_full;  // at least one
      return;
    }
    constexpr std::size_t after_id = sizeof(perf_event_header) + sizeof(std::uint64_t);
    if (header.type == PERF_RECORD_LOST && header.size >= after_id + sizeof(std::uint64_t))
      lost.ring_full += next.value<std::uint64_t>(after_id);
    else if (header.type == PERF_RECORD_THROTTLE) ++lost.throttled;
    else if (header.type == PERF_RECORD_SAMPLE && !read_sample(next, header.size, registers, sample)) ++lost.ring_full;
    else if (header.type == PERF_RECORD_SAMPLE) visit(sample);
    tail += header.size;
  }
}

perf_sampler::ring::ring(int of, std::size_t pages, std::size_t min_bytes)
    : event(of), bytes(0), mapped(MAP_FAILED), page(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), maker(getpid()) {
  for (; pages != 0 && pages * page >= min_bytes && mapped == MAP_FAILED; pages /= 2) {
    mapped = mmap(nullptr, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, of, 0);
    if (mapped != MAP_FAILED) bytes = pages * page;
    else if (errno != EPERM && errno != ENOMEM) break;
  }
  if (mapped == MAP_FAILED)
    throw no_ring_room(min_bytes != 0 ? "no room for copies of stacks" : "cannot map a ring for stack samples", errno,
                       std::string("the rings of one user share kernel.perf_event_mlock_kb for each processor: end "
                                   "other observers, or raise it") +
                           (min_bytes != 0 ? "; or use stacks=frame-pointers" : ""));
}

// A forked child has no copy of a ring: there may be memory of its own.
perf_sampler::ring::~ring() {
  if (maker == getpid()) munmap(mapped, bytes + page);
}

void perf_sampler::copy_stacks(std::uint64_t registers, std::size_t ring_pages) {
  constexpr std::uint64_t kept_ns = 80'000'000, min_kept = 8;
  registers_ = registers;
  stack_bytes_ = min_stack_bytes;
  ring_pages_ = ring_pages;
  // How large a ring the kernel accepts is known once it has made one.
  descriptor trial = open_clock(getpid(), find_processors().front(), begin::at_exec);
  if (!trial) refuse_samples(errno);
  const std::size_t bytes = ring(trial.get(), ring_pages_, 2 * min_stack_bytes).bytes;
  const std::size_t kept = std::max(kept_ns / period_ns_, min_kept);
  stack_bytes_ = std::clamp(bytes / kept / 1024 * 1024, min_stack_bytes, max_stack_bytes);
}

// Undoes what failed halfway: the events after the first `keep`, and the rings that they began.
void perf_sampler::close_events(std::size_t keep) noexcept {
  for (std::unique_ptr<ring>& of : rings_) {
    const auto begun =
        std::find_if(clocks_.begin() + static_cast<std::ptrdiff_t>(keep), clocks_.end(),
                     [&](const clock& opened) { return of != nullptr && opened.event.get() == of->event; });
    if (begun != clocks_.end()) of.reset();
  }
  for (; clocks_.size() > keep; clocks_.pop_back()) opened_for_.erase(clocks_.back().number);
}

bool perf_sampler::add(pid_t process, begin when) {
  if (has(process)) return true;
  const std::size_t before = clocks_.size();
  try {
    if (add_threads(process, when) == 0) return false;
    processes_.insert(process);
    return true;
  } catch (const no_ring_room&) {
    close_events(before);
    if (!clocks_.empty() || stack_bytes_ <= min_stack_bytes) throw;
    stack_bytes_ = std::max(stack_bytes_ / 2 / 1024 * 1024, min_stack_bytes);
    return add(process, when);
  } catch (...) {
    close_events(before);
    throw;
  }
}

std::size_t perf_sampler::add_threads(pid_t process, begin when) {
  if (when == begin::at_exec) {
    if (!add_thread(process, when)) refuse_samples(errno);
    return 1;
  }
  constexpr int max_passes = 8;
  std::size_t added = 0;
  std::set<pid_t> tried;
  // A thread that is not sampled yet may start another one behind this list's back: until a pass finds no new one.
  bool is_new = true;
  for (int pass = 0; pass != max_passes && is_new; ++pass) {
    is_new = false;
    std::error_code none;
    std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), none), end;
    for (; !none && thread != end; thread.increment(none)) {
      const std::string name = thread->path().filename().string();
      pid_t number = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc{}) continue;
      if (!tried.insert(number).second) continue;
      is_new = true;
      if (add_thread(number, when)) ++added;
      else if (errno == EMFILE) ++unsampled_threads_;
    }
  }
  return added;
}

descriptor perf_sampler::open_clock(pid_t thread, std::uint32_t processor, begin when) {
  const auto open = [&] {
    const clock_choice chosen{period_ns_,      when, registers_, stack_bytes_, has_lost_counts_, leaves_out_children_,
                              includes_kernel_};
    return descriptor(open_cpu_clock(describe_cpu_clock(chosen), thread, static_cast<int>(processor)));
  };
  descriptor opened = open();
  // Linux before 6.0 knows no counts of losses, and before 5.13 it samples children too.
  for (bool* const is_known : {&has_lost_counts_, &leaves_out_children_}) {
    if (opened || errno != EINVAL) return opened;
    if (std::exchange(*is_known, false)) opened = open();
  }
  return opened;
}

bool perf_sampler::add_thread(pid_t thread, begin when) {
  const std::vector<std::uint32_t> processors = find_processors();
  const std::size_t before = clocks_.size();
  if (before + processors.size() > max_clocks(is_own_process_)) {
    errno = EMFILE;
    return false;
  }
  for (const std::uint32_t processor : processors) {
    descriptor opened = open_clock(thread, processor, when);
    if (!opened && (errno == ENODEV || errno == ENXIO)) continue;  // the processor has gone offline
    if (!opened && (errno == ESRCH || errno == EMFILE)) {
      const int why = errno;
      close_events(before);
      errno = why;
      return false;
    }
    if (!opened) refuse_samples(errno);
    if (rings_.size() <= processor) rings_.resize(processor + 1);
    std::unique_ptr<ring>& of = rings_[processor];
    std::uint64_t number = 0;
    if (ioctl(opened.get(), PERF_EVENT_IOC_ID, &number) != 0) refuse_samples(errno);
    clocks_.push_back({std::move(opened), number});
    opened_for_[number] = thread;
    const int event = clocks_.back().event.get();
    if (of == nullptr) of = std::make_unique<ring>(event, ring_pages_, 2 * stack_bytes_);
    else if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, of->event) != 0) refuse_samples(errno);
  }
  errno = ESRCH;
  return clocks_.size() != before;
}

// A thread that starts while its process is added may inherit the clocks of another and get its own. Both tick with the
// same period of its CPU time, so their samples alternate. No clock is disabled: threads that have inherited it would
// lose theirs. If the taken clock ends, because a new thread has the number of an ended one, the other clock is taken.
bool perf_sampler::is_of_taken_clock(const perf_sample& sample) {
  constexpr std::size_t max_threads = std::size_t{1} << 16;
  constexpr unsigned max_others = 4;  // one processor's ring is read after another's: two in a row are no sign
  const auto clock = opened_for_.find(sample.clock);
  if (clock == opened_for_.end()) return false;
  if (taken_.size() == max_threads && taken_.count(sample.thread) == 0) taken_.clear();
  taken_clock& of = taken_.try_emplace(sample.thread, taken_clock{clock->second, 0}).first->second;
  if (of.opened_for != clock->second && ++of.others < max_others) return false;
  of = {clock->second, 0};
  return true;
}

void perf_sampler::count_losses() noexcept {
  if (!has_lost_counts_ || clocks_.empty()) return;
  std::uint64_t sum = 0;
  for (const clock& opened : clocks_) {
    std::uint64_t values[2] = {};  // its time, and its lost samples with those of threads that inherited it
    if (::read(opened.event.get(), values, sizeof values) == static_cast<ssize_t>(sizeof values)) sum += values[1];
  }
  lost_.ring_full = std::max(lost_.ring_full, sum);
}

void perf_sampler::stop() noexcept {
  // While a ring is mapped, closing alone does not end its events in all threads.
  for (const clock& opened : clocks_) ioctl(opened.event.get(), PERF_EVENT_IOC_DISABLE, 0);
  count_losses();
  clocks_.clear();
}

std::uint64_t perf_sampler::fill_ns() const noexcept {
  constexpr std::size_t fixed = sizeof(perf_event_header) + 4 * word_bytes;  // clock, thread, time, number of frames
  constexpr std::size_t max_frames = 127, markers = 2;                       // of the kernel's chains
  const std::size_t frames = registers_ == 0 || includes_kernel_ ? (max_frames + markers) * word_bytes : 0;
  const std::size_t copy = registers_ == 0 ? 0 : (count_registers(registers_) + 3) * word_bytes + stack_bytes_;
  const std::size_t record = fixed + frames + copy;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (const std::unique_ptr<ring>& of : rings_)
    if (of != nullptr) shortest = std::min(shortest, of->bytes / record * period_ns_);
  return shortest;
}

void perf_sampler::read(const perf_records::taker& visit) {
  for (const std::unique_ptr<ring>& of : rings_) {
    if (of == nullptr) continue;
    auto& page = *static_cast<perf_event_mmap_page*>(of->mapped);
    const std::uint64_t head = __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
    const std::uint64_t tail = page.data_tail;  // only this process writes it
    if (head == tail) continue;
    // Also after an exception: a sample is visited once.
    struct release {
      perf_event_mmap_page& page;
      std::uint64_t head;
      ~release() { __atomic_store_n(&page.data_tail, head, __ATOMIC_RELEASE); }
    } const released{page, head};
    perf_records::take(static_cast<const char*>(of->mapped) + of->page, of->bytes, tail, head,
                       count_registers(registers_), lost_, [&](perf_sample& sample) {
                         if (is_of_taken_clock(sample)) visit(sample);
                       });
  }
}

std::optional<error> find_perf_refusal() {
  try {
    constexpr std::uint64_t second_ns = 1'000'000'000;
    perf_sampler(second_ns, 1).add(getpid(), perf_sampler::begin::at_exec);
    return std::nullopt;
  } catch (const std::exception& failed) {
    return to_error(failed);
  }
}

}  // namespace adaptyst::lib
