// Requirements of eBPF and of the other parts of the collector. Only the trial decides. The other checks explain its
// failure, since a kernel returns the same EPERM for each missing requirement.
#include "doctor.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <adaptyst/detail/config.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

#include "../discover/process_objects.hpp"
#include "../discover/running_processes.hpp"
#include "../kernel/perf_sampler.hpp"
#include "../kernel/uprobe_multi.hpp"
#include "../recorder/clock_line.hpp"
#include "../symbolise/stack_unwinder.hpp"
#include "source.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

constexpr const char* see_permissions = "See docs/permissions.md";

std::optional<std::string> first_line(const char* file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<int> number_in(const char* file) {
  const std::optional<std::string> line = first_line(file);
  int value = 0;
  if (!line || std::from_chars(line->data(), line->data() + line->size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

std::string shown(const std::optional<int>& value) { return value ? std::to_string(*value) : "not there"; }

struct kernel_version {
  int major = 0, minor = 0;
  bool is_at_least(int a, int b) const { return major > a || (major == a && minor >= b); }
};

// Empty: /proc does not contain them.
std::optional<std::uint64_t> effective_capabilities() {
  std::ifstream status("/proc/self/status");
  constexpr std::string_view key = "CapEff:\t";
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    std::uint64_t set = 0;
    std::from_chars(line.data() + key.size(), line.data() + line.size(), set, 16);
    return set;
  }
  return std::nullopt;
}

class examination {
 public:
  diagnosis make() {
    add_engine();
    add_fast_point();
    add_kernel();
    add_multi();
    add_capability("CAP_BPF", CAP_BPF, true, "loading eBPF programs");
    add_capability("CAP_PERFMON", CAP_PERFMON, true, "attaching them to probes");
    add_capability("CAP_SYS_PTRACE", CAP_SYS_PTRACE, false, "the memory of programs that `run` has not started");
    add_unprivileged_bpf();
    add_paranoia();
    add_yama();
    add_unprivileged_samples();
    add_btf();
    add_locked_memory();
    add_mounted("/proc", PROC_SUPER_MAGIC, "finding markers and processes");
    add_mounted("/sys", SYSFS_MAGIC, "attaching, and BTF");
    add_clock();
    add_build();
    add_other_builds();
    return std::move(found_);
  }

 private:
  void add(const char* subject, verdict is, std::string found, const char* enables, std::string advice) {
    if (is == verdict::ok) advice.clear();
    found_.checks.push_back({subject, is, std::move(found), enables, std::move(advice)});
  }

  bool has(unsigned capability) const { return capabilities_ && (*capabilities_ >> capability & 1) != 0; }
  bool has_or_admin(unsigned capability) const { return has(capability) || has(CAP_SYS_ADMIN); }

  void add_engine() {
    found_.ebpf_works = trial_.works;
    add("engine ebpf", trial_.works ? verdict::ok : verdict::no, trial_.works ? trial_.mechanism : trial_.refusal,
        "profiles that survive the program, --functions", trial_.advice);
  }

  void add_fast_point() {
    constexpr const char* enables = "a hit at a fraction of a trap's cost";
#if defined(__x86_64__)
    if (!trial_.works) {
      const bool too_old = !version_.is_at_least(6, 18);
      add("fast attach point", too_old ? verdict::no : verdict::unknown, "untested, needs engine ebpf", enables,
          too_old ? "use Linux 6.18 or later" : "make engine ebpf work first");
      return;
    }
    const bool fast = trial_.mechanism.find("optimised") != std::string::npos;
    add("fast attach point", fast ? verdict::ok : verdict::no,
        fast ? "the kernel replaces a nop by a call" : "every hit is a breakpoint", enables,
        "use Linux 6.18 or later, without a seccomp filter on the uprobe system call");
#else
    add("fast attach point", verdict::no, "every hit is a breakpoint", enables, "nothing: only x86-64 has it");
#endif
  }

  void add_kernel() {
    add("kernel",
        version_.is_at_least(5, 12) ? verdict::ok
        : version_.major == 0       ? verdict::unknown
                                    : verdict::no,
        release_, "engine ebpf, from Linux 5.12 on", "use a later kernel, or engine=inline");
  }

  void add_multi() {
    constexpr const char* enables = "one link for a file, without CAP_SYS_ADMIN";
    const bool expected = lib::kernel_has_uprobe_multi();
    if (trial_.works) {
      const bool used = trial_.mechanism.find("uprobe_multi") != std::string::npos;
      add("uprobe_multi", used ? verdict::ok : verdict::no, used ? "in use" : "perf events are used instead", enables,
          "use Linux 6.10 or later");
    } else {
      add("uprobe_multi", expected ? verdict::unknown : verdict::no,
          expected ? "by its version the kernel has it" : "by its version the kernel lacks it", enables,
          expected ? "make engine ebpf work first" : "use Linux 6.10 or later");
    }
  }

  void add_capability(const char* name, unsigned number, bool admin_will_do, const char* enables) {
    const std::string advice = fmt::format("be root, or give it to the program with setcap. {}", see_permissions);
    if (!capabilities_)
      return add(name, verdict::unknown, "/proc/self/status does not contain it", enables, "mount /proc");
    if (has(number)) return add(name, verdict::ok, "effective", enables, "");
    if (admin_will_do && has(CAP_SYS_ADMIN)) return add(name, verdict::ok, "CAP_SYS_ADMIN includes it", enables, "");
    add(name, verdict::no, "not effective", enables, advice);
  }

  void add_unprivileged_bpf() {
    const std::optional<int> value = number_in("/proc/sys/kernel/unprivileged_bpf_disabled");
    const bool harmless = has_or_admin(CAP_BPF) || !value || *value == 0;
    add("kernel.unprivileged_bpf_disabled", harmless ? verdict::ok : verdict::no,
        shown(value) + (has_or_admin(CAP_BPF) ? ", which does not matter with CAP_BPF" : ""),
        "BPF without CAP_BPF, though not on probes", "leave it: CAP_BPF is needed with any value");
  }

  void add_paranoia() {
    const std::optional<int> value = number_in("/proc/sys/kernel/perf_event_paranoid");
    const bool multi = lib::kernel_has_uprobe_multi();
    const bool harmless = multi || has(CAP_SYS_ADMIN);
    add("kernel.perf_event_paranoid", harmless ? verdict::ok : verdict::no,
        shown(value) + (multi ? ", which does not matter with uprobe_multi" : ""), "perf events, before Linux 6.10",
        "have CAP_SYS_ADMIN, or use Linux 6.10 or later");
  }

  void add_yama() {
    const std::optional<int> value = number_in("/proc/sys/kernel/yama/ptrace_scope");
    const bool harmless = value.value_or(0) == 0 || (*value < 3 && has(CAP_SYS_PTRACE));
    const bool refuses_children = value.value_or(0) > 1;
    add("kernel.yama.ptrace_scope", harmless ? verdict::ok : verdict::no,
        shown(value) + (harmless && value.value_or(0) != 0 ? ", which does not matter with CAP_SYS_PTRACE" : ""),
        "--engine inline from outside, markers in `sites`",
        refuses_children ? "set it to 1 or 0, or collect in the program: ADAPTYST=engine=inline"
                         : "start programs with `adaptyst run`, have CAP_SYS_PTRACE, or set it to 0");
  }

  void add_unprivileged_samples() {
    const std::optional<error> refusal = lib::find_perf_refusal();
    add("perf_event_open", refusal ? verdict::no : verdict::ok,
        refusal ? refusal->summary() : "the kernel permits samples of own programs in user space",
        "stack samples without engine ebpf", refusal ? refusal->hint() : "");
    constexpr int small_rings_kib = 132;  // one observer's, with 4 KiB for each ring's head
    const std::optional<int> room = number_in("/proc/sys/kernel/perf_event_mlock_kb");
    add("kernel.perf_event_mlock_kb", room.value_or(0) >= small_rings_kib ? verdict::ok : verdict::no,
        shown(room) + ", for the rings of all observers of a user", "callers without frame pointers",
        fmt::format("set it to {} for each observer that runs at the same time", small_rings_kib));
    const bool has_libdw = lib::stack_unwinder::needed_registers() != 0;
    add("libdw", has_libdw ? verdict::ok : verdict::no, has_libdw ? "this build has it" : "this build lacks it",
        "callers without frame pointers", "install libdw (Debian: libdw-dev) and build again");
  }

  void add_btf() {
    constexpr const char* file = "/sys/kernel/btf/vmlinux";
    const bool readable = access(file, R_OK) == 0;
    add("BTF", readable ? verdict::ok : verdict::no,
        readable ? file : fmt::format("{}: {}", file, std::strerror(errno)), "--functions",
        "use a kernel with CONFIG_DEBUG_INFO_BTF");
  }

  void add_locked_memory() {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
    const bool by_cgroup = version_.is_at_least(5, 11);
    add("locked memory", unlimited || by_cgroup ? verdict::ok : verdict::no,
        (unlimited ? "unlimited" : fmt::format("{} KiB", limit.rlim_cur / 1024)) +
            (by_cgroup ? ", which does not matter from Linux 5.11 on" : ""),
        "memory for the kernel's rows", "ulimit -l unlimited");
  }

  void add_mounted(const char* where, long type, const char* enables) {
    struct statfs there {};
    const bool mounted = statfs(where, &there) == 0 && there.f_type == type;
    add(where, mounted ? verdict::ok : verdict::no, mounted ? "mounted" : "not mounted", enables,
        fmt::format("mount -t {0} {0} {1}", type == PROC_SUPER_MAGIC ? "proc" : "sysfs", where));
  }

  void add_clock() {
    const bool constant = lib::calibrate(lib::read_clock_pair()).ns_per_tick != 0;
    const std::optional<std::string> source =
        first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    add("constant counter", constant ? verdict::ok : verdict::no,
        fmt::format("the processor's counter {}; the kernel's clock is {}",
                    constant ? "runs at a constant rate" : "has no known constant rate", source.value_or("unknown")),
        "timestamps without a system call", "nothing: CLOCK_MONOTONIC is used, and markers cost more");
  }

  void add_build() {
    const std::string libbpf = lib::libbpf_version();
    add("this build", libbpf.empty() ? verdict::no : verdict::ok,
        fmt::format("adaptyst {}.{}.{} with {}", ADAPTYST_VERSION_MAJOR, ADAPTYST_VERSION_MINOR, ADAPTYST_VERSION_PATCH,
                    libbpf.empty() ? "inline, without libbpf" : "ebpf and inline, libbpf " + libbpf),
        "engine ebpf, --functions, stacks, --context", "build it where CMake finds libbpf, clang and bpftool");
  }

  void add_other_builds() {
    std::string found;
    for (const pid_t process : lib::running_processes()) {
      if (!lib::is_ours(process)) continue;
      for (const lib::foreign_object& object : lib::find_foreign_objects(process))
        found += fmt::format("{}process {}: {}", found.empty() ? "" : "; ", process, display_name(object));
    }
    add("other builds", found.empty() ? verdict::ok : verdict::no,
        found.empty() ? "no running process of yours has markers of another ABI version" : found,
        "markers that can be enabled", "build these with the headers of this version");
  }

  static std::string kernel_release() {
    utsname names{};
    return uname(&names) == 0 ? names.release : "";
  }
  static kernel_version parse_version(const std::string& release) {
    kernel_version read;
    if (std::sscanf(release.c_str(), "%d.%d", &read.major, &read.minor) != 2) return {};
    return read;
  }

  std::string release_ = kernel_release();
  kernel_version version_ = parse_version(release_);
  std::optional<std::uint64_t> capabilities_ = effective_capabilities();
  lib::ebpf_trial trial_ = lib::try_ebpf();
  diagnosis found_;
};

}  // namespace

diagnosis diagnose() { return examination().make(); }

}}  // namespace adaptyst::v1
