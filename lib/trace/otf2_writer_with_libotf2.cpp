// Writes an OTF2 archive.
//
// The events of an OTF2 location must be in the order of time, and regions must nest. Events are sorted by thread or
// queue and by begin, and each location is written at once: libotf2 keeps 256 KiB of memory for each open location.
// Scopes that cross, handles and overlapping operations get further locations.
#include <fcntl.h>
#include <fmt/format.h>
#include <otf2/otf2.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../support/error.hpp"
#include "../support/output_file.hpp"
#include "otf2.hpp"
#include "otf2_names.hpp"
#include "sorted_records.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t chunk_bytes = std::uint64_t{256} * 1024;
constexpr std::size_t max_places = 65536;   // threads and queues
constexpr std::size_t max_locations = 256;  // of a thread or queue
constexpr std::uint64_t max_sort_bytes = std::uint64_t{1} << 42U;

struct record {
  std::uint64_t begin_ns = 0, end_ns = 0, order = 0, submitted_ns = 0, correlation = 0;
  union {
    std::uint64_t bytes = 0;
    double value;
  };
  std::uint32_t place = 0, site = 0;
  traced_as as = traced_as::scope;
  std::uint32_t messages = 0;  // a list of messages; 0: none
};
struct by_place_and_time {
  static std::size_t group(const record& of) { return of.place; }
  bool operator()(const record& a, const record& b) const {
    return std::tie(a.place, a.begin_ns, b.end_ns, a.order) < std::tie(b.place, b.begin_ns, a.end_ns, b.order);
  }
};

// The files until they are renamed.
struct partial_folder {
  std::string name;  // empty: none
  bool is_full = false;

  ~partial_folder() {
    std::error_code failed;
    if (!name.empty()) std::filesystem::remove_all(name, failed);
  }
};

// libotf2 frees memory twice if a write fails, so the room is checked before. It keeps up to 4 MiB of a file in memory.
OTF2_FlushType flush_with_room(void* data, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void* /*caller*/,
                               bool /*is_final*/) {
  constexpr std::uint64_t min_room_bytes = std::uint64_t{5} << 20U;
  auto& folder = *static_cast<partial_folder*>(data);
  struct statvfs about {};
  if (statvfs(folder.name.c_str(), &about) == 0 && about.f_blocks != 0 &&
      about.f_bavail < min_room_bytes / std::max<std::uint64_t>(about.f_frsize, 1))
    folder.is_full = true;
  return folder.is_full ? OTF2_NO_FLUSH : OTF2_FLUSH;
}

// Calls of MPI with events of their own.
struct mpi_call {
  std::string_view name;
  OTF2_RegionRole role;
  traced_message::form what;
  OTF2_CollectiveOp operation;  // of a collective call
};
constexpr mpi_call point_to_point(std::string_view name, traced_message::form what) {
  return {name, OTF2_REGION_ROLE_POINT2POINT, what, 0};
}
constexpr mpi_call collective(std::string_view name, OTF2_RegionRole role, OTF2_CollectiveOp operation) {
  return {name, role, traced_message::form::collective, operation};
}
constexpr mpi_call mpi_calls[] = {
    point_to_point("MPI_Send", traced_message::form::send),
    point_to_point("MPI_Bsend", traced_message::form::send),
    point_to_point("MPI_Ssend", traced_message::form::send),
    point_to_point("MPI_Rsend", traced_message::form::send),
    point_to_point("MPI_Isend", traced_message::form::send),
    point_to_point("MPI_Ibsend", traced_message::form::send),
    point_to_point("MPI_Issend", traced_message::form::send),
    point_to_point("MPI_Irsend", traced_message::form::send),
    point_to_point("MPI_Sendrecv", traced_message::form::send),
    point_to_point("MPI_Sendrecv_replace", traced_message::form::send),
    point_to_point("MPI_Recv", traced_message::form::receive),
    point_to_point("MPI_Mrecv", traced_message::form::receive),
    collective("MPI_Barrier", OTF2_REGION_ROLE_BARRIER, OTF2_COLLECTIVE_OP_BARRIER),
    collective("MPI_Bcast", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_BCAST),
    collective("MPI_Gather", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_GATHER),
    collective("MPI_Gatherv", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_GATHERV),
    collective("MPI_Scatter", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_SCATTER),
    collective("MPI_Scatterv", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_SCATTERV),
    collective("MPI_Allgather", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHER),
    collective("MPI_Allgatherv", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHERV),
    collective("MPI_Alltoall", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALL),
    collective("MPI_Alltoallv", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLV),
    collective("MPI_Alltoallw", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLW),
    collective("MPI_Allreduce", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLREDUCE),
    collective("MPI_Reduce", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_REDUCE),
    collective("MPI_Reduce_scatter", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_REDUCE_SCATTER),
    collective("MPI_Reduce_scatter_block", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK),
    collective("MPI_Scan", OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_SCAN),
    collective("MPI_Exscan", OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_EXSCAN),
};

// Null: no such call. The name may have a label.
const mpi_call* find_mpi_call(std::string_view name) {
  name = name.substr(0, name.find(" ["));
  const auto found =
      std::find_if(std::begin(mpi_calls), std::end(mpi_calls), [&](const mpi_call& each) { return each.name == name; });
  return found != std::end(mpi_calls) ? found : nullptr;
}

// The value of a key in a label: "MPI_Send [peer=1,communicator=MPI_COMM_WORLD]". A communicator is last, and its name
// may have commas.
std::string_view find_in_label(std::string_view name, std::string_view key) {
  const std::size_t begin = name.find(" [");
  if (begin == std::string_view::npos || name.back() != ']') return {};
  name = name.substr(begin + 2, name.size() - begin - 3);
  while (!name.empty()) {
    const std::size_t comma = name.find(',');
    if (name.size() > key.size() && name.substr(0, key.size()) == key && name[key.size()] == '=')
      return name.substr(key.size() + 1, key == "communicator" ? std::string_view::npos : comma - key.size() - 1);
    name.remove_prefix(comma == std::string_view::npos ? name.size() : comma + 1);
  }
  return {};
}

template <class Number>
std::optional<Number> find_number_in_label(std::string_view name, std::string_view key) {
  const std::string_view word = find_in_label(name, key);
  Number number = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || fault != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

OTF2_RegionRole choose_role_of(region_kind kind, std::string_view name) {
  if (const mpi_call* const call = find_mpi_call(name); call != nullptr) return call->role;
  switch (kind) {
    case region_kind::kernel: return OTF2_REGION_ROLE_CODE;
    case region_kind::copy_to:
    case region_kind::copy_from:
    case region_kind::fill: return OTF2_REGION_ROLE_DATA_TRANSFER;
    case region_kind::function: return OTF2_REGION_ROLE_FUNCTION;
    default: return OTF2_REGION_ROLE_CODE;
  }
}

class otf2_writer final : public trace_writer {
 public:
  otf2_writer(std::string file, std::optional<std::int64_t> utc_ns);
  ~otf2_writer() override;

  void name_process(std::int64_t process, const traced_process& what) override { processes_[process] = what; }
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override {
    threads_[{process, thread}] = name;
  }
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override {
    return threads_.size() >= max_places || threads_.count({process, thread}) != 0;
  }
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override {
    devices_[{process, device}] = what;
  }
  bool knows_device(std::int64_t process, std::uint32_t device) const override {
    return devices_.count({process, device}) != 0;
  }
  bool needs_order() const noexcept override { return true; }
  void add(std::int64_t process, const traced_event& event) override;
  std::uint64_t lost() const noexcept override { return lost_; }
  std::vector<std::string> remarks() const override {
    std::vector<std::string> made;
    const auto put = [&](std::uint64_t count, const char* verb, const char* one, const char* several, const char* why) {
      if (count != 0) made.push_back(fmt::format("{} {} {}{}", verb, count, count == 1 ? one : several, why));
    };
    put(lost_, "lacks", "event", "events", ": too many threads, or too many overlapping events");
    put(without_peer_, "has", "call of MPI without its messages", "calls of MPI without their messages",
        world_ranks_ == 0 ? ": the trace lacks ranks" : ": the other rank or the communicator is unknown");
    put(unended_receives_, "has", "receive of MPI without its message", "receives of MPI without their messages",
        ": the ends are unknown");
    put(without_size_, "has", "message of MPI of unknown size", "messages of MPI of unknown size", "");
    return made;
  }
  void flush() override {}
  void finish() override;

 private:
  // A thread, or a queue of a device.
  struct place {
    bool is_queue = false;
    std::int64_t process = 0;
    std::uint32_t device = 0;
    std::uint64_t number = 0;

    bool operator<(const place& other) const {
      return std::tie(process, is_queue, device, number) <
             std::tie(other.process, other.is_queue, other.device, other.number);
    }
  };
  // A message as OTF2 has it.
  struct written_message {
    traced_message::form what;
    OTF2_CollectiveOp operation;  // of a collective call
    OTF2_CommRef communicator;
    std::uint32_t peer, tag;
    std::optional<std::uint64_t> bytes;
    std::uint64_t received_bytes;
  };
  struct message_list {
    const traced_messages* from = nullptr;
    std::vector<written_message> all;
    std::uint64_t incomplete = 0;  // messages that cannot be written
    bool is_resolved = false;
  };
  struct open_region {
    std::uint64_t end_ns;
    std::uint32_t site;
    const message_list* messages;
    std::uint64_t bytes;
  };
  struct location {
    std::uint64_t number = 0;
    OTF2_EvtWriter* writer = nullptr;
    std::vector<open_region> open;
    std::uint64_t end_ns = 0;
  };
  struct written_location {
    std::uint32_t place = 0, copy = 0;
    std::uint64_t events = 0;
  };

  // After a failure, libotf2 frees memory twice if it is called again, also to close the archive.
  void check(OTF2_ErrorCode code) {
    if (partial_.is_full) fail("less than 5 MiB of the disk are free", ENOSPC);
    if (code != OTF2_SUCCESS) fail(OTF2_Error_GetDescription(code), 0);
  }
  [[noreturn]] void fail(const std::string& why, int number) {
    static auto& abandoned = *new std::vector<OTF2_Archive*>;  // reachable for checkers of leaks
    if (archive_ != nullptr) abandoned.push_back(std::exchange(archive_, nullptr));
    throw error(fmt::format("cannot write the trace to {}: {}", file_, why), file_, number,
                "make room, or name another file");
  }
  void write_record(const record& next);
  void write_span(const record& span);
  location& find_location(const record& span);
  location* add_location();
  void leave_until(location& of, std::uint64_t time_ns);
  void find_world();
  std::optional<OTF2_CommRef> find_communicator(const traced_communicator& of, bool is_label);
  void resolve(message_list& to, const traced_messages& from, const mpi_call* call, bool is_label);
  const message_list* find_messages(const record& span);
  void write_messages(location& on, const open_region& of, std::uint64_t time_ns, bool is_end);
  void write_communicators();
  void end_place();
  // Numbers of the written nodes and groups.
  struct group_numbers {
    std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
    std::map<std::int64_t, OTF2_LocationGroupRef> of_processes;
    std::map<std::pair<std::int64_t, std::uint32_t>, OTF2_LocationGroupRef> of_devices;
    OTF2_LocationGroupRef next = 0;
  };
  void write_metrics_and_regions();
  OTF2_SystemTreeNodeRef find_host(group_numbers& groups, const std::string& name);
  void write_processes(group_numbers& groups);
  void write_devices(group_numbers& groups);
  std::vector<std::string> name_places() const;
  void write_locations(const group_numbers& groups);
  void write_definitions();
  OTF2_StringRef text(const std::string& of);
  void appear();

  std::string file_;
  partial_folder partial_;
  std::filesystem::path folder_;
  std::string stem_;
  std::optional<std::int64_t> utc_ns_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  OTF2_AttributeList* attributes_ = nullptr;
  std::uint64_t lost_ = 0, count_ = 0, last_ns_ = 0;

  std::map<std::int64_t, traced_process> processes_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::string> threads_;
  std::map<std::pair<std::int64_t, std::uint32_t>, traced_device> devices_;
  std::map<place, std::uint32_t> place_numbers_;
  std::vector<place> places_;
  // Names with kinds, numbered from 0.
  struct name_list {
    struct entry {
      std::string name;
      region_kind kind = region_kind::region;
      std::string file{};
      std::uint32_t line = 0;
      const mpi_call* call = nullptr;
      bool is_receive_begin = false;  // that ends in another call
      message_list messages = {};     // by the label

      bool operator<(const entry& other) const {
        return std::tie(name, kind, file, line) < std::tie(other.name, other.kind, other.file, other.line);
      }
    };
    std::unordered_map<const traced_site*, std::uint32_t> by_site;
    std::map<entry, std::uint32_t> by_text;
    std::vector<entry> all;

    std::uint32_t find(const traced_site& site);
  };
  name_list regions_, metrics_;
  // From 1. Calls of different names may have equal messages, which mean other events.
  std::map<std::pair<const traced_messages*, const mpi_call*>, std::uint32_t> message_numbers_;
  std::deque<message_list> messages_;
  // By the object, as other communicators may have the same name and ranks; that of a label by its name. Empty: it
  // cannot be written.
  std::map<std::pair<const traced_communicator*, std::string>, std::optional<OTF2_CommRef>> communicators_;
  std::vector<traced_communicator> written_communicators_;
  std::uint32_t world_ranks_ = 0;                            // 0: not all ranks are in the trace
  std::map<std::int64_t, OTF2_LocationRef> rank_locations_;  // of processes with events of MPI
  std::uint64_t without_peer_ = 0, without_size_ = 0, unended_receives_ = 0;
  std::map<std::string, OTF2_StringRef> texts_;
  sorted_records<record, by_place_and_time> records_;

  std::uint32_t place_ = 0;            // that is being written
  std::vector<location> locations_;    // of this place
  std::vector<written_location> all_;  // by number
};

otf2_writer::otf2_writer(std::string file, std::optional<std::int64_t> utc_ns)
    : file_(std::move(file)), utc_ns_(utc_ns), records_(max_sort_bytes, file_) {
  const std::filesystem::path path(file_);
  folder_ = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  stem_ = path.stem().string();
  for (const std::string& part : {stem_ + ".otf2", stem_ + ".def", stem_})
    if (std::error_code failed; std::filesystem::exists(std::filesystem::symlink_status(folder_ / part, failed)))
      throw error(fmt::format("{} exists", (folder_ / part).string()), file_, 0,
                  "an OTF2 archive is several files: remove them, or name another file");
  const std::string partial = fmt::format("{}.{}.partial", file_, getpid());
  OTF2_Error_RegisterCallback(ignore_otf2_error, nullptr);
  std::error_code failed;
  if (!std::filesystem::create_directory(partial, failed))
    fail(failed ? failed.message() : partial + " exists", failed.value());
  partial_.name = partial;
  archive_ = OTF2_Archive_Open(partial.c_str(), stem_.c_str(), OTF2_FILEMODE_WRITE, chunk_bytes,
                               OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  attributes_ = OTF2_AttributeList_New();
  if (archive_ == nullptr || attributes_ == nullptr) fail("libotf2 opens no archive", 0);
  static constexpr OTF2_FlushCallbacks callbacks = {flush_with_room, nullptr};
  check(OTF2_Archive_SetFlushCallbacks(archive_, &callbacks, &partial_));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
  check(OTF2_Archive_SetCreator(archive_, "adaptyst"));
  check(OTF2_Archive_OpenEvtFiles(archive_));
}

otf2_writer::~otf2_writer() {
  if (archive_ != nullptr) OTF2_Archive_Close(archive_);
  if (attributes_ != nullptr) OTF2_AttributeList_Delete(attributes_);
}

// Readers want the definitions of a kind numbered in the order of the file.
std::uint32_t otf2_writer::name_list::find(const traced_site& site) {
  const auto [entry, is_new] = by_site.try_emplace(&site);
  if (!is_new) return entry->second;
  const auto [number, is_first] = by_text.try_emplace(
      {valid_utf8(site.name), site.kind, valid_utf8(site.file), site.line}, static_cast<std::uint32_t>(all.size()));
  if (is_first) {
    all.push_back(number->first);
    const std::string_view words = std::string_view(site.name).substr(0, site.name.find(" ["));
    if (site.kind != region_kind::metric) all.back().call = find_mpi_call(site.name);
    all.back().is_receive_begin = words == "MPI_Irecv" || words == "MPI_Imrecv";
  }
  return entry->second = number->second;
}

void otf2_writer::add(std::int64_t process, const traced_event& event) {
  const bool is_queue = event.as == traced_as::operation;
  const place at{is_queue, process, is_queue ? event.site->device : 0, is_queue ? event.queue : event.thread};
  auto entry = place_numbers_.find(at);
  if (entry == place_numbers_.end()) {
    if (places_.size() == max_places) {
      ++lost_;
      return;
    }
    entry = place_numbers_.emplace(at, static_cast<std::uint32_t>(places_.size())).first;
    places_.push_back(at);
    processes_.try_emplace(process, traced_process{fmt::format("process {}", process), process, {}, {}});
  }
  record made;
  made.begin_ns = event.begin_ns;
  made.end_ns = event.as == traced_as::metric || event.as == traced_as::instant_event ? event.begin_ns : event.end_ns;
  made.order = count_++;
  made.submitted_ns = event.submitted_ns;
  made.correlation = event.correlation;
  if (event.as == traced_as::metric) made.value = event.value;
  else made.bytes = event.bytes;
  made.place = entry->second;
  made.site = (event.as == traced_as::metric ? metrics_ : regions_).find(*event.site);
  made.as = event.as;
  if (event.messages != nullptr) {
    const mpi_call* const call = event.as != traced_as::metric ? regions_.all[made.site].call : nullptr;
    const auto [listed, is_new] =
        message_numbers_.try_emplace({event.messages, call}, static_cast<std::uint32_t>(messages_.size() + 1));
    if (is_new) messages_.emplace_back().from = event.messages;
    made.messages = listed->second;
  }
  last_ns_ = std::max(last_ns_, made.end_ns);
  records_.add(made);
}

otf2_writer::location* otf2_writer::add_location() {
  if (locations_.size() == max_locations) return nullptr;
  location& made = locations_.emplace_back();
  made.number = all_.size();
  made.writer = OTF2_Archive_GetEvtWriter(archive_, made.number);
  if (made.writer == nullptr) fail("libotf2 opens no location", 0);
  all_.push_back({place_, static_cast<std::uint32_t>(locations_.size() - 1), 0});
  return &made;
}

void otf2_writer::leave_until(location& of, std::uint64_t time_ns) {
  while (!of.open.empty() && of.open.back().end_ns <= time_ns) {
    const open_region& last = of.open.back();
    if (last.messages != nullptr) write_messages(of, last, last.end_ns, true);
    check(OTF2_EvtWriter_Leave(of.writer, nullptr, last.end_ns, last.site));
    of.open.pop_back();
  }
}

// Ranks of MPI's world have numbers from 0. Events of MPI need a location of each.
void otf2_writer::find_world() {
  std::set<std::int64_t> with_threads;
  for (const place& each : places_)
    if (!each.is_queue) with_threads.insert(each.process);
  std::set<std::uint32_t> ranks;
  for (const auto& [process, about] : processes_)
    if (about.rank && (with_threads.count(process) == 0 || !ranks.insert(*about.rank).second)) return;
  if (!ranks.empty() && *ranks.rbegin() == ranks.size() - 1) world_ranks_ = static_cast<std::uint32_t>(ranks.size());
}

// Empty: the members are unknown.
std::optional<OTF2_CommRef> otf2_writer::find_communicator(const traced_communicator& of, bool is_label) {
  if (world_ranks_ == 0) return std::nullopt;
  const auto [entry, is_new] =
      communicators_.try_emplace({is_label ? nullptr : &of, is_label ? of.name : std::string()}, std::nullopt);
  if (!is_new) return entry->second;
  traced_communicator made = of;
  made.name = valid_utf8(of.name);
  if (made.name == otf2_self_name) made.ranks.clear();
  else if (made.ranks.empty() && made.name == otf2_world_name) {
    made.ranks.resize(world_ranks_);
    std::iota(made.ranks.begin(), made.ranks.end(), 0U);
  } else if (made.ranks.empty()) return std::nullopt;
  for (const std::uint32_t rank : made.ranks)
    if (rank >= world_ranks_) return std::nullopt;
  entry->second = static_cast<OTF2_CommRef>(written_communicators_.size());
  written_communicators_.push_back(std::move(made));
  return entry->second;
}

void otf2_writer::resolve(message_list& to, const traced_messages& from, const mpi_call* call, bool is_label) {
  if (std::exchange(to.is_resolved, true)) return;
  for (const traced_message& message : from) {
    const bool is_collective = message.what == traced_message::form::collective;
    const bool is_rooted =
        call != nullptr && (call->role == OTF2_REGION_ROLE_COLL_ONE2ALL || call->role == OTF2_REGION_ROLE_COLL_ALL2ONE);
    const bool has_peer = message.peer || (is_collective && !is_rooted);
    const bool has_call = !is_collective || (call != nullptr && call->what == message.what);
    std::optional<OTF2_CommRef> communicator;
    if (has_peer && has_call && message.communicator != nullptr)
      communicator = find_communicator(*message.communicator, is_label);
    if (communicator && message.peer) {
      const std::size_t size = written_communicators_[*communicator].ranks.size();
      if (*message.peer >= (size != 0 ? size : 1)) communicator.reset();
    }
    if (!communicator) {
      ++to.incomplete;
      continue;
    }
    to.all.push_back({message.what, is_collective ? call->operation : OTF2_CollectiveOp{}, *communicator,
                      message.peer.value_or(OTF2_UNDEFINED_UINT32), message.tag.value_or(OTF2_UNDEFINED_UINT32),
                      message.bytes, message.received_bytes.value_or(OTF2_UNDEFINED_UINT64)});
  }
}

// The messages of a call, from the trace or from its label. Null: none.
const otf2_writer::message_list* otf2_writer::find_messages(const record& span) {
  name_list::entry& region = regions_.all[span.site];
  // Labels show no ends. Traces with messages have them at the ends.
  if (region.is_receive_begin && messages_.empty()) ++unended_receives_;
  if (span.messages == 0 && region.call == nullptr) return nullptr;
  message_list& to = span.messages != 0 ? messages_[span.messages - 1] : region.messages;
  if (span.messages != 0) resolve(to, *to.from, region.call, false);
  else if (!to.is_resolved) {
    const traced_communicator of{std::string(find_in_label(region.name, "communicator")), {}};
    resolve(to,
            {{region.call->what,
              of.name.empty() ? nullptr : &of,
              find_number_in_label<std::uint32_t>(region.name, "peer"),
              find_number_in_label<std::uint32_t>(region.name, "tag"),
              find_number_in_label<std::uint64_t>(region.name, "bytes"),
              {}}},
            region.call, true);
    // A label has the receiver only.
    if (region.call->name.substr(0, 12) == "MPI_Sendrecv") ++to.incomplete;
  }
  if (to.incomplete != 0) ++without_peer_;
  return to.all.empty() ? nullptr : &to;
}

void otf2_writer::write_messages(location& on, const open_region& of, std::uint64_t time_ns, bool is_end) {
  for (const written_message& message : of.messages->all) {
    const std::uint64_t bytes = message.bytes ? *message.bytes : of.bytes != 0 ? of.bytes : OTF2_UNDEFINED_UINT64;
    const bool is_send = message.what == traced_message::form::send;
    if (message.what == traced_message::form::collective) {
      if (!is_end) check(OTF2_EvtWriter_MpiCollectiveBegin(on.writer, nullptr, time_ns));
      else
        check(OTF2_EvtWriter_MpiCollectiveEnd(on.writer, nullptr, time_ns, message.operation, message.communicator,
                                              message.peer, bytes, message.received_bytes));
    } else if (is_send != is_end)
      check((is_send ? OTF2_EvtWriter_MpiSend : OTF2_EvtWriter_MpiRecv)(on.writer, nullptr, time_ns, message.peer,
                                                                        message.communicator, message.tag, bytes));
    if (is_end && bytes == OTF2_UNDEFINED_UINT64) ++without_size_;
  }
  rank_locations_.try_emplace(places_[place_].process, on.number);
}

// Group 0 has the location of each rank; each communicator has a group of ranks.
void otf2_writer::write_communicators() {
  if (written_communicators_.empty()) return;
  std::vector<std::uint64_t> world(world_ranks_), members;
  for (std::uint64_t number = 0; number != all_.size(); ++number)
    if (const place& at = places_[all_[number].place]; !at.is_queue) rank_locations_.try_emplace(at.process, number);
  for (const auto& [process, about] : processes_)
    if (about.rank) {
      const auto found = rank_locations_.find(process);
      if (found == rank_locations_.end()) fail("a rank has no events", 0);
      world[*about.rank] = found->second;
    }
  const OTF2_StringRef nothing = text("");
  const auto write_group = [&](OTF2_GroupRef self, OTF2_GroupType type, const std::vector<std::uint64_t>& all) {
    check(OTF2_GlobalDefWriter_WriteGroup(definitions_, self, nothing, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                          static_cast<std::uint32_t>(all.size()), all.data()));
  };
  write_group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, world);
  for (OTF2_CommRef number = 0; number != written_communicators_.size(); ++number) {
    const traced_communicator& of = written_communicators_[number];
    const OTF2_StringRef name = text(of.name);
    members.assign(of.ranks.begin(), of.ranks.end());
    write_group(number + 1, members.empty() ? OTF2_GROUP_TYPE_COMM_SELF : OTF2_GROUP_TYPE_COMM_GROUP, members);
    check(OTF2_GlobalDefWriter_WriteComm(definitions_, number, name, number + 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
  }
}

void otf2_writer::end_place() {
  for (location& each : locations_) {
    leave_until(each, ~std::uint64_t{0});
    check(OTF2_EvtWriter_GetNumberOfEvents(each.writer, &all_[each.number].events));
    check(OTF2_Archive_CloseEvtWriter(archive_, each.writer));
  }
  locations_.clear();
}

void otf2_writer::write_span(const record& span) {
  location* on = nullptr;
  if (locations_.empty()) add_location();
  // Only scopes nest, and only on the first location.
  if (span.as == traced_as::scope || span.as == traced_as::instant_event) {
    location& first = locations_.front();
    leave_until(first, span.begin_ns);
    if (first.open.empty() || first.open.back().end_ns >= span.end_ns) on = &first;
  }
  for (std::size_t at = places_[place_].is_queue ? 0 : 1; on == nullptr && at < locations_.size(); ++at) {
    leave_until(locations_[at], span.begin_ns);
    if (locations_[at].open.empty()) on = &locations_[at];
  }
  if (on == nullptr) on = add_location();
  if (on == nullptr) {
    ++lost_;
    return;
  }
  const auto note = [&](otf2_attribute which, std::uint64_t value) {
    if (value != 0) check(OTF2_AttributeList_AddUint64(attributes_, which, value));
  };
  const bool has_notes = span.bytes != 0 || span.correlation != 0 || span.submitted_ns != 0 ||
                         span.as == traced_as::handle || span.as == traced_as::instant_event;
  if (has_notes) {
    note(otf2_bytes, span.bytes);
    note(otf2_correlation, span.correlation);
    note(otf2_submitted, span.submitted_ns);
    if (span.as != traced_as::scope && span.as != traced_as::operation)
      note(otf2_event, static_cast<std::uint64_t>(span.as));
  }
  check(OTF2_EvtWriter_Enter(on->writer, has_notes ? attributes_ : nullptr, span.begin_ns, span.site));
  if (has_notes) check(OTF2_AttributeList_RemoveAllAttributes(attributes_));
  on->open.push_back({span.end_ns, span.site, find_messages(span), span.bytes});
  if (on->open.back().messages != nullptr) write_messages(*on, on->open.back(), span.begin_ns, false);
}

void otf2_writer::write_record(const record& next) {
  if (next.place != place_) {
    end_place();
    place_ = next.place;
  }
  if (next.as != traced_as::metric) return write_span(next);
  if (locations_.empty()) add_location();
  location& on = locations_.front();
  leave_until(on, next.begin_ns);
  OTF2_Type type = OTF2_TYPE_DOUBLE;
  OTF2_MetricValue value;
  value.floating_point = next.value;
  check(OTF2_EvtWriter_Metric(on.writer, nullptr, next.begin_ns, next.site, 1, &type, &value));
}

OTF2_StringRef otf2_writer::text(const std::string& of) {
  const auto [entry, is_new] = texts_.try_emplace(of, static_cast<OTF2_StringRef>(texts_.size()));
  // The format ends a text at the first zero byte.
  if (is_new) check(OTF2_GlobalDefWriter_WriteString(definitions_, entry->second, of.c_str()));
  return entry->second;
}

void otf2_writer::write_metrics_and_regions() {
  const OTF2_StringRef nothing = text("");
  for (const auto& [which, name] : otf2_attributes)
    check(OTF2_GlobalDefWriter_WriteAttribute(definitions_, which, text(name), nothing, OTF2_TYPE_UINT64));
  for (std::uint32_t at = 0; at != metrics_.all.size(); ++at) {
    check(OTF2_GlobalDefWriter_WriteMetricMember(definitions_, at, text(metrics_.all[at].name), nothing,
                                                 OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
                                                 OTF2_BASE_DECIMAL, 0, nothing));
    check(OTF2_GlobalDefWriter_WriteMetricClass(definitions_, at, 1, &at, OTF2_METRIC_ASYNCHRONOUS,
                                                OTF2_RECORDER_KIND_CPU));
  }
  for (std::uint32_t at = 0; at != regions_.all.size(); ++at) {
    const name_list::entry& region = regions_.all[at];
    const auto& [words, kind] = std::tie(region.name, region.kind);
    const bool is_mpi = words.rfind("MPI_", 0) == 0;
    const OTF2_StringRef name = text(words);
    check(OTF2_GlobalDefWriter_WriteRegion(
        definitions_, at, name, name, text(to_string(kind)), choose_role_of(kind, words),
        is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
        region.file.empty() ? OTF2_UNDEFINED_STRING : text(region.file), region.line, 0));
  }
}

OTF2_SystemTreeNodeRef otf2_writer::find_host(group_numbers& groups, const std::string& name) {
  const auto [host, is_new] =
      groups.hosts.try_emplace(name, static_cast<OTF2_SystemTreeNodeRef>(groups.hosts.size() + 1));
  if (is_new)
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
        definitions_, host->second, text(name.empty() ? otf2_unknown_host : valid_utf8(name)), text("node"), 0));
  return host->second;
}

void otf2_writer::write_processes(group_numbers& groups) {
  for (const auto& [process, about] : processes_) {
    const OTF2_LocationGroupRef group = groups.of_processes[process] = groups.next++;
    // The name that Score-P gives to the process of a rank.
    const std::string name = about.rank ? fmt::format("{}{}", otf2_rank_name, *about.rank) : valid_utf8(about.name);
    check(OTF2_GlobalDefWriter_WriteLocationGroup(definitions_, group, text(name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                  find_host(groups, about.host), OTF2_UNDEFINED_LOCATION_GROUP));
    const auto put = [&](const char* property, OTF2_Type type, OTF2_AttributeValue value) {
      check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(definitions_, group, text(property), type, value));
    };
    OTF2_AttributeValue value;
    value.stringRef = text(valid_utf8(about.name));
    put(otf2_program_property, OTF2_TYPE_STRING, value);
    value.int64 = about.number;
    put(otf2_process_property, OTF2_TYPE_INT64, value);
  }
}

void otf2_writer::write_devices(group_numbers& groups) {
  for (const auto& [at, number] : place_numbers_) {
    if (!at.is_queue) continue;
    const auto [group, is_new] = groups.of_devices.try_emplace({at.process, at.device}, groups.next);
    if (!is_new) continue;
    ++groups.next;
    const auto named = devices_.find({at.process, at.device});
    const std::string name =
        named != devices_.end() ? valid_utf8(named->second.name) : fmt::format("device {}", at.device);
    check(OTF2_GlobalDefWriter_WriteLocationGroup(
        definitions_, group->second, text(name), OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
        find_host(groups, processes_[at.process].host), groups.of_processes[at.process]));
    OTF2_AttributeValue value;
    value.int64 = named != devices_.end() ? named->second.physical : at.device;
    check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(definitions_, group->second, text(otf2_device_property),
                                                          OTF2_TYPE_INT64, value));
  }
}

// By the number of the place.
std::vector<std::string> otf2_writer::name_places() const {
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> queues;  // by device
  std::vector<std::string> names(places_.size());
  for (const auto& [at, number] : place_numbers_) {
    const auto named = threads_.find({at.process, static_cast<std::uint32_t>(at.number)});
    if (at.is_queue) names[number] = fmt::format("queue {}", ++queues[{at.process, at.device}]);
    else if (named != threads_.end()) names[number] = valid_utf8(named->second);
    else names[number] = fmt::format("thread {}", at.number);
  }
  return names;
}

void otf2_writer::write_locations(const group_numbers& groups) {
  const std::vector<std::string> names = name_places();
  for (std::uint64_t number = 0; number != all_.size(); ++number) {
    const written_location& each = all_[number];
    const place& at = places_[each.place];
    std::string name = names[each.place];
    if (each.copy != 0) name += fmt::format(" ({})", each.copy + 1);
    check(OTF2_GlobalDefWriter_WriteLocation(
        definitions_, number, text(name),
        at.is_queue ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM : OTF2_LOCATION_TYPE_CPU_THREAD, each.events,
        at.is_queue ? groups.of_devices.at({at.process, at.device}) : groups.of_processes.at(at.process)));
    OTF2_AttributeValue value;
    value.uint64 = at.number;
    check(OTF2_GlobalDefWriter_WriteLocationProperty(definitions_, number, text(otf2_number_property), OTF2_TYPE_UINT64,
                                                     value));
  }
}

void otf2_writer::write_definitions() {
  definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
  if (definitions_ == nullptr) fail("libotf2 writes no definitions", 0);
  check(OTF2_GlobalDefWriter_WriteClockProperties(
      definitions_, 1'000'000'000, 0, last_ns_,
      utc_ns_ ? static_cast<std::uint64_t>(*utc_ns_) : OTF2_UNDEFINED_TIMESTAMP));
  write_metrics_and_regions();
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, 0, text("machine"), text("machine"),
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  group_numbers groups;
  write_processes(groups);
  write_devices(groups);
  write_locations(groups);
  write_communicators();
}

void otf2_writer::finish() {
  find_world();
  records_.take_all([this](const record& next) { write_record(next); });
  end_place();
  check(OTF2_Archive_CloseEvtFiles(archive_));
  check(OTF2_Archive_OpenDefFiles(archive_));
  for (std::uint64_t number = 0; number != all_.size(); ++number)
    if (OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive_, number); local != nullptr)
      check(OTF2_Archive_CloseDefWriter(archive_, local));
  check(OTF2_Archive_CloseDefFiles(archive_));
  write_definitions();
  check(OTF2_Archive_CloseGlobalDefWriter(archive_, definitions_));
  check(OTF2_Archive_Close(std::exchange(archive_, nullptr)));
  appear();
}

// Returns 0, or a number of an error. An existing file stays.
int move_new(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // This file system cannot rename so.
  std::error_code failed;
  if (std::filesystem::exists(std::filesystem::symlink_status(to, failed))) return EEXIST;
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// The anchor comes last: without it, there is no archive. All parts appear, or none.
void otf2_writer::appear() {
  std::vector<std::string> moved;
  for (const std::string& part : {stem_, stem_ + ".def", stem_ + ".otf2"}) {
    std::error_code failed;
    const std::filesystem::path from = std::filesystem::path(partial_.name) / part;
    if (part == stem_ && !std::filesystem::exists(from, failed)) continue;  // no events
    if (const int fault = move_new(from, folder_ / part); fault != 0) {
      for (const std::string& back : moved)
        std::filesystem::rename(folder_ / back, std::filesystem::path(partial_.name) / back, failed);
      fail("cannot move " + part, fault);
    }
    moved.push_back(part);
  }
}

}  // namespace

std::unique_ptr<trace_writer> make_otf2_writer(const std::string& file, std::optional<std::int64_t> utc_ns) {
  return std::make_unique<otf2_writer>(file, utc_ns);
}

}  // namespace adaptyst::lib
