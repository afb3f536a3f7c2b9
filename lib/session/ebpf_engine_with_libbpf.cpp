// Probes of this process, caught and summed in the kernel.
//
// The life of this engine: load the programs; attach to the ELF file that holds this library, together with a function
// of our own on which is tried whether the fast attach point leaves the program's state alone; then one link for each
// other ELF file with markers.
#include <adaptyst/region.hpp>
#include <unistd.h>

#include <ctime>
#include <optional>
#include <utility>

#include "../discover/library_files.hpp"
#include "../discover/loaded_objects.hpp"
#include "../kernel/function_probes.hpp"
#include "../kernel/probe_links.hpp"
#include "../profile/reconcile.hpp"
#include "../recorder/recorder_reader.hpp"
#include "../support/error.hpp"
#include "../support/stopwatch.hpp"
#include "engine.hpp"

namespace adaptyst::lib {

namespace {

class ebpf_engine final : public engine {
 public:
  ebpf_engine(detail::process& in, const options& asked)
      : in_(in), asked_(asked), links_(getpid(), false, !asked.functions.empty()) {}
  ~ebpf_engine() override { stop(); }

  std::string name() const override { return "ebpf"; }
  std::string mechanism() const override { return links_.mechanism(); }
  double region_cost_ns() const override { return marker_ns_ + links_.hit_ns(); }

  void calibrate() override {
    detail::fetch_add(adaptyst_object_v1.event, 1);  // awake, and nothing else
    marker_ns_ = median_step_ns(200, [] { ADAPTYST_REGION("adaptyst calibration"); });
    detail::fetch_add(adaptyst_object_v1.event, -1);
  }

  std::unique_ptr<own_context> ask_for_context(bool with_faults) override {
    auto made = make_own_context(with_faults, asked_.functions.empty() ? nullptr : &links_.rows());
    threads_ = made->threads();
    return made;
  }

  void start() override {
    const auto self = static_cast<std::uint32_t>(getpid());
    if (in_.traced_process != 0 && in_.traced_process != self)
      throw error("cannot use probes in a process that was forked from one under observation", 0,
                  "its code holds the parent's probes; engine=inline does not need any");
    in_.traced_process = self;
    links_.start();
    adopt_objects();
    probe_functions();
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
    measured all = reconcile(std::move(kernel), read_recorders(state()), ended_before);
    if (functions_) {
      add(all, functions_->read());
      settle_self_times(all);
    }
    return all;
  }

  void stop() override {
    functions_.reset();
    links_.stop();
    if (in_.traced_process == static_cast<std::uint32_t>(getpid())) in_.traced_process = 0;
  }

 private:
  void probe_functions() {
    if (asked_.functions.empty()) return;
    links_.rows().admit(getpid(), {0, reinterpret_cast<std::uint64_t>(&in_)});
    function_options how;
    how.pid = getpid();
    how.through_exceptions = asked_.through_exceptions;
    how.single_stepped = asked_.single_stepped;
    how.among = &links_.rows();
    how.threads = threads_;
    try {
      functions_.emplace(how);
      const auto own_files = [](const function_request& one) { return files_for(one, getpid()); };
      for (const std::string& one : functions_->attach(find_named(asked_.functions, own_files), getpid()))
        print("not probed: " + one);
    } catch (const error& failed) {  // the markers can be observed all the same
      functions_.reset();
      print(failed.what());
    }
  }

  process_state state() const { return own_state(reinterpret_cast<std::uint64_t>(&in_)); }

  detail::process& in_;
  const options asked_;
  probe_links links_;
  std::optional<function_probes> functions_;
  double marker_ns_ = 0;
  int threads_ = -1;  // see function_options
};

}  // namespace

std::unique_ptr<engine> make_ebpf_engine(detail::process& in, const options& asked) {
  return std::make_unique<ebpf_engine>(in, asked);
}

}  // namespace adaptyst::lib
