#include <unistd.h>

#include <optional>

#include "../discover/loaded_objects.hpp"
#include "../kernel/context_probes.hpp"
#include "../kernel/counter_probes.hpp"
#include "../support/error.hpp"
#include "own_context.hpp"

namespace adaptyst::lib {

namespace {

class probed_context final : public own_context {
 public:
  probed_context(bool with_faults, const kernel_rows* among) : probes_(with_faults, getpid(), false, among) {}

  void adopt_objects() override {
    for (const std::string& file : files_with_markers()) {
      try {
        probes_.attach(file);
      } catch (const error& failed) {  // the others can be observed all the same
        print(failed.what());
      }
    }
  }
  context_sums read() override {
    context_sums sums = probes_.read();
    if (counters_) counters_->read(sums);
    return sums;
  }
  void count() override { counters_.emplace(probes_, hardware_events()); }
  int threads() const override { return probes_.threads(); }
  void sample(const options& asked) override { sampling_ = make_sampling(asked, probes_, audience::this_process); }
  sampling* samples() override { return sampling_.get(); }

 private:
  context_probes probes_;
  std::optional<counter_probes> counters_;
  std::unique_ptr<sampling> sampling_;
};

}  // namespace

std::unique_ptr<own_context> make_own_context(bool with_faults, const kernel_rows* among) {
  return std::make_unique<probed_context>(with_faults, among);
}

}  // namespace adaptyst::lib
