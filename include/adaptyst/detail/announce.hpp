// Messages of an observed program to its observer: an ELF object was loaded, the process forked, or the process is
// about to end. The observer cannot detect these in time.
//
// The program waits for the answer, so that no event is missed. The wait is bounded, and ends at once if the observer
// is dead, because a socket closes with its process. Without the environment variable ADAPTYST_OBSERVER, nothing is
// sent.
#ifndef ADAPTYST_DETAIL_ANNOUNCE_HPP
#define ADAPTYST_DETAIL_ANNOUNCE_HPP

#include "announcement.hpp"
#include "process.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Declared here because <sys/socket.h>, <sys/un.h> and <sys/time.h> compile too slowly for a header.
struct socket_address {
  uint16_t family;
  char path[108];  // a NUL, then the name
};
struct socket_timeout {
  int64_t seconds, microseconds;
};
struct socket_part {
  void* data;
  size_t bytes;
};
struct socket_message {
  void* name;
  uint32_t name_bytes;
  socket_part* parts;
  size_t part_count;
  void* control;
  size_t control_bytes;
  int flags;
};
struct descriptor_message {  // cmsghdr and its data
  size_t bytes;
  int level, type;
  int descriptor, pad;
};
constexpr size_t bytes_with_descriptor = offsetof(descriptor_message, pad);
constexpr int socket_level = 1, socket_rights = 1;  // SOL_SOCKET, SCM_RIGHTS

// `file`: a descriptor to send, or -1.
template <class = void>
inline bool send(long socket, adaptyst_announcement announcement, long file) noexcept {
  constexpr long no_signal = 0x4000;
  socket_part body{&announcement, sizeof announcement};
  descriptor_message with{bytes_with_descriptor, socket_level, socket_rights, static_cast<int>(file), 0};
  socket_message message{nullptr, 0, &body, 1, file >= 0 ? &with : nullptr, file >= 0 ? sizeof with : 0, 0};
  return system::call(__NR_sendmsg, socket, &message, no_signal) == long{sizeof announcement};
}

// The listening process must belong to our user or root. After the death of an observer, any process can take its name,
// and answers are trusted.
template <class = void>
inline bool is_trusted(long socket) noexcept {
  constexpr long credentials = 17;  // SO_PEERCRED
  struct {
    uint32_t process, user, group;
  } peer{};
  uint32_t bytes = sizeof peer;
  if (system::call(__NR_getsockopt, socket, long{socket_level}, credentials, &peer, &bytes) != 0) return false;
  return peer.user == 0 || peer.user == static_cast<uint32_t>(system::call(__NR_geteuid));
}

// Continues when a signal of the program interrupts it. `file`: a received descriptor, or -1.
template <class = void>
inline bool receive(long socket, adaptyst_answer& answer, long& file) noexcept {
  constexpr int max_interruptions = 1000;
  constexpr long closed_on_exec = 0x40000000;  // MSG_CMSG_CLOEXEC
  for (int at = 0; at != max_interruptions; ++at) {
    socket_part body{&answer, sizeof answer};
    descriptor_message with{};
    socket_message message{nullptr, 0, &body, 1, &with, bytes_with_descriptor, 0};  // room for one descriptor
    const long received = system::call(__NR_recvmsg, socket, &message, closed_on_exec);
    if (received < 0 && *system::error_number() == system::interrupted) continue;
    const bool has_file = received >= 0 && message.control_bytes >= bytes_with_descriptor &&
                          with.bytes == bytes_with_descriptor && with.level == socket_level &&
                          with.type == socket_rights;
    file = has_file ? with.descriptor : -1;
    return received == long{sizeof answer};
  }
  return false;
}

// A silent observer is not asked again: a stopped observer, or another process under its name, costs one wait.
ADAPTYST_DETAIL_HIDDEN inline bool observer_is_silent = false;

// Sends an announcement; false without an answer. `file`: a descriptor to send, or -1. If no descriptor is free for the
// socket, `file` is closed and set to -1. `got`: a received descriptor, or -1.
template <class = void>
ADAPTYST_DETAIL_COLD inline bool announce(uint32_t what, const adaptyst_object& object, adaptyst_answer& answer,
                                          long& file, long& got) noexcept {
  got = -1;
  constexpr long unix_domain = 1, packets_close_on_exec = 5 | 02000000;
  constexpr long receive_timeout = 20, send_timeout = 21;
  constexpr int too_many_files = 24;  // EMFILE
  const char* const name = system::environment("ADAPTYST_OBSERVER");
  if (name == nullptr || load(observer_is_silent)) return false;
  socket_address address{unix_domain, {}};
  const size_t bytes = __builtin_strlen(name);
  if (bytes >= sizeof address.path) return false;
  __builtin_memcpy(address.path + 1, name, bytes);
  const system::errno_kept unchanged;
  long socket = system::call(__NR_socket, unix_domain, packets_close_on_exec, 0L);
  if (socket < 0 && file >= 0 && *system::error_number() == too_many_files) {
    system::call(__NR_close, file);
    file = -1;
    socket = system::call(__NR_socket, unix_domain, packets_close_on_exec, 0L);
  }
  if (socket < 0) return false;
  const socket_timeout longest{5, 0};
  const adaptyst_announcement announcement{ADAPTYST_ABI_VERSION, what, reinterpret_cast<uint64_t>(&object)};
  system::call(__NR_setsockopt, socket, long{socket_level}, receive_timeout, &longest, sizeof longest);
  system::call(__NR_setsockopt, socket, long{socket_level}, send_timeout, &longest, sizeof longest);
  const bool answered = system::call(__NR_connect, socket, &address, offsetof(socket_address, path) + 1 + bytes) == 0 &&
                        is_trusted(socket) && send(socket, announcement, file) && receive(socket, answer, got);
  system::call(__NR_close, socket);
  if (!answered && got >= 0) {  // a descriptor came, but no answer
    system::call(__NR_close, got);
    got = -1;
  }
  store(observer_is_silent, !answered);
  return answered;
}

// The same, without descriptors.
template <class = void>
inline bool announce(uint32_t what, const adaptyst_object& object, adaptyst_answer& answer) noexcept {
  long none = -1, got = -1;
  const bool answered = announce(what, object, answer, none, got);
  if (got >= 0) system::call(__NR_close, got);
  return answered;
}

// Adopts the clock of the answer if none is set, and notes the observer and its request.
template <class = void>
inline void apply_answer(process& in, const adaptyst_answer& answer) noexcept {
  store(in.control.trace_entries, answer.trace_entries);
  if (load(in.control.clock.ns_per_tick) == 0 && answer.ns_per_tick != 0) {
    use_clock(in, {answer.ns_per_tick, answer.base_ticks, answer.base_ns});
    begin_epoch(in);  // events begun by the other clock are not counted
  }
  store(in.control.observer_started, answer.observer_started);
  store(in.control.observer, answer.observer);
}

// Maps the file of the observer's settings.
template <class = void>
inline void use_settings(process& in, long file) noexcept {
  if (file >= 0 && map_settings(in.settings, file))
    store_release(in.store->head.settings_owner, observer_identity(in.control));
}

// Announces, applies the answer, and sends the store of this process if the observer lacks it.
template <class = void>
inline bool announce_with_store(process& in, uint32_t what, const adaptyst_object& object,
                                adaptyst_answer& answer) noexcept {
  long store_file = is_store(in.store_file) ? in.store_file : -1;
  long settings = -1;
  const bool had_file = store_file >= 0;
  const bool answered = announce(what, object, answer, store_file, settings);
  if (had_file && store_file < 0) in.store_file = -1;
  if (!answered) return false;
  if (answer.observation == ADAPTYST_UNOBSERVED) {
    if (settings >= 0) system::call(__NR_close, settings);
    return true;
  }
  if (store_file >= 0) {
    in.store_file = -1;
    system::call(__NR_close, store_file);
  }
  apply_answer(in, answer);
  use_settings(in, settings);
  return true;
}

}}}  // namespace adaptyst::v1::detail

#endif
