// Probes of this process, caught and summed in the kernel.
//
// The life of this engine: load the programs; attach to the ELF file that holds this library, together with a function
// of our own on which is tried whether the fast attach point leaves the program's state alone; then one link for each
// other ELF file with markers.
#include <adaptyst/region.hpp>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "../discover/loaded_objects.hpp"
#include "../error.hpp"
#include "engine.hpp"
#include "probe_links.hpp"
#include "reconcile.hpp"
#include "recorder_reader.hpp"
#include "stopwatch.hpp"

namespace adaptyst::lib {

namespace {

class ebpf_engine final : public engine {
 public:
  explicit ebpf_engine(detail::process& in) : in_(in), links_(getpid(), false) {}
  ~ebpf_engine() override { stop(); }

  std::string name() const override { return "ebpf"; }
  std::string mechanism() const override { return links_.mechanism(); }
  double region_cost_ns() const override { return marker_ns_ + links_.hit_ns(); }

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
    links_.start();
    adopt_objects();
  }

  void adopt_objects() override {
    detail::for_each_object([this](adaptyst_object& object, const detail::loaded_object&) {
      detail::store_release(object.process, reinterpret_cast<std::uint64_t>(&in_));
      return true;
    });
    for (const std::string& file : files_with_markers()) {
      try {
        if (!links_.attach(file)) return;
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
    measured kernel = links_.rows().read();
    return reconcile(std::move(kernel), read_recorders(state()), ended_before);
  }

  void stop() override {
    links_.stop();
    if (in_.traced_process == static_cast<std::uint32_t>(getpid())) in_.traced_process = 0;
  }

 private:
  process_state state() const { return own_state(reinterpret_cast<std::uint64_t>(&in_)); }

  detail::process& in_;
  probe_links links_;
  double marker_ns_ = 0;
};

}  // namespace

std::unique_ptr<engine> make_ebpf_engine(detail::process& in) { return std::make_unique<ebpf_engine>(in); }

}  // namespace adaptyst::lib
