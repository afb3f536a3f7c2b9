// A forked child, at its first enabled marker, replaces its parent's store by its own, but keeps the private pages of
// threads.
#ifndef ADAPTYST_DETAIL_FORK_HPP
#define ADAPTYST_DETAIL_FORK_HPP

#include "announce.hpp"
#include "probes.hpp"
#include "recorder_state.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// The part of the parent's store that the child needs, in private memory: its beginning, and the first page of each
// recorder.
class inheritance {
 public:
  explicit inheritance(const recorder_store& parent) noexcept
      : recorders_((least(load(parent.head.below), parent.head.bytes) - first_below) / recorder_bytes),
        bytes_(first_below + recorders_ * page_bytes),
        store_(static_cast<recorder_store*>(map_memory(bytes_))) {
    if (store_ == nullptr) return;
    recorder_store& made = *begin_store(store_, parent.head.bytes);
    made.head.base = parent.head.base;
    made.head.below = first_below + recorders_ * recorder_bytes;
    made.head.settings = parent.head.settings;
    made.head.numbered = load(parent.head.numbered);
    // A frame from before the fork may still write its row, which is not read.
    made.head.above = load(parent.head.above);
    copy_names(parent, made);
    for (uint64_t at = 0; at != recorders_; ++at) {
      const recorder_head& inherited = *recorder_in(parent, at);
      recorder_head& mine = head(at);
      mine.epoch = ~uint64_t{0};  // no epoch: the child's is 0 until it has an observer
      mine.serial = mine.first_serial = load(inherited.serial);
      mine.generation = load(inherited.generation);
    }
  }
  ~inheritance() {
    if (store_ != nullptr) system::unmap(store_, bytes_);
  }
  inheritance(const inheritance&) = delete;
  inheritance& operator=(const inheritance&) = delete;

  // Maps a file in the place of the store, or private memory if no file is possible. Skips the private pages of
  // recorders.
  bool put_in_place(recorder_store& place, long& file) const noexcept {
    if (store_ == nullptr) return false;
    const uint64_t bytes = store_->head.bytes;
    file = bytes <= file_limit() ? make_memory_file() : -1;
    if (file >= 0 && system::call(__NR_ftruncate, file, bytes) != 0) {
      system::call(__NR_close, file);
      file = -1;
    }
    const int how = (file >= 0 ? system::shared_file : system::private_memory) | system::in_place;
    char* const first = reinterpret_cast<char*>(&place);
    uint64_t begin = 0;
    for (uint64_t next = 0; next <= recorders_; ++next) {
      const uint64_t recorder_at = first_below + next * recorder_bytes;
      const uint64_t end = next != recorders_ ? recorder_at + page_bytes : bytes;
      if (system::map(first + begin, end - begin, system::read_write, how, static_cast<int>(file),
                      file >= 0 ? static_cast<int64_t>(begin) : 0) != first + begin)
        return false;
      begin = recorder_at + recorder_bytes;
    }
    system::advise(&place, bytes, system::not_in_core_dumps);
    __builtin_memcpy(static_cast<void*>(&place.head), &store_->head, sizeof place.head);
    copy_names(*store_, place);
    for (uint64_t at = 0; at != recorders_; ++at)
      __builtin_memcpy(static_cast<void*>(static_cast<recorder_head*>(recorder_in(place, at))), &head(at),
                       sizeof(recorder_head));
    return true;
  }

 private:
  static uint64_t least(uint64_t a, uint64_t b) noexcept { return a < b ? a : b; }
  // Names of markers, call paths and devices.
  static void copy_names(const recorder_store& from, recorder_store& copy) noexcept {
    copy.arena_used = least(load_acquire(from.arena_used), arena_bytes);
    __builtin_memcpy(copy.arena, from.arena, copy.arena_used);
    for (size_t at = 0; at != max_devices && load_acquire(from.activity.devices[at].state) == 2; ++at)
      __builtin_memcpy(static_cast<void*>(&copy.activity.devices[at]), &from.activity.devices[at],
                       offsetof(device_entry, clock_epoch));
  }
  recorder_head& head(uint64_t recorder) const noexcept {
    return *reinterpret_cast<recorder_head*>(reinterpret_cast<char*>(store_) + first_below + recorder * page_bytes);
  }

  uint64_t recorders_, bytes_;
  recorder_store* store_;
};

// False without memory.
template <class = void>
inline bool take_store_from_parent(process& in) noexcept {
  recorder_store& shared_store = *in.store;
  if (in.is_shared == 0) {  // private copy already
    store(shared_store.head.recorders, static_cast<recorder*>(nullptr));
    shared_store.activity.forget_threads();
    store(shared_store.head.settings_owner, uint64_t{0});
    __builtin_memset(static_cast<void*>(&shared_store.metadata), 0, sizeof shared_store.metadata);
    return true;
  }
  const inheritance from_parent(shared_store);
  long file = -1;
  if (!from_parent.put_in_place(shared_store, file)) {
    if (file >= 0) system::call(__NR_close, file);
    return false;
  }
  if (is_store(in.store_file)) system::call(__NR_close, in.store_file);
  in.is_shared = file >= 0 ? 1 : 0;
  in.store_file = seal_store(file);
  return true;
}

// After a fork no collector reads the child; all markers become idle unless an observer answers otherwise. They must
// not reach a probe that the kernel optimised in the parent: the child lacks the page that it calls.
template <class = void>
inline bool begin_as_child(process& in) noexcept {
  store(in.forks, in.forks + 1);
  in.number = static_cast<uint32_t>(system::call(__NR_getpid));
  clear_settings(in.settings);
  const bool can_record = take_store_from_parent(in);
  adaptyst_answer answer{};
  if (can_record) {
    store_release(in.control.abi, static_cast<uint32_t>(ADAPTYST_ABI_VERSION));
    announce_with_store(in, ADAPTYST_PROCESS_FORKED, adaptyst_object_v5, answer);
    begin_epoch(in);
  } else {
    announce(ADAPTYST_PROCESS_FORKED, adaptyst_object_v5, answer);  // so that the observer counts it as missing
    answer.observation = ADAPTYST_UNOBSERVED;
    store(in.awaited, static_cast<uint32_t>(ADAPTYST_UNOBSERVED));
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

// False: this process is a child that cannot record, or a signal handler that interrupted this function.
template <class = void>
ADAPTYST_DETAIL_COLD inline bool notice_fork(process& in) noexcept {
  constexpr uint32_t cannot_record = all_noticed - 1;
  constexpr int64_t max_wait_ns = 30'000'000'000;
  constexpr int64_t max_nap_ns = 10'000'000;  // hundreds of threads must leave the observer a core
  uint32_t& noticed = in.control.noticed;
  if (ADAPTYST_DETAIL_LIKELY(load_acquire(noticed) == all_noticed)) return true;
  const auto self = static_cast<uint32_t>(system::call(__NR_gettid));
  int64_t nap_ns = 100'000;
  for (int64_t waited_ns = 0; waited_ns < max_wait_ns;) {
    uint32_t who = 0;
    if (compare_exchange(noticed, who, self)) {
      const bool can_record = begin_as_child(in);
      store_release(noticed, can_record ? all_noticed : cannot_record);
      return can_record;
    }
    if (who == all_noticed) return true;
    if (who == cannot_record || who == self) return false;
    const system::time a_while{0, nap_ns};
    system::call(__NR_nanosleep, &a_while, nullptr);
    waited_ns += nap_ns;
    if (nap_ns < max_nap_ns) nap_ns *= 2;
  }
  return false;
}

}}}  // namespace adaptyst::v1::detail

#endif
