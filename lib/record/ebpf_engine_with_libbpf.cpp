// Probes caught and summed in the kernel.
//
// The life of this engine: load the programs; attach to the ELF file that holds this library, together with a function
// of our own on which is tried whether the fast attach point leaves the program's state alone; then one link for each
// other ELF file with markers.
#include <adaptyst/region.hpp>
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

#include "../discover/elf_probes.hpp"
#include "../discover/loaded_objects.hpp"
#include "../error.hpp"
#include "attach_point.hpp"
#include "engine.hpp"
#include "kernel_rows.hpp"
#include "reconcile.hpp"
#include "recorder_reader.hpp"
#include "stopwatch.hpp"
#include "uprobe_link.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t trial_path = 0x7472'6961'6c00'0001;
constexpr unsigned trial_hits = 100;  // a round

constexpr audience listeners(bool multi) { return multi ? audience::everybody : audience::this_process; }

// A program that forks would keep our links alive after we close them: the child closes its copies.
std::vector<uprobe_link>* links_of_this_process = nullptr;
void close_links_in_child() {
  if (links_of_this_process != nullptr) links_of_this_process->clear();
}

class ebpf_engine final : public engine {
 public:
  explicit ebpf_engine(detail::process& in)
      : in_(in), multi_(kernel_has_uprobe_multi()), rows_(multi_, listeners(multi_)) {
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
      rows_ = kernel_rows(multi_, listeners(multi_));
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
    measured kernel = rows_.read();
    measured program = read_recorders(state());

    return reconcile(std::move(kernel), std::move(program), ended_before);
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

  void find_point_and_attach() {
    const trial_site site = find_trial_site();
    for (const unsigned point : {fast_point, safe_point}) {
      point_ = point;
      attach_file(site.file, {{site.offset + point, 0}});
      const trial tried = try_hits(trial_hits, trial_path);
      const bool faithful = tried.state_kept && trial_was_counted();
      rows_.forget(trial_path);
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
    if (!places.empty()) links_.push_back(rows_.attach(file, places, getpid()));
  }

  bool trial_was_counted() {
    return rows_.read().rows[trial_path].count == std::uint64_t{stopwatch_rounds} * trial_hits;
  }

  detail::process& in_;
  bool multi_;
  kernel_rows rows_;
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
