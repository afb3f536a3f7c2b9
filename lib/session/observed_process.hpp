// Another process whose markers are observed: its recorders, woken or only read.
#ifndef ADAPTYST_LIB_SESSION_OBSERVED_PROCESS_HPP
#define ADAPTYST_LIB_SESSION_OBSERVED_PROCESS_HPP

#include <sys/types.h>

#include <adaptyst/detail/clock.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../discover/process_objects.hpp"
#include "../recorder/device_reader.hpp"
#include "../recorder/open_regions.hpp"
#include "../recorder/other_memory.hpp"
#include "../recorder/recorder_reader.hpp"
#include "budget_keeper.hpp"
#include "timeline.hpp"

namespace adaptyst::lib {

class observed_process {
 public:
  // Throws error when it is not there.
  observed_process(pid_t process, const std::optional<budget_rules>& budget);
  ~observed_process();
  observed_process(const observed_process&) = delete;
  observed_process& operator=(const observed_process&) = delete;

  pid_t id() const noexcept { return id_; }
  bool is_running() const;
  // Whether it has replaced its program by exec() since.
  bool is_another_program() const;
  // That it has ended has been dealt with.
  void settle() noexcept { settled_ = true; }
  bool is_settled() const noexcept { return settled_; }
  // Its memory is no longer what it was: it counts as ended.
  void retire() noexcept { retired_ = true; }
  // Address of what all its markers share; 0: not known yet.
  std::uint64_t state() const noexcept { return state_.address; }
  bool has_markers() const noexcept { return !state_.objects.empty(); }
  // Of the program that it has become, which was expected.
  void take_image();
  void call(std::string_view command) { command_ = command; }

  // An address that somebody has told is to be believed only of those who can do everything that we can.
  bool is_of_our_user() const noexcept { return memory_.is_of_our_user(); }
  void add_object(std::uint64_t control_block);
  void remove_object(std::uint64_t control_block);
  // All that it has, if it has loaded any since the last time and does not tell by itself.
  std::vector<process_object> changed_objects();

  // Takes the recorders over from nobody, or from an observer that is dead, and begins an epoch. Throws error when
  // somebody else reads them, they are of another version, or it is not permitted. `trace_entries`: of each thread's ring
  // for a timeline; 0: none is wanted.
  void claim(const detail::clock_line& clock, std::uint64_t trace_entries);
  // Markers run through the recorder from now on, or no longer.
  void wake();
  void release() noexcept;
  // It has heeded us by itself: with its recorders awake, or not.
  void adopt(bool awake) noexcept {
    claimed_ = tells_ = true;
    awake_ = awake;
  }
  // Nobody's recorders are to be read: they are somebody else's.
  void leave_recorders() noexcept { reads_ = false; }

  // Reads the recorders, if the process is still there; and, if `also_open`, what regions are open.
  void refresh(bool also_open);
  // Takes up what its threads have left for a timeline, if it is still there.
  void trace_to(timeline& to);
  const measured& recorded() const noexcept { return reader_.result(); }
  path_set take_changed() { return reader_.take_changed(); }  // see recorder_reader
  const device_list& devices() const noexcept { return devices_; }
  const open_counts& open_regions() const noexcept { return open_; }
  process_info info() const;

  // If it has an overhead budget.
  void keep_budget();
  // How long the marker of a path was on which step of it; empty where there is none, or no such path.
  std::map<budget_step, std::uint64_t> steps_of(std::uint64_t path) const;

 private:
  // Whether it is still the program whose addresses we know: one that replaces itself by exec() says nothing. Retires it
  // if not.
  bool is_still_itself();
  void find_state();
  void take_state();
  void ask_for_timeline();
  void unlock_ledger();
  template <class T>
  bool write(std::uint64_t address, T value) const noexcept {
    return memory_.write(address, &value, sizeof value);
  }

  pid_t id_;
  mutable int descriptor_;       // -1: it is gone
  mutable other_memory memory_;  // likewise
  process_state state_;
  std::string image_;  // see is_another_program()
  bool retired_ = false;
  bool settled_ = false;
  bool reads_ = true;
  std::uint64_t trace_entries_ = 0;  // to be asked for, as soon as there is somebody to ask
  bool claimed_ = false;
  bool awake_ = false;
  bool tells_ = false;       // what it loads
  std::uint64_t files_ = 0;  // state_of_files()
  std::string command_;
  std::uint64_t started_ns_;
  std::uint64_t started_cpu_ns_;
  std::uint64_t observed_ns_ = 0;
  recorder_reader reader_;
  device_list devices_;
  std::optional<budget_keeper> budget_;
  open_counts open_;
};

}  // namespace adaptyst::lib

#endif
