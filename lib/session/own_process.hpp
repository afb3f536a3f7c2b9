// This process, observed from inside.
#ifndef ADAPTYST_LIB_SESSION_OWN_PROCESS_HPP
#define ADAPTYST_LIB_SESSION_OWN_PROCESS_HPP

#include <cstdint>
#include <set>
#include <vector>

#include "../support/error.hpp"
#include "target.hpp"

namespace adaptyst::lib {

// Another process already observes this process.
class observed_from_outside : public error {
 public:
  explicit observed_from_outside(pid_t by);
};

class own_process final : public target {
 public:
  // Throws error if there is no memory for the markers' shared state, and observed_from_outside.
  own_process();
  ~own_process() override { release(); }

  // Sets the function that is called, by the loading thread, when an ELF object with markers has been loaded; null:
  // none.
  static void call_when_loaded(void (*hook)()) noexcept;
  // Whether another function is set as this hook: then a collector of another ELF object, with a copy of this library,
  // is running.
  static bool is_collected_elsewhere(void (*hook)()) noexcept;
  // All ELF objects with markers; also gives them the address of the shared state. Thread-safe.
  std::vector<process_object> objects() const;
  // Makes markers use the processor's counter, with this line; an earlier line remains.
  static void use_counter(const detail::clock_line& line) noexcept;
  static bool uses_counter() noexcept;

  // Whether results take little memory: so far there are at most some 100 call paths, few threads and few operations.
  bool has_few_results() const noexcept;

  bool is_running() const override { return true; }
  std::uint64_t state() const noexcept override { return reinterpret_cast<std::uint64_t>(&in_); }
  void claim(const claim_terms& terms) override;
  void enable() override;
  void record(std::uint64_t control_block, bool wanted) override;
  void release() noexcept override;

 private:
  std::optional<process_state> reach() override { return own_state(state()); }
  void refuse_if_observed() const;
  void take_probes();

  detail::process& in_;
  bool claimed_ = false;
  bool is_enabled_ = false;
  std::set<std::uint64_t> recording_;  // control blocks of objects enabled by record()
};

}  // namespace adaptyst::lib

#endif
