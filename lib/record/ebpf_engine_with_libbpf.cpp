// Probes caught and summed in the kernel.
//
// The life of this engine: load the programs; attach to the ELF file that holds this library, together with a function
// of our own on which is tried whether the fast attach point leaves the program's state alone; then one link for each
// other ELF file with markers.
#include <adaptyst/region.hpp>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <set>
#include <utility>

#include "../../probes/record.h"
#include "../discover/elf_probes.hpp"
#include "../discover/loaded_objects.hpp"
#include "../error.hpp"
#include "attach_point.hpp"
#include "engine.hpp"
#include "recorder_reader.hpp"
#include "region.skel.h"
#include "stopwatch.hpp"
#include "uprobe_link.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t trial_path = 0x7472'6961'6c00'0001;
constexpr unsigned trial_hits = 100;  // a round

int discard_message(enum libbpf_print_level, const char*, va_list) { return 0; }

struct skeleton_closer {
  void operator()(region_bpf* loaded) const { region_bpf__destroy(loaded); }
};
using skeleton = std::unique_ptr<region_bpf, skeleton_closer>;

[[noreturn]] void fail_to_load(int number) {
  throw error(
      "cannot load the eBPF programs", number,
      number == EPERM || number == EACCES
          ? "needs CAP_BPF and CAP_PERFMON, or root; without, engine=inline measures the same. See docs/permissions.md"
          : "engine=inline works without eBPF");
}

// Whom to listen to where the link cannot tell: this process, as its own PID namespace numbers it.
adaptyst_kernel_filter this_process() {
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) != 0)
    throw error("cannot find the PID namespace in /proc/self/ns/pid", errno, "mount /proc");
  return {space.st_dev, space.st_ino, static_cast<std::uint32_t>(getpid()), 0};
}

skeleton load(bool multi) {
  libbpf_set_print(discard_message);
  skeleton loaded(region_bpf__open());
  if (loaded == nullptr) fail_to_load(errno);
  if (multi) expect_multi(loaded->progs.region_end);
  else loaded->rodata->filter = this_process();
  bpf_program__set_autoload(loaded->progs.empty, false);
  if (const int failed = region_bpf__load(loaded.get()); failed != 0) fail_to_load(-failed);
  return loaded;
}

// A program that forks would keep our links alive after we close them: the child closes its copies.
std::vector<uprobe_link>* links_of_this_process = nullptr;
void close_links_in_child() {
  if (links_of_this_process != nullptr) links_of_this_process->clear();
}

class ebpf_engine final : public engine {
 public:
  explicit ebpf_engine(detail::process& in) : in_(in), multi_(kernel_has_uprobe_multi()), skeleton_(load(multi_)) {
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, close_links_in_child); });
    links_of_this_process = &links_;
  }
  ~ebpf_engine() override {
    stop();
    links_of_this_process = nullptr;
  }

  std::string name() const override { return "ebpf"; }
  std::string mechanism() const override {
    return fmt::format("{}, {}", multi_ ? "uprobe_multi" : "perf uprobes",
                       optimised_ ? "nop5 optimised" : "breakpoint");
  }
  double region_cost_ns() const override { return marker_ns_ + hit_ns_; }

  void calibrate() override {
    detail::fetch_add(adaptyst_object_v1.event, 1);  // awake, and nothing else
    marker_ns_ = median_step_ns(200, [] { ADAPTYST_REGION("adaptyst calibration"); });
    detail::fetch_add(adaptyst_object_v1.event, -1);
  }

  void start() override {
    const auto self = static_cast<std::uint32_t>(getpid());
    if (in_.traced_process != 0 && in_.traced_process != self)
      throw error("cannot use probes in a process that was forked from one under observation", 0,
                  "its code holds the parent's probes; engine=inline does not need any");
    in_.traced_process = self;
    try {
      find_point_and_attach();
    } catch (const error& failed) {
      // A kernel that is not what its version says.
      if (!multi_ || (failed.number() != EINVAL && failed.number() != EOPNOTSUPP)) throw;
      detach(std::exchange(links_, {}));
      files_.clear();
      multi_ = false;
      skeleton_ = load(multi_);
      find_point_and_attach();
    }
  }

  void adopt_objects() override {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    detail::for_each_object([this](adaptyst_object& object, const detail::loaded_object&) {
      detail::store_release(object.process, reinterpret_cast<std::uint64_t>(&in_));
      return true;
    });
    for (const std::string& file : files_with_markers()) {
      try {
        attach_file(file, {});
      } catch (const error& failed) {  // the others can be observed all the same
        print(failed.what());
      }
    }
  }

  measured read() override {
    // What had ended before the kernel's rows are read must be in them, but for those that are on their way.
    const std::uint64_t ended_before = read_recorders(state()).accounting.ended;
    const timespec on_their_way{0, 200'000};
    nanosleep(&on_their_way, nullptr);
    measured kernel = read_kernel();
    measured program = read_recorders(state());

    std::uint64_t counted = 0;
    for (auto& [id, row] : kernel.rows) counted += row.count;
    for (auto& [id, row] : program.rows) {
      const auto path = program.paths.find(id);
      const auto site = path != program.paths.end() ? program.sites.find(path->second.site) : program.sites.end();
      if (site != program.sites.end() && is_instant(site->second.kind)) {
        counted += row.count;
        kernel.rows[id] = std::move(row);
      } else if (const auto same = kernel.rows.find(id); same != kernel.rows.end()) {
        // The kernel cannot add floating-point numbers, and does not know who our threads are.
        same->second.threads = row.threads;
        same->second.attributes = std::move(row.attributes);
        for (attribute& one : same->second.attributes) one.count = same->second.count;
      }
    }
    kernel.paths.insert(program.paths.begin(), program.paths.end());
    kernel.sites.merge(program.sites);
    for (const auto& [id, site] : kernel.sites)
      if (site.attributes.empty())
        if (const auto same = program.sites.find(id); same != program.sites.end())
          kernel.sites[id].attributes = same->second.attributes;

    account& sum = program.accounting;
    std::uint64_t lost_in_kernel = 0;
    for (const auto& [reason, count] : kernel.accounting.lost) {
      sum.lost[reason] += count;
      lost_in_kernel += count;
    }
    // Hits that the kernel never delivered show as the difference of two independent counts.
    const std::uint64_t accounted = counted + lost_in_kernel;
    const std::uint64_t undelivered = ended_before > accounted ? ended_before - accounted : 0;
    if (undelivered != 0) sum.lost["not_delivered"] += undelivered;
    const std::uint64_t since = sum.ended - std::min(sum.ended, accounted + undelivered);
    sum.open += since;
    sum.ended = counted;
    sum.unnamed = kernel.accounting.unnamed;
    kernel.accounting = sum;
    return kernel;
  }

  void stop() override {
    std::vector<uprobe_link> links;
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      links.swap(links_);
    }
    detach(std::move(links));
    if (in_.traced_process == static_cast<std::uint32_t>(getpid())) in_.traced_process = 0;
  }

 private:
  static constexpr unsigned safe_point = 0;  // the 1-byte nop
  static constexpr unsigned fast_point = 1;  // the 5-byte nop behind it

  process_state state() const { return own_state(reinterpret_cast<std::uint64_t>(&in_)); }

  uprobe_link attach(const std::string& file, const std::vector<uprobe_place>& places) {
    return multi_ ? uprobe_link::attach_multi(skeleton_->progs.region_end, file, places)
                  : uprobe_link::attach_perf(skeleton_->progs.region_end, file, places);
  }

  void find_point_and_attach() {
    const trial_site site = find_trial_site();
    for (const unsigned point : {fast_point, safe_point}) {
      point_ = point;
      attach_file(site.file, {{site.offset + point, 0}});
      const trial tried = try_hits(trial_hits, trial_path);
      const bool faithful = tried.state_kept && trial_was_counted();
      forget_trial();
      if (faithful && (point == safe_point || tried.is_call)) {
        optimised_ = tried.is_call;
        hit_ns_ = tried.hit_ns;
        return adopt_objects();
      }
      detach(std::exchange(links_, {}));
      files_.clear();
    }
    throw error("cannot use probes here: the kernel does not deliver them faithfully", 0,
                "engine=inline does not need them");
  }

  // Attaches to the probes of a file that has not been seen before, and to `more` places in it.
  void attach_file(const std::string& file, std::vector<uprobe_place> more) {
    struct stat identity {};
    if (stat(file.c_str(), &identity) != 0)
      throw error(fmt::format("cannot find {}, whose markers are to be observed", file), errno,
                  "the file must still be where it was loaded from");
    if (!files_.emplace(identity.st_dev, identity.st_ino).second) return;
    std::vector<uprobe_place> places = std::move(more);
    for (const elf_probe& probe : find_elf_probes(file))
      if (probe.name == "region_end")
        places.push_back({probe.offset + (probe.has_fast_point ? point_ : safe_point), probe.semaphore_offset});
    if (!places.empty()) links_.push_back(attach(file, places));
  }

  void forget_trial() {
    bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.rows), &trial_path);
    std::vector<adaptyst_kernel_group_key> gone;
    for_each_key<adaptyst_kernel_group_key>(skeleton_->maps.groups, [&](int, const adaptyst_kernel_group_key& key) {
      if (key.path == trial_path) gone.push_back(key);
    });
    for (const adaptyst_kernel_group_key& key : gone) bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.groups), &key);
  }

  bool trial_was_counted() {
    return read_kernel().rows[trial_path].count == std::uint64_t{stopwatch_rounds} * trial_hits;
  }

  static void add_group(measured_row& to, std::uint64_t number, const adaptyst_kernel_group& group) {
    for (unsigned at = 0; at != ADAPTYST_KERNEL_GROUP; ++at) {
      to.durations.add_bucket(static_cast<unsigned>(number) * ADAPTYST_KERNEL_GROUP + at, group.counts[at]);
      to.count += group.counts[at];
    }
  }

  measured read_kernel() {
    measured all;
    const int possible = libbpf_num_possible_cpus();
    if (possible < 1)
      throw error("cannot count the processors in /sys/devices/system/cpu/possible", -possible, "mount /sys");
    const auto cpus = static_cast<std::size_t>(possible);

    std::vector<adaptyst_kernel_row> parts(cpus);
    std::vector<std::uint64_t> counts(cpus);
    for_each_key<std::uint64_t>(skeleton_->maps.rows, [&](int map, std::uint64_t id) {
      if (bpf_map_lookup_elem(map, &id, parts.data()) != 0) return;
      measured_row& sum = all.rows[id];
      for (const adaptyst_kernel_row& part : parts) {
        if (part.min_complement == 0) continue;  // not on this CPU
        measured_row one;
        one.count = part.unbucketed;
        if (part.own_group != 0) add_group(one, part.own_group - 1, part.group);
        one.total_ns = part.total_ns;
        one.self_ns = part.total_ns - part.child_ns;
        one.min_ns = ~part.min_complement;
        one.max_ns = part.max_ns;
        add(sum, one);
      }
    });
    std::vector<adaptyst_kernel_group> groups(cpus);
    for_each_key<adaptyst_kernel_group_key>(skeleton_->maps.groups, [&](int map, const adaptyst_kernel_group_key& key) {
      const auto row = all.rows.find(key.path);
      if (row == all.rows.end() || bpf_map_lookup_elem(map, &key, groups.data()) != 0) return;
      for (const adaptyst_kernel_group& part : groups) add_group(row->second, key.number, part);
    });
    for_each_key<std::uint64_t>(skeleton_->maps.paths, [&](int map, std::uint64_t id) {
      adaptyst_kernel_path path;
      if (bpf_map_lookup_elem(map, &id, &path) == 0) all.paths[id] = {path.parent, path.site, path.device};
    });
    for_each_key<std::uint64_t>(skeleton_->maps.sites, [&](int map, std::uint64_t id) {
      adaptyst_kernel_site site;
      if (bpf_map_lookup_elem(map, &id, &site) != 0) return;
      measured_site& made = all.sites[id];
      made.name.assign(site.name, std::min<std::size_t>(site.name_bytes, sizeof site.name));
      made.file = site.file;
      made.function = site.function;
      made.label = site.label;
      made.line = site.line;
      made.kind = site.kind;
    });

    for (std::uint32_t why = 0; why != ADAPTYST_KERNEL_LOSSES; ++why) {
      if (bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.losses), &why, counts.data()) != 0) continue;
      std::uint64_t count = 0;
      for (const std::uint64_t part : counts) count += part;
      if (count == 0) continue;
      if (why == ADAPTYST_KERNEL_ROWS_FULL) all.accounting.lost["kernel_rows_full"] = count;
      else if (why == ADAPTYST_KERNEL_BUSY) all.accounting.lost["kernel_busy"] = count;
      else all.accounting.unnamed += count;
    }
    return all;
  }

  template <class Key, class Visit>
  static void for_each_key(bpf_map* map, Visit&& visit) {
    const int descriptor = bpf_map__fd(map);
    Key key{};
    Key next{};
    for (const Key* from = nullptr; bpf_map_get_next_key(descriptor, from, &next) == 0; from = &key) {
      key = next;
      visit(descriptor, key);
    }
  }

  detail::process& in_;
  bool multi_;
  skeleton skeleton_;
  std::mutex mutex_;  // of what follows: objects may be loaded on any thread
  std::vector<uprobe_link> links_;
  std::set<std::pair<dev_t, ino_t>> files_;
  bool stopped_ = false;
  unsigned point_ = fast_point;
  bool optimised_ = false;
  double marker_ns_ = 0;
  double hit_ns_ = 0;
};

}  // namespace

std::unique_ptr<engine> make_ebpf_engine(detail::process& in) { return std::make_unique<ebpf_engine>(in); }

}  // namespace adaptyst::lib
