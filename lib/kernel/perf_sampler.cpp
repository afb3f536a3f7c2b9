#include "perf_sampler.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
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

// Descriptors for clocks; beyond, threads are counted. The observer needs others for its processes and files.
std::size_t max_clocks() {
  constexpr rlim_t most = 1U << 16U, reserve = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return most / 2;
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
    hint = fmt::format("kernel.perf_event_paranoid is {}; 2 permits it: sysctl kernel.perf_event_paranoid=2", paranoid);
  else if (number == EACCES || number == EPERM) hint = "a container may forbid perf_event_open; see docs/samples.md";
  else if (number == EMFILE || number == ENFILE) hint = "raise the limit of open files: ulimit -n";
  throw error("cannot sample stacks with perf_event_open", number, hint);
}

perf_event_attr describe_cpu_clock(std::uint64_t period_ns, perf_sampler::begin when) {
  perf_event_attr made{};
  made.type = PERF_TYPE_SOFTWARE;
  made.size = sizeof made;
  made.config = PERF_COUNT_SW_CPU_CLOCK;
  made.sample_period = period_ns;
  made.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
  made.disabled = when == perf_sampler::begin::at_exec ? 1 : 0;
  made.enable_on_exec = made.disabled;
  made.inherit = 1;
  made.exclude_kernel = made.exclude_hv = made.exclude_callchain_kernel = 1;
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

// False: the record is damaged.
bool read_sample(const record& from, std::size_t bytes, perf_sample& to) {
  constexpr std::size_t tid = 8, time = 16, count = 24, addresses = 32;
  if (bytes < addresses) return false;
  const auto frames = from.value<std::uint64_t>(count);
  if (frames > (bytes - addresses) / sizeof(std::uint64_t)) return false;
  to.process = static_cast<pid_t>(from.value<std::uint32_t>(tid));
  to.thread = from.value<std::uint32_t>(tid + 4);
  to.time_ns = from.value<std::uint64_t>(time);
  to.frames.resize(frames);
  from.copy(addresses, to.frames.data(), frames * sizeof(std::uint64_t));
  // Markers between the parts of a chain are no addresses.
  constexpr auto first_marker = static_cast<std::uint64_t>(PERF_CONTEXT_MAX);
  to.frames.erase(
      std::remove_if(to.frames.begin(), to.frames.end(), [](std::uint64_t address) { return address >= first_marker; }),
      to.frames.end());
  return true;
}

}  // namespace

void perf_records::take(const char* ring, std::size_t bytes, std::uint64_t tail, std::uint64_t head, perf_losses& lost,
                        const taker& visit) {
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
    else if (header.type == PERF_RECORD_SAMPLE && !read_sample(next, header.size, sample)) ++lost.ring_full;
    else if (header.type == PERF_RECORD_SAMPLE) visit(sample);
    tail += header.size;
  }
}

perf_sampler::ring::ring(int of, std::size_t pages)
    : event(of), bytes(0), mapped(MAP_FAILED), page(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  for (; pages != 0 && mapped == MAP_FAILED; pages /= 2) {
    mapped = mmap(nullptr, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, of, 0);
    if (mapped != MAP_FAILED) bytes = pages * page;
    else if (errno != EPERM && errno != ENOMEM) break;
  }
  if (mapped == MAP_FAILED)
    throw error("cannot map a ring for stack samples", errno,
                "the rings of one user share kernel.perf_event_mlock_kb for each processor: end other observers, or "
                "raise it");
}

perf_sampler::ring::~ring() { munmap(mapped, bytes + page); }

// Undoes what failed halfway: the events after the first `keep`, and the rings that they began.
void perf_sampler::close_events(std::size_t keep) noexcept {
  for (std::unique_ptr<ring>& of : rings_) {
    const auto begun = std::find_if(events_.begin() + static_cast<std::ptrdiff_t>(keep), events_.end(),
                                    [&](const descriptor& event) { return of != nullptr && event.get() == of->event; });
    if (begun != events_.end()) of.reset();
  }
  while (events_.size() > keep) events_.pop_back();
}

bool perf_sampler::add(pid_t process, begin when) {
  if (processes_.count(process) != 0) return true;
  const std::size_t before = events_.size();
  try {
    if (add_threads(process, when) == 0) return false;
    processes_.insert(process);
    return true;
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
  std::size_t added = 0;
  std::error_code none;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), none), end;
  for (; !none && thread != end; thread.increment(none)) {
    const std::string name = thread->path().filename().string();
    pid_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc{}) continue;
    if (add_thread(number, when)) ++added;
    else if (errno == EMFILE) ++unsampled_threads_;
  }
  return added;
}

bool perf_sampler::add_thread(pid_t thread, begin when) {
  const perf_event_attr clock = describe_cpu_clock(period_ns_, when);
  const std::vector<std::uint32_t> processors = find_processors();
  const std::size_t before = events_.size();
  if (before + processors.size() > max_clocks()) {
    errno = EMFILE;
    return false;
  }
  for (const std::uint32_t processor : processors) {
    descriptor opened(open_cpu_clock(clock, thread, static_cast<int>(processor)));
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
    events_.push_back(std::move(opened));
    if (of == nullptr) of = std::make_unique<ring>(events_.back().get(), ring_pages_);
    else if (ioctl(events_.back().get(), PERF_EVENT_IOC_SET_OUTPUT, of->event) != 0) refuse_samples(errno);
  }
  errno = ESRCH;
  return events_.size() != before;
}

void perf_sampler::stop() noexcept {
  // While a ring is mapped, closing alone does not end its events in all threads.
  for (const descriptor& event : events_) ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0);
  events_.clear();
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
    perf_records::take(static_cast<const char*>(of->mapped) + of->page, of->bytes, tail, head, lost_, visit);
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
