#include "perf_sampler.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_processors = 4096;
constexpr std::size_t max_clocks = std::size_t{1} << 16;  // descriptors; beyond, threads are counted

// The kernel refuses other users than root from this value on; Debian's and Ubuntu's kernels have 3 and 4.
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
    if (header.size < sizeof header || header.size > head - tail) return;
    constexpr std::size_t after_id = sizeof(perf_event_header) + sizeof(std::uint64_t);
    if (header.type == PERF_RECORD_LOST && header.size >= after_id + sizeof(std::uint64_t))
      lost.ring_full += next.value<std::uint64_t>(after_id);
    else if (header.type == PERF_RECORD_THROTTLE) ++lost.throttled;
    else if (header.type == PERF_RECORD_SAMPLE && read_sample(next, header.size, sample)) visit(sample);
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

void perf_sampler::add(pid_t process, begin when) {
  if (!processes_.insert(process).second) return;
  if (when == begin::at_exec) {
    if (!add_thread(process, when)) refuse_samples(ESRCH);
    return;
  }
  std::error_code none;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), none), end;
  for (; !none && thread != end; thread.increment(none)) {
    const std::string name = thread->path().filename().string();
    pid_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc{}) continue;
    if (events_.size() >= max_clocks) ++unsampled_threads_;
    else add_thread(number, when);
  }
}

bool perf_sampler::add_thread(pid_t thread, begin when) {
  const auto present = static_cast<std::size_t>(std::max(sysconf(_SC_NPROCESSORS_CONF), 1L));
  const std::size_t processors = std::min(present, max_processors);
  const bool is_first = rings_.empty();
  rings_.resize(processors);
  const perf_event_attr clock = describe_cpu_clock(period_ns_, when);
  bool is_sampled = false;
  for (std::size_t processor = 0; processor != processors; ++processor) {
    std::unique_ptr<ring>& of = rings_[processor];
    if (of == nullptr && !is_first) continue;
    descriptor opened(open_cpu_clock(clock, thread, static_cast<int>(processor)));
    if (!opened && errno == ESRCH) return is_sampled;
    if (!opened && (errno == ENODEV || errno == ENXIO)) {  // the processor is offline
      if (is_first) ++unsampled_processors_;
      continue;
    }
    if (!opened) refuse_samples(errno);
    if (of == nullptr) of = std::make_unique<ring>(opened.get(), ring_pages_);
    else if (ioctl(opened.get(), PERF_EVENT_IOC_SET_OUTPUT, of->event) != 0) refuse_samples(errno);
    events_.push_back(std::move(opened));
    is_sampled = true;
  }
  return is_sampled;
}

void perf_sampler::read(const perf_records::taker& visit) {
  for (const std::unique_ptr<ring>& of : rings_) {
    if (of == nullptr) continue;
    auto& page = *static_cast<perf_event_mmap_page*>(of->mapped);
    const std::uint64_t head = __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
    const std::uint64_t tail = page.data_tail;  // only this process writes it
    if (head == tail) continue;
    perf_records::take(static_cast<const char*>(of->mapped) + of->page, of->bytes, tail, head, lost_, visit);
    __atomic_store_n(&page.data_tail, head, __ATOMIC_RELEASE);
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
