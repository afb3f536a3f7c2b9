// The program's own recorder, woken and read.
#include <adaptyst/region.hpp>

#include <utility>

#include "../recorder/recorder_reader.hpp"
#include "../support/stopwatch.hpp"
#include "engine.hpp"

namespace adaptyst::lib {

namespace {

class inline_engine final : public engine {
 public:
  explicit inline_engine(detail::process& in) : in_(in) {}
  ~inline_engine() override { stop(); }

  std::string name() const override { return "inline"; }
  std::string mechanism() const override {
    return detail::load(in_.control.clock.ns_per_tick) != 0 ? "own recorder, cycle counter"
                                                            : "own recorder, CLOCK_MONOTONIC";
  }
  double region_cost_ns() const override { return cost_ns_; }

  void calibrate() override {
    detail::fetch_add(adaptyst_object_v1.recorder, 1);
    cost_ns_ = median_step_ns(200, [] { ADAPTYST_REGION("adaptyst calibration"); });
    detail::fetch_add(adaptyst_object_v1.recorder, -1);
  }
  std::unique_ptr<own_context> ask_for_context(bool with_faults) override {
    return make_own_context(with_faults, nullptr);
  }
  void start() override {
    awake_ = true;
    detail::for_each_object([this](adaptyst_object& object, const detail::loaded_object&) {
      detail::store_release(object.process, reinterpret_cast<std::uint64_t>(&in_));
      detail::fetch_add(object.recorder, 1);
      return true;
    });
  }
  void adopt_objects() override {}  // they have taken over the others' state by themselves
  measured read() override { return read_recorders(own_state(reinterpret_cast<std::uint64_t>(&in_))); }
  void stop() override {
    if (!std::exchange(awake_, false)) return;
    detail::for_each_object([](adaptyst_object& object, const detail::loaded_object&) {
      if (detail::load(object.recorder) != 0) detail::fetch_add(object.recorder, -1);
      return true;
    });
  }

 private:
  detail::process& in_;
  double cost_ns_ = 0;
  bool awake_ = false;
};

}  // namespace

std::unique_ptr<engine> make_inline_engine(detail::process& in) { return std::make_unique<inline_engine>(in); }

}  // namespace adaptyst::lib
