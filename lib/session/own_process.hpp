// This process, looked at from inside.
#ifndef ADAPTYST_LIB_SESSION_OWN_PROCESS_HPP
#define ADAPTYST_LIB_SESSION_OWN_PROCESS_HPP

#include <cstdint>
#include <set>
#include <vector>

#include "../support/error.hpp"
#include "target.hpp"

namespace adaptyst::lib {

// Another process observes this one already.
class observed_from_outside : public error {
 public:
  explicit observed_from_outside(pid_t by);
};

class own_process final : public target {
 public:
  // Throws error when there is no memory for what markers share, and observed_from_outside.
  own_process();
  ~own_process() override { release(); }

  // Sets the function that is called, by the loading thread, when an ELF object with markers has been loaded; null:
  // none.
  static void call_when_loaded(void (*hook)()) noexcept;
  // Whether the function that is called then is another one: a collector of another ELF object is at work, which has its
  // own copy of this library.
  static bool is_collected_elsewhere(void (*hook)()) noexcept;
  // All ELF objects with markers; also leads them to the shared state. Thread-safe.
  std::vector<process_object> objects() const;
  // Lets markers use the processor's counter, by this line; an earlier one is kept.
  static void use_counter(const detail::clock_line& line) noexcept;
  static bool uses_counter() noexcept;

  bool is_running() const override { return true; }
  std::uint64_t state() const noexcept override { return reinterpret_cast<std::uint64_t>(&in_); }
  void claim(const claim_terms& terms) override;
  void wake() override;
  void record(std::uint64_t control_block, bool wanted) override;
  void release() noexcept override;

 private:
  std::optional<process_state> reach() override { return own_state(state()); }
  void refuse_if_observed() const;
  void take_probes();

  detail::process& in_;
  bool claimed_ = false;
  bool awake_ = false;
  std::set<std::uint64_t> recording_;  // control blocks of objects that record() has woken
};

}  // namespace adaptyst::lib

#endif
