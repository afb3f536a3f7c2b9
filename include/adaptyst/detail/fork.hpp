// What a forked child does when it first comes to a marker that is awake: it puts a store of its own where its parent's
// was, around what its threads have for themselves.
#ifndef ADAPTYST_DETAIL_FORK_HPP
#define ADAPTYST_DETAIL_FORK_HPP

#include "announce.hpp"
#include "probes.hpp"
#include "recorder_state.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// What the child goes on with: names and devices, what is used of the memory, and where each recorder's tokens are.
template <class = void>
inline void hand_down(recorder_store& from, recorder_store& to, uint64_t recorders) noexcept {
  to.head.base = from.head.base;
  to.head.below = load(from.head.below);
  to.head.above = load(from.head.above);  // a frame of before may still write its row, where nobody reads
  to.arena_used = load(from.arena_used);
  __builtin_memcpy(to.arena, from.arena, to.arena_used);
  for (size_t at = 0; at != most_devices && load_acquire(from.ledger.devices[at].state) == 2; ++at)
    __builtin_memcpy(static_cast<void*>(&to.ledger.devices[at]), &from.ledger.devices[at],
                     offsetof(device_entry, sums));
  for (uint64_t at = 0; at != recorders; ++at) {
    const recorder_head& known = *recorder_in(from, at);
    recorder_head& made = *recorder_in(to, at);
    made.epoch = ~uint64_t{0};  // none: the child's is 0 until it knows who looks
    made.serial = made.first_serial = load(known.serial);
    made.generation = load(known.generation);
  }
}

// Maps `file` where the store is, but for the private pages of recorders.
template <class = void>
inline bool map_around(recorder_store& place, uint64_t bytes, long file, uint64_t recorders) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(&place);
  uint64_t begin = 0;
  for (uint64_t next = 0; next <= recorders; ++next) {
    const uint64_t recorder_at = first_below + next * bytes_of_recorder;
    const uint64_t end = next != recorders ? recorder_at + page_bytes : bytes;
    void* const wanted = reinterpret_cast<void*>(at + begin);
    if (system::map(wanted, end - begin, system::read_write, system::shared_file | system::in_place,
                    static_cast<int>(file), static_cast<int64_t>(begin)) != wanted)
      return false;
    begin = recorder_at + bytes_of_recorder;
  }
  system::advise(&place, bytes, system::not_in_core_dumps);
  return true;
}

// False: there is no memory for it.
template <class = void>
inline bool take_store_from_parent(process& in) noexcept {
  recorder_store& theirs = *in.store;
  if (in.is_shared == 0) {  // a copy already
    store(theirs.head.recorders, static_cast<recorder*>(nullptr));
    // A thread that is not in this process may have held it, in the middle of writing.
    if ((load(theirs.ledger.sequence) & 1) != 0) bump(theirs.ledger.sequence, 1);
    store(theirs.ledger.lock, 0);
    return true;
  }
  const uint64_t bytes = theirs.head.bytes;
  const uint64_t recorders = (load(theirs.head.below) - first_below) / bytes_of_recorder;
  long file = -1;
  recorder_store* const made = map_store(file, bytes);
  if (made == nullptr) return false;
  const uint64_t made_bytes = made->head.bytes;
  bool taken = made_bytes == bytes && file >= 0;
  if (taken) {
    hand_down(theirs, *made, recorders);
    taken = map_around(theirs, bytes, file, recorders);
  }
  system::unmap(made, made_bytes);
  if (is_store(in.store_file)) system::call(__NR_close, in.store_file);
  in.store_file = seal_store(file);
  return taken;
}

// In a forked child nobody looks, but an observer from outside may: all markers go to sleep unless it says otherwise. They
// must not reach a probe that the kernel has optimised in the parent: the code was copied, and the page that it calls was
// not.
template <class = void>
inline bool begin_as_child(process& in) noexcept {
  store(in.forks, in.forks + 1);
  const bool can_record = take_store_from_parent(in);
  adaptyst_answer answer{};
  if (can_record) {
    store_release(in.control.abi, static_cast<uint32_t>(ADAPTYST_ABI_VERSION));
    announce_with_store(in, ADAPTYST_PROCESS_FORKED, adaptyst_object_v2, answer);
    begin_epoch(in);
  }
  const uint32_t how = answer.observation != ADAPTYST_UNOBSERVED ? answer.observation : load(in.awaited);
  store(in.awaited, static_cast<uint32_t>(ADAPTYST_UNOBSERVED));
  const bool by_probes = how == ADAPTYST_OBSERVED_BY_PROBES;
  for_each_object([&](adaptyst_object& object, const loaded_object&) {
    store(object.region_begin, 0);
    if (!by_probes) store(object.region_end, 0);
    store(object.event, 0);
    store(object.recorder, how == ADAPTYST_OBSERVED_BY_RECORDER ? 1 : 0);
    return true;
  });
  return can_record;
}

// False: this process is a child that cannot record anything, or a signal handler that has interrupted this.
template <class = void>
ADAPTYST_DETAIL_COLD inline bool notice_fork(process& in) noexcept {
  constexpr uint32_t cannot_record = all_noticed - 1;
  constexpr unsigned most_naps = 100'000;  // half a minute
  uint32_t& noticed = in.control.noticed;
  if (ADAPTYST_DETAIL_LIKELY(load_acquire(noticed) == all_noticed)) return true;
  const auto self = static_cast<uint32_t>(system::call(__NR_gettid));
  for (unsigned naps = 0; naps != most_naps; ++naps) {
    uint32_t who = 0;
    if (compare_exchange(noticed, who, self)) {
      const bool can_record = begin_as_child(in);
      store_release(noticed, can_record ? all_noticed : cannot_record);
      return can_record;
    }
    if (who == all_noticed) return true;
    if (who == cannot_record || who == self) return false;
    const system::time a_while{0, 300'000};
    system::call(__NR_nanosleep, &a_while, nullptr);
  }
  return false;
}

}}}  // namespace adaptyst::v1::detail

#endif
