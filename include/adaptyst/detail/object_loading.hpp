// Loading and unloading of an ELF object with markers.
#ifndef ADAPTYST_DETAIL_OBJECT_LOADING_HPP
#define ADAPTYST_DETAIL_OBJECT_LOADING_HPP

#include "fork.hpp"
#include "probes.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// If a tool is attached to the other objects, enables this one, and informs the collector or observer.
template <class T>
void object_loading<T>::loaded() noexcept {
  const system::errno_kept unchanged;
  uint64_t process_address = 0;
  uint16_t recorder = 0;
  for_each_object([&](adaptyst_object& object, const loaded_object&) {
    process_address = load_acquire(object.process);
    recorder = load(object.recorder);
    return process_address == 0;
  });
  if (process_address != 0) {
    store_release(adaptyst_object_v5.process, process_address);
    store(adaptyst_object_v5.recorder, recorder);
    if (auto* const notify = load_acquire(reinterpret_cast<process*>(process_address)->control.object_loaded)) notify();
  }
  adaptyst_answer answer{};
  if (system::environment("ADAPTYST_OBSERVER") == nullptr) return;
  process* const in = get_process(adaptyst_object_v5);
  // A forked child announces itself in notice_fork(), with all loaded objects.
  if (in == nullptr || !notice_fork(*in)) return;
  if (!announce_with_store(*in, ADAPTYST_OBJECT_LOADED, adaptyst_object_v5, answer)) return;
  if (answer.observation == ADAPTYST_OBSERVED_BY_RECORDER && recorder == 0) store(adaptyst_object_v5.recorder, 1);
  if (answer.observation == ADAPTYST_OBSERVED_BY_PROBES && recorder != 0) store(adaptyst_object_v5.recorder, 0);
}

template <class T>
void object_loading<T>::unloading() noexcept {
  auto* const in = reinterpret_cast<process*>(load_acquire(adaptyst_object_v5.process));
  adaptyst_answer answer;
  if (in != nullptr && load(in->control.observer) != 0) announce(ADAPTYST_OBJECT_UNLOADING, adaptyst_object_v5, answer);
}

}}}  // namespace adaptyst::v1::detail

#endif
