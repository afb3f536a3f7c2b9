#include "observed_context.hpp"

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

template <class Start>
void beside_the_rest(Start&& start) {
  try {
    start();
  } catch (const std::exception& failed) {
    print(failed.what());
  }
}

}  // namespace

observed_context::observed_context(const options& asked, pid_t only, const kernel_rows* among)
    : probes_(asked.context.faults, only, true, among) {
  if (asked.wants_samples()) beside_the_rest([&] { sampling_ = make_sampling(asked, probes_, audience::listed); });
  if (asked.context.counters) beside_the_rest([&] { counters_.emplace(probes_, hardware_events()); });
}

void observed_context::attach(const std::string& file) {
  beside_the_rest([&] { probes_.attach(file); });
}

void observed_context::look_at(pid_t process) const {
  if (sampling_) sampling_->look_at(process);
}

void observed_context::call(pid_t process, const std::string& command) const {
  if (sampling_) sampling_->call(process, command);
}

context_sums observed_context::read() {
  if (sampling_) sampling_->read();
  context_sums known = probes_.read();
  if (counters_) counters_->read(known);
  return known;
}

void observed_context::add_to(measured& rows, const context_sums& known, const open_counts& open) const {
  add_context(rows, known, open);
  if (sampling_) sampling_->add_to(rows);
}

std::optional<sample_usage> observed_context::samples() const {
  if (!sampling_) return std::nullopt;
  return sampling_->usage();
}

void observed_context::write_stacks(const options& asked) const {
  if (sampling_) sampling_->write(asked);
}

}  // namespace adaptyst::lib
