// Another process whose markers are observed: its recorders, woken or only read.
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
  // `started`: this observer has started the program. Then the program announces what it loads and reads the settings
  // in memory of the observer, and nothing is written into it. Throws error when it is not there.
  observed_process(pid_t process, bool started, const detail::level_settings& levels = {});
  ~observed_process() override;

  bool is_running() const override;
  // It has ended, whether it was retired before or not.
  bool is_gone() const;
  std::uint64_t state() const noexcept override { return state_.process; }
  // Whether it has replaced its program by exec() since.
  bool is_another_program() const;
  void retire() noexcept override;
  process_info info() const override;
  bool has_markers() const noexcept { return !state_.objects.empty(); }
  bool has_announced() const noexcept {
    return recorders_ == recorders::following || recorders_ == recorders::following_awake;
  }
  // Notes that it has become the program that was expected.
  void take_image();
  void call(std::string_view command) { set_command(std::string(command)); }

  // Takes over the store that the process has handed over: then nothing is lost when it ends. A second one is ignored.
  void hold(descriptor store);
  void read_out() noexcept override;

  // An address from another process is trusted only if that process has all the rights that this one has.
  bool has_our_user() const noexcept { return memory_.has_our_user(); }
  void add_object(std::uint64_t control_block);
  void remove_object(std::uint64_t control_block);
  std::vector<process_object> changed_objects() override;

  // Takes the recorders over if they are free, or if their observer is dead. Throws error as well when they are of
  // another version.
  void claim(const claim_terms& terms) override;
  void wake() override;
  void record(std::uint64_t control_block, bool wanted) override;
  void release() noexcept override;
  // For a process that has announced itself and follows the answer: with its recorders awake, or not. Returns the file
  // of the settings, which is to be sent to it. Throws error.
  descriptor adopt(bool awake);
  // Its recorders are awake after all.
  void note_awake() { enter(recorders::following_awake); }
  // Complains, once, if its memory cannot be read; tries again if the reason may pass.
  void note_refusal();
  void refresh(bool also_open) override;
  bool outlives() const noexcept override { return held_.has_value(); }
  void note_time() override;
  void account_for_end(account& in) const override;
  unannounced_threads find_unannounced(const announced_recorders& announced) const override;

 private:
  // The life of the process. It never returns to an earlier state.
  enum class life {
    running,
    left,    // it is not read any more, since another program runs in it, or since its reading has failed
    ending,  // likewise, and its memory is gone: how it ends is known when it is gone
    gone
  };
  // The owner of its recorders, and whether they are enabled. may_follow() lists the transitions.
  enum class recorders {
    untaken,
    of_another,  // another observer owns them: they are not read, the kernel still counts
    claimed,     // by us, who write into its memory
    claimed_awake,
    following,  // ours: it announces what it loads, and follows the answers
    following_awake,
    released
  };

  static bool may_follow(recorders from, recorders to) noexcept;
  // Throws error if that may not follow.
  void enter(recorders next);
  bool is_claimed() const noexcept { return recorders_ >= recorders::claimed && recorders_ != recorders::released; }
  bool is_awake() const noexcept {
    return recorders_ == recorders::claimed_awake || recorders_ == recorders::following_awake;
  }
  // Ends the reading, at the time of the first such event.
  void leave(life how) const noexcept;
  std::optional<process_state> reach() override;
  // Whether it is still the program whose addresses we know: one that replaces itself by exec() says nothing. Retires
  // it if not.
  bool is_still_itself();
  void note_clock();
  std::uint64_t ended_ns() const noexcept override { return ended_ns_; }
  void note_end() const;
  std::uint64_t instants() const;
  void take_over(const claim_terms& terms);
  const memory& memory_outside_store() const noexcept;
  void find_state();
  void find_settings();
  void stay_awake();
  void ask_for_store();
  void take_state();
  void ask_for_levels();
  void ask_for_timeline();
  void note_layout();
  bool name_observer();
  bool begin_epoch(std::uint64_t epoch);
  bool is_forked() const;
  void put_to_sleep();
  void give_back();
  bool is_recorded() const noexcept { return is_awake() || !recording_.empty(); }
  template <class T>
  bool write(std::uint64_t address, T value) const noexcept {
    return memory_.write(address, &value, sizeof value);
  }

  mutable life life_ = life::running;
  recorders recorders_ = recorders::untaken;
  mutable int descriptor_;                   // -1: it is gone
  mutable other_memory memory_;              // likewise
  detail::level_settings levels_;            // that are looked at
  std::optional<settings_memory> settings_;  // of one that we have started
  std::optional<held_memory> held_;
  process_state state_;
  std::string image_;                   // see is_another_program()
  std::uint64_t trace_entries_ = 0;     // to be asked for, as soon as the process has a state
  std::set<std::uint64_t> recording_;   // control blocks of objects that record() has woken
  bool has_no_settings_ = false;        // it could not map them
  bool is_complete_ = false;            // it has reported its end, or the store that it left was read
  std::string refused_;                 // why, if its memory could not be had
  mutable std::uint64_t ended_ns_ = 0;  // when that was seen
  std::uint64_t files_ = 0;             // read_file_state()
};

}  // namespace adaptyst::lib

#endif
