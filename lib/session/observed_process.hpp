// Another process with observed markers: this observer enables its recorders, or only reads them.
#ifndef ADAPTYST_LIB_SESSION_OBSERVED_PROCESS_HPP
#define ADAPTYST_LIB_SESSION_OBSERVED_PROCESS_HPP

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../recorder/held_memory.hpp"
#include "../recorder/other_memory.hpp"
#include "../recorder/settings_memory.hpp"
#include "../support/descriptor.hpp"
#include "target.hpp"

namespace adaptyst::lib {

class observed_process final : public target {
 public:
  // `started`: this observer has started the program. Then the program announces the objects that it loads and reads
  // its settings from memory of the observer, and nothing is written into the program. Throws error if it does not
  // exist.
  observed_process(pid_t process, bool started, const detail::level_settings& levels = {});
  ~observed_process() override;

  bool is_running() const override;
  // The process has ended, whether it was retired before or not.
  bool is_gone() const;
  std::uint64_t state() const noexcept override { return state_.process; }
  // Whether the process has replaced its program by exec().
  bool is_another_program() const;
  void retire() noexcept override;
  process_info info() const override;
  bool has_markers() const noexcept override { return !state_.objects.empty(); }
  bool has_announced() const noexcept {
    return recorders_ == recorders::following || recorders_ == recorders::following_enabled;
  }
  // Notes that the process has become the expected program.
  void take_image();
  using target::set_command;

  // Keeps the store that the process has handed over: then its end loses nothing. A second store is ignored.
  void hold(descriptor store);
  void read_out() noexcept override;

  // An address from another process is used only if that process has all the rights of this one.
  bool has_our_user() const noexcept { return memory_.has_our_user(); }
  void add_object(std::uint64_t control_block);
  void remove_object(std::uint64_t control_block);
  std::vector<process_object> changed_objects() override;

  // Takes the recorders over if they are free or their observer is dead. Also throws error if they have another
  // version.
  void claim(const claim_terms& terms) override;
  void enable() override;
  void record(std::uint64_t control_block, bool wanted) override;
  void release() noexcept override;
  // For a process that has announced itself and follows the answer: enables its recorders if `is_enabled`. Returns the
  // file of the settings, which the caller sends to the process. Throws error.
  descriptor adopt(bool is_enabled);
  // The recorders are enabled in spite of the answer.
  void note_enabled() { enter(recorders::following_enabled); }
  // Complains, once, if its memory cannot be read; tries again if the reason may be temporary.
  void note_refusal();
  void poll(bool also_open) override;
  bool outlives() const noexcept override { return held_.has_value(); }
  void note_time() override;
  void account_for_end(account& in) const override;
  unannounced_threads find_unannounced(const announced_recorders& announced) const override;

 private:
  // The life of the process. It never returns to an earlier state.
  enum class life {
    running,
    left,    // not read any more: another program runs in it, or reading it has failed
    ending,  // as `left`, but without memory: the kind of its end is known when it is gone
    gone
  };
  // The owner of its recorders, and whether they are enabled. may_follow() lists the transitions.
  enum class recorders {
    untaken,
    of_another,  // another observer owns them: they are not read, the kernel still counts
    claimed,     // by this observer, which writes into its memory
    claimed_enabled,
    following,  // claimed by this observer: the process announces its objects and follows the answers
    following_enabled,
    released
  };

  static bool may_follow(recorders from, recorders to) noexcept;
  // Throws error if that transition is not allowed.
  void enter(recorders next);
  bool is_claimed() const noexcept { return recorders_ >= recorders::claimed && recorders_ != recorders::released; }
  bool is_enabled() const noexcept {
    return recorders_ == recorders::claimed_enabled || recorders_ == recorders::following_enabled;
  }
  // Stops reading, at the time of the first such event.
  void leave(life how) const noexcept;
  std::optional<process_state> reach() override;
  // Whether the process still runs the program with the known addresses: exec() is not announced. Retires the process
  // if not.
  bool is_still_itself();
  void note_clock();
  std::uint64_t ended_ns() const noexcept override { return ended_ns_; }
  void note_end() const;
  std::uint64_t instants() const;
  void take_over(const claim_terms& terms);
  const memory& memory_outside_store() const noexcept;
  void find_state();
  void find_settings();
  void keep_enabled();
  void request_store();
  void take_state();
  void request_levels();
  void request_timeline();
  void note_layout();
  bool name_observer();
  bool begin_epoch(std::uint64_t epoch);
  void begin_late_epoch(std::uint64_t epoch);
  bool is_forked() const;
  void disable_recorders();
  void give_back();
  bool is_recorded() const noexcept { return is_enabled() || !recording_.empty(); }
  template <class T>
  bool write(std::uint64_t address, T value) const noexcept {
    return memory_.write(address, &value, sizeof value);
  }

  mutable life life_ = life::running;
  recorders recorders_ = recorders::untaken;
  mutable int descriptor_;                   // -1: the process is gone
  mutable other_memory memory_;              // closed when the process is gone
  detail::level_settings levels_;            // of the markers to record
  std::optional<settings_memory> settings_;  // of a process that this observer has started
  std::optional<held_memory> held_;
  process_state state_;
  std::string image_;                   // see is_another_program()
  std::uint64_t trace_entries_ = 0;     // requested as soon as the process has a state
  std::uint64_t before_epoch_ = 0;      // lost events: see begin_late_epoch()
  std::set<std::uint64_t> recording_;   // control blocks of objects enabled by record()
  bool has_no_settings_ = false;        // the process could not map them
  bool is_complete_ = false;            // it has reported its end, or its remaining store was read
  std::string refused_;                 // why its memory could not be read
  mutable std::uint64_t ended_ns_ = 0;  // when its end was observed
  std::uint64_t files_ = 0;             // read_file_state()
};

}  // namespace adaptyst::lib

#endif
