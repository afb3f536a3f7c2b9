// Reads an OTF2 archive of any program: regions by location, metrics, and the attributes of our own archives.
//
// libotf2 joins the locations by time. Spans end in this order, as those of a recorder, and are written to a temporary
// store, so that analyses have rows and need no memory.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../support/descriptor.hpp"
#include "../support/error.hpp"
#include "../support/output_form.hpp"
#include "otf2.hpp"
#include "otf2_names.hpp"
#include "placed_scopes.hpp"
#include "store_reader.hpp"
#include "store_writer.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_open = 65536;  // regions of a location
constexpr std::uint64_t max_locations = std::uint64_t{1} << 20U;
constexpr std::uint32_t max_devices = 4096;
constexpr std::uint64_t max_bytes_to_open = std::uint64_t{1} << 26U;  // the anchor, not the events
constexpr std::size_t max_messages_of_call = 4096;
constexpr std::size_t max_ranks = std::size_t{1} << 23U;            // of all communicators
constexpr std::size_t max_different_calls = std::size_t{1} << 18U;  // of MPI, by their messages

// A folder of a store that scans open by name. Its owner holds a lock, which ends with the process: a folder without
// a lock is of a killed process, and the next reader removes it.
class temporary_folder {
 public:
  temporary_folder() {
    std::error_code failed;
    const std::filesystem::path in = std::filesystem::temp_directory_path(failed);
    name_ = (in / fmt::format("{}{}", prefix, unique)).string();
    if (failed || mkdtemp(name_.data()) == nullptr)
      throw error(fmt::format("cannot make a folder {}", name_), name_, failed ? failed.value() : errno,
                  "set TMPDIR to a folder with room");
    lock_.reset(open(name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Without locks, a folder in use looks like one of a killed process.
    if (lock_ && flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) remove_leftovers(in);
  }
  ~temporary_folder() {
    std::error_code failed;
    std::filesystem::remove_all(name_, failed);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  const std::string& name() const noexcept { return name_; }
  std::string store() const { return fmt::format("{}/{}", name_, store_name); }

 private:
  static constexpr std::string_view prefix = "adaptyst-otf2-", unique = "XXXXXX", store_name = "archive.sqlite";

  static bool is_name_of_ours(std::string_view name) {
    return name.size() == prefix.size() + unique.size() && name.substr(0, prefix.size()) == prefix &&
           std::all_of(name.begin() + prefix.size(), name.end(),
                       [](unsigned char each) { return each < 128 && std::isalnum(each) != 0; });
  }

  static void remove_leftovers(const std::filesystem::path& in) {
    constexpr int max_entries = 100'000;
    constexpr time_t min_age_s = 60;  // a folder has no lock yet when it is made
    const descriptor parent(open(in.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::error_code failed;
    int entries = 0;
    for (auto entry = std::filesystem::directory_iterator(in, failed);
         parent && !failed && entry != std::filesystem::directory_iterator() && ++entries != max_entries;
         entry.increment(failed)) {
      const std::string name = entry->path().filename().string();
      if (!is_name_of_ours(name)) continue;
      descriptor folder(openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      struct stat about {};
      const bool is_ours = folder && fstat(folder.get(), &about) == 0 && about.st_uid == geteuid() &&
                           (about.st_mode & 0777U) == 0700 && about.st_mtim.tv_sec < time(nullptr) - min_age_s;
      if (is_ours && flock(folder.get(), LOCK_EX | LOCK_NB) == 0 && remove_stores(folder.get()))
        unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
    }
  }

  // Removes nothing from a folder with another file.
  static bool remove_stores(int folder) {
    constexpr std::size_t max_files = 16;
    const int listed = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR* const in = listed >= 0 ? fdopendir(listed) : nullptr;
    if (in == nullptr) {
      if (listed >= 0) close(listed);
      return false;
    }
    std::vector<std::string> names;
    bool has_other = false;
    while (const dirent* const entry = readdir(in)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      has_other = name.substr(0, store_name.size()) != store_name || names.size() == max_files;
      if (has_other) break;
      names.emplace_back(name);
    }
    closedir(in);
    for (const std::string& name : names)
      if (!has_other) unlinkat(folder, name.c_str(), 0);
    return !has_other;
  }

  std::string name_;
  descriptor lock_;
};

// Limits the memory of this process, while it exists. libotf2 allocates what an anchor asks for: a damaged one of 80
// bytes took 15 GB. Readers open archives before they start threads.
class memory_limit {
 public:
  explicit memory_limit(std::uint64_t more_bytes) {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    unsigned long pages = 0;
    has_limit_ = file != nullptr && std::fscanf(file, "%lu", &pages) == 1 && getrlimit(RLIMIT_AS, &before_) == 0;
    if (file != nullptr) std::fclose(file);
    if (!has_limit_) return;
    rlimit limited = before_;
    const rlim_t used = rlim_t{pages} * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
    limited.rlim_cur = std::min(limited.rlim_cur, used + more_bytes);
    has_limit_ = setrlimit(RLIMIT_AS, &limited) == 0;
  }
  ~memory_limit() {
    if (has_limit_) setrlimit(RLIMIT_AS, &before_);
  }
  memory_limit(const memory_limit&) = delete;
  memory_limit& operator=(const memory_limit&) = delete;

 private:
  rlimit before_{};
  bool has_limit_ = false;
};

// The definitions of an archive, by the numbers of its definitions.
struct definitions {
  struct region {
    OTF2_StringRef name, description;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    OTF2_StringRef file;
    std::uint32_t line;
  };
  // Members are positions in the list of the paradigm's locations, or locations.
  struct member_group {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    bool has_locations;
    std::vector<std::uint64_t> members;
  };
  struct communicator {
    OTF2_StringRef name;
    OTF2_GroupRef group;
  };
  struct group {
    OTF2_StringRef name;
    OTF2_LocationGroupType type;
    OTF2_SystemTreeNodeRef node;
    OTF2_LocationGroupRef creator;
  };
  struct location {
    OTF2_StringRef name;
    OTF2_LocationType type;
    OTF2_LocationGroupRef group;
    std::uint64_t events;
  };
  struct property {
    OTF2_Type type;
    OTF2_AttributeValue value;
  };
  std::unordered_map<OTF2_StringRef, std::string> texts;
  std::unordered_map<OTF2_RegionRef, region> regions;
  std::map<OTF2_LocationGroupRef, group> groups;
  std::map<OTF2_LocationRef, location> locations;
  std::unordered_map<OTF2_SystemTreeNodeRef, OTF2_StringRef> nodes;
  std::unordered_map<OTF2_MetricMemberRef, OTF2_StringRef> metrics;
  std::unordered_map<OTF2_MetricRef, std::vector<OTF2_MetricMemberRef>> metric_classes;
  std::unordered_map<OTF2_MetricRef, OTF2_MetricRef> metric_instances;
  std::unordered_map<OTF2_GroupRef, member_group> member_groups;
  std::map<OTF2_Paradigm, std::vector<std::uint64_t>> locations_of;  // by rank
  std::unordered_map<OTF2_CommRef, communicator> communicators;
  std::unordered_map<OTF2_RmaWinRef, OTF2_CommRef> windows;
  std::map<std::pair<OTF2_LocationGroupRef, std::string>, property> group_properties;
  std::map<std::pair<OTF2_LocationRef, std::string>, property> location_properties;
  std::unordered_map<std::string, OTF2_AttributeRef> attributes;
  std::uint64_t ticks_a_second = 0, offset = 0, realtime = OTF2_UNDEFINED_TIMESTAMP;

  std::string text(OTF2_StringRef of, const char* otherwise = "(unnamed)") const {
    const auto found = texts.find(of);
    return found != texts.end() && !found->second.empty() ? found->second : otherwise;
  }
};

// Only in our archives is a description the name of a kind.
bool is_ours(const definitions& all) { return all.attributes.count(otf2_attributes[otf2_event].second) != 0; }

// A metric is no region.
region_kind choose_kind(const definitions& all, const definitions::region& of, bool is_on_device) {
  if (is_ours(all)) {
    const std::string word = all.text(of.description, "");
    for (int kind = 0; kind < static_cast<int>(region_kind::metric); ++kind)
      if (word == to_string(static_cast<region_kind>(kind))) return static_cast<region_kind>(kind);
  }
  if (is_on_device) return of.role == OTF2_REGION_ROLE_DATA_TRANSFER ? region_kind::copy_to : region_kind::kernel;
  const bool is_call = of.role == OTF2_REGION_ROLE_FUNCTION || of.role == OTF2_REGION_ROLE_WRAPPER;
  return is_call || of.paradigm == OTF2_PARADIGM_MPI ? region_kind::function : region_kind::region;
}

class archive_copy {
 public:
  archive_copy(const std::string& file, store_writer& to) : file_(file), to_(to) {}

  void read();
  std::string remarks() const;

 private:
  struct open_region {
    const traced_site* site;
    traced_event event;
    bool is_copy = false;  // of another program
    std::optional<copy_direction> direction = {};
    traced_messages messages = {};
  };
  struct lane {
    std::int64_t process = 0;
    std::uint32_t device = 0;                   // 0: a thread
    std::uint64_t number = 0;                   // of the thread or queue
    std::map<std::uint64_t, open_region> open;  // by order of the begins
    std::set<std::pair<OTF2_RegionRef, std::uint64_t>> orders;
    std::map<OTF2_RegionRef, std::uint64_t> too_deep;  // skipped begins, until their ends
    std::map<std::pair<OTF2_RmaWinRef, std::uint64_t>, open_region> transfers;
    std::uint64_t begun = 0;

    const traced_site* innermost() const { return open.empty() ? nullptr : open.rbegin()->second.site; }
  };

  [[noreturn]] void refuse(const char* why) const {
    throw error(fmt::format("{} cannot be read: {}", file_, why), file_, 0,
                "an OTF2 archive is FILE.otf2, FILE.def and a folder FILE; otf2-print shows the fault");
  }
  [[noreturn]] void refuse_for_limit() const {
    throw error(fmt::format("{} cannot be read: it has more locations than files may be open", file_), file_, EMFILE,
                "raise the limit: ulimit -n");
  }
  // Exceptions must not pass through libotf2, which is in C.
  template <class Work>
  static OTF2_CallbackCode guard(void* data, const Work& work) {
    auto& self = *static_cast<archive_copy*>(data);
    try {
      work(self);
      return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
      self.thrown_ = std::current_exception();
      return OTF2_CALLBACK_INTERRUPT;
    }
  }
  void check(OTF2_ErrorCode code) const {
    if (thrown_) std::rethrow_exception(thrown_);
    if (code == OTF2_ERROR_EMFILE) refuse_for_limit();
    if (code != OTF2_SUCCESS) refuse(OTF2_Error_GetDescription(code));
  }
  std::uint64_t to_ns(std::uint64_t ticks) const;
  static void register_locations(OTF2_GlobalDefReaderCallbacks* calls);
  static void register_metrics(OTF2_GlobalDefReaderCallbacks* calls);
  static void register_communicators(OTF2_GlobalDefReaderCallbacks* calls);
  void read_definitions(OTF2_Reader* reader);
  void read_events(OTF2_Reader* reader);
  static void register_messages(OTF2_GlobalEvtReaderCallbacks* calls);
  static void register_transfers(OTF2_GlobalEvtReaderCallbacks* calls);
  const OTF2_AttributeValue* find_property(OTF2_LocationGroupRef group, const char* name, OTF2_Type type) const;
  using processes = std::map<OTF2_LocationGroupRef, std::int64_t>;
  processes name_processes();
  void name_threads_and_devices(const processes& named);
  const traced_communicator* find_communicator(OTF2_CommRef of);
  std::uint64_t find_rank(OTF2_Paradigm paradigm, std::uint64_t location);
  std::optional<OTF2_LocationRef> find_location(OTF2_CommRef of, std::uint32_t rank) const;
  void add_message(OTF2_LocationRef location, traced_message::form what, std::uint32_t peer, OTF2_CommRef of,
                   std::uint32_t tag, std::uint64_t bytes, std::optional<std::uint64_t> received = {});
  void end_messages(open_region& of);
  const traced_site* find_copy_site(const std::string& name, std::uint32_t device,
                                    std::optional<copy_direction> direction);
  void transfer(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_RmaWinRef window, std::uint32_t remote,
                std::uint64_t bytes, std::uint64_t id, bool is_get);
  void end_transfer(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_RmaWinRef window, std::uint64_t id);
  void enter(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_AttributeList* notes, OTF2_RegionRef region);
  void leave(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_RegionRef region);
  void measure(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_MetricRef metric, std::uint8_t count,
               const OTF2_Type* types, const OTF2_MetricValue* values);

  std::string file_;
  store_writer& to_;
  definitions all_;
  std::unordered_map<OTF2_LocationRef, lane> lanes_;
  site_list sites_;
  std::map<OTF2_CommRef, traced_communicator> communicators_;
  std::map<OTF2_Paradigm, std::unordered_map<std::uint64_t, std::uint64_t>> ranks_of_;  // by location
  std::size_t ranks_ = 0;                                                               // of all communicators
  std::set<traced_messages> calls_;
  std::uint64_t unmatched_ = 0, unended_ = 0, too_deep_ = 0, replaced_transfers_ = 0, without_ranks_ = 0;
  std::uint64_t outside_ = 0, too_different_ = 0, unread_collectives_ = 0, without_direction_ = 0, host_transfers_ = 0;
  std::exception_ptr thrown_;
};

std::uint64_t archive_copy::to_ns(std::uint64_t ticks) const {
  const std::uint64_t since = ticks > all_.offset ? ticks - all_.offset : 0;
  if (all_.ticks_a_second == 1'000'000'000) return since;
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<wide>(since) * 1'000'000'000U / all_.ticks_a_second);
}

void archive_copy::register_locations(OTF2_GlobalDefReaderCallbacks* calls) {
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(
      calls, [](void* data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef /*kind*/,
                OTF2_SystemTreeNodeRef /*parent*/) {
        return guard(data, [&](archive_copy& to) { to.all_.nodes[self] = name; });
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
      calls, [](void* data, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType type,
                OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef creator) {
        return guard(data, [&](archive_copy& to) { to.all_.groups[self] = {name, type, node, creator}; });
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
      calls, [](void* data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type, std::uint64_t events,
                OTF2_LocationGroupRef group) {
        return guard(data, [&](archive_copy& to) {
          if (to.all_.locations.size() >= max_locations) to.refuse("it has more than a million locations");
          to.all_.locations[self] = {name, type, group, events};
        });
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(
      calls,
      [](void* data, OTF2_LocationGroupRef group, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value) {
        return guard(data, [&](archive_copy& to) {
          to.all_.group_properties[{group, to.all_.text(name)}] = {type, value};
        });
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(
      calls, [](void* data, OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value) {
        return guard(data, [&](archive_copy& to) {
          to.all_.location_properties[{location, to.all_.text(name)}] = {type, value};
        });
      });
}

void archive_copy::register_metrics(OTF2_GlobalDefReaderCallbacks* calls) {
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
      calls, [](void* data, OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef /*description*/,
                OTF2_MetricType /*type*/, OTF2_MetricMode /*mode*/, OTF2_Type /*value*/, OTF2_Base /*base*/,
                std::int64_t /*exponent*/, OTF2_StringRef /*unit*/) {
        return guard(data, [&](archive_copy& to) { to.all_.metrics[self] = name; });
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
      calls, [](void* data, OTF2_MetricRef self, std::uint8_t count, const OTF2_MetricMemberRef* members,
                OTF2_MetricOccurrence /*occurrence*/, OTF2_RecorderKind /*kind*/) {
        return guard(data, [&](archive_copy& to) { to.all_.metric_classes[self].assign(members, members + count); });
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(
      calls, [](void* data, OTF2_MetricRef self, OTF2_MetricRef of, OTF2_LocationRef /*recorder*/,
                OTF2_MetricScope /*scope*/, std::uint64_t /*where*/) {
        return guard(data, [&](archive_copy& to) { to.all_.metric_instances[self] = of; });
      });
}

void archive_copy::register_communicators(OTF2_GlobalDefReaderCallbacks* calls) {
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(calls, [](void* data, OTF2_GroupRef self, OTF2_StringRef /*name*/,
                                                           OTF2_GroupType type, OTF2_Paradigm paradigm,
                                                           OTF2_GroupFlag flags, std::uint32_t count,
                                                           const std::uint64_t* members) {
    return guard(data, [&](archive_copy& to) {
      std::vector<std::uint64_t> all(members, members + count);
      if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) to.all_.locations_of[paradigm] = std::move(all);
      else if (type == OTF2_GROUP_TYPE_COMM_GROUP || type == OTF2_GROUP_TYPE_COMM_SELF)
        to.all_.member_groups[self] = {type, paradigm, (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0, std::move(all)};
    });
  });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(
      calls, [](void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef /*parent*/,
                OTF2_CommFlag /*flags*/) {
        return guard(data, [&](archive_copy& to) { to.all_.communicators[self] = {name, group}; });
      });
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(
      calls, [](void* data, OTF2_RmaWinRef self, OTF2_StringRef /*name*/, OTF2_CommRef of, OTF2_RmaWinFlag /*flags*/) {
        return guard(data, [&](archive_copy& to) { to.all_.windows[self] = of; });
      });
}

void archive_copy::read_definitions(OTF2_Reader* reader) {
  OTF2_GlobalDefReader* const from = OTF2_Reader_GetGlobalDefReader(reader);
  OTF2_GlobalDefReaderCallbacks* const calls = from != nullptr ? OTF2_GlobalDefReaderCallbacks_New() : nullptr;
  if (calls == nullptr) refuse("it has no definitions");
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, [](void* data, OTF2_StringRef self, const char* text) {
    return guard(data, [&](archive_copy& to) { to.all_.texts[self] = text != nullptr ? text : ""; });
  });
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
      calls,
      [](void* data, std::uint64_t resolution, std::uint64_t offset, std::uint64_t /*length*/, std::uint64_t realtime) {
        return guard(data, [&](archive_copy& to) {
          to.all_.ticks_a_second = resolution;
          to.all_.offset = offset;
          to.all_.realtime = realtime;
        });
      });
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
      calls, [](void* data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef /*canonical*/,
                OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag /*flags*/,
                OTF2_StringRef file, std::uint32_t begin, std::uint32_t /*end*/) {
        return guard(
            data, [&](archive_copy& to) { to.all_.regions[self] = {name, description, role, paradigm, file, begin}; });
      });
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(calls, [](void* data, OTF2_AttributeRef self, OTF2_StringRef name,
                                                               OTF2_StringRef /*description*/, OTF2_Type /*type*/) {
    return guard(data, [&](archive_copy& to) { to.all_.attributes[to.all_.text(name)] = self; });
  });
  register_locations(calls);
  register_metrics(calls);
  register_communicators(calls);
  OTF2_ErrorCode code = OTF2_Reader_RegisterGlobalDefCallbacks(reader, from, calls, this);
  OTF2_GlobalDefReaderCallbacks_Delete(calls);
  std::uint64_t count = 0;
  if (code == OTF2_SUCCESS) code = OTF2_Reader_ReadAllGlobalDefinitions(reader, from, &count);
  check(code);
  if (all_.ticks_a_second == 0) refuse("it has no clock");
}

const OTF2_AttributeValue* archive_copy::find_property(OTF2_LocationGroupRef group, const char* name,
                                                       OTF2_Type type) const {
  const auto found = all_.group_properties.find({group, name});
  return found != all_.group_properties.end() && found->second.type == type ? &found->second.value : nullptr;
}

// Processes are numbered as the archive numbers them, or as we have.
archive_copy::processes archive_copy::name_processes() {
  std::map<OTF2_LocationGroupRef, std::uint32_t> ranks;
  std::uint32_t next_rank = 0;
  for (const std::uint64_t location : all_.locations_of[OTF2_PARADIGM_MPI]) {
    if (const auto found = all_.locations.find(location); found != all_.locations.end())
      ranks.try_emplace(found->second.group, next_rank);
    ++next_rank;
  }
  processes named;
  std::set<std::int64_t> used;
  for (const auto& [group, about] : all_.groups) {
    const bool is_device = about.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
    if (is_device && all_.groups.count(about.creator) != 0) continue;
    const OTF2_AttributeValue* const number = find_property(group, otf2_process_property, OTF2_TYPE_INT64);
    const OTF2_AttributeValue* const program = find_property(group, otf2_program_property, OTF2_TYPE_STRING);
    const std::string name = all_.text(about.name);
    traced_process made;
    made.name = program != nullptr ? all_.text(program->stringRef) : name;
    made.number = number != nullptr ? number->int64 : std::int64_t{group};
    if (const std::string_view prefix = otf2_rank_name; name.compare(0, prefix.size(), prefix) == 0) {
      std::uint32_t rank = 0;
      const char* const end = name.data() + name.size();
      const auto [at, fault] = std::from_chars(name.data() + prefix.size(), end, rank);
      if (fault == std::errc() && at == end) made.rank = rank;
    }
    if (const auto listed = ranks.find(group); !made.rank && listed != ranks.end()) made.rank = listed->second;
    if (const auto node = all_.nodes.find(about.node); node != all_.nodes.end())
      if (const std::string host = all_.text(node->second); number == nullptr || host != otf2_unknown_host)
        made.host = host;
    std::int64_t id = made.number >= 0 && made.number < std::int64_t{1} << 22U ? made.number : std::int64_t{group};
    while (!used.insert(id).second) ++id;
    named[group] = id;
    to_.name_process(id, made);
  }
  return named;
}

// A device is a group of the process that uses it.
void archive_copy::name_threads_and_devices(const processes& named) {
  std::map<OTF2_LocationGroupRef, std::uint32_t> devices;
  std::map<std::int64_t, std::uint32_t> device_counts;
  const auto add_device = [&](OTF2_LocationGroupRef group, std::int64_t process, const std::string& name) {
    const auto [entry, is_new] = devices.try_emplace(group);
    if (!is_new) return entry->second;
    const OTF2_AttributeValue* const number = find_property(group, otf2_device_property, OTF2_TYPE_INT64);
    std::uint32_t& count = device_counts[process];
    entry->second = std::min(++count, max_devices);
    const std::uint32_t physical = number != nullptr && number->int64 >= 0 && number->int64 < max_devices
                                       ? static_cast<std::uint32_t>(number->int64)
                                       : entry->second - 1;
    to_.name_device(process, entry->second, {name, physical, {}});
    return entry->second;
  };
  std::map<std::int64_t, std::uint64_t> thread_counts;
  for (const auto& [location, about] : all_.locations) {
    const auto group = all_.groups.find(about.group);
    if (group == all_.groups.end()) refuse("a location has no group");
    const bool is_device = group->second.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
    const auto of =
        named.find(is_device && all_.groups.count(group->second.creator) != 0 ? group->second.creator : about.group);
    if (of == named.end()) refuse("the group of a location has no process");
    lane& made = lanes_[location];
    made.process = of->second;
    if (is_device || about.type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM)
      made.device =
          add_device(about.group, made.process, is_device ? all_.text(group->second.name) : std::string("accelerator"));
    const auto number = all_.location_properties.find({location, otf2_number_property});
    const bool is_ours = number != all_.location_properties.end() && number->second.type == OTF2_TYPE_UINT64;
    made.number = is_ours ? number->second.value.uint64 : thread_counts[made.process]++;
    if (made.device == 0 && !to_.knows_thread(made.process, static_cast<std::uint32_t>(made.number)))
      to_.name_thread(made.process, static_cast<std::uint32_t>(made.number), all_.text(about.name));
  }
}

void archive_copy::enter(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_AttributeList* notes,
                         OTF2_RegionRef region) {
  const auto found = lanes_.find(location);
  const auto about = all_.regions.find(region);
  if (found == lanes_.end() || about == all_.regions.end()) refuse("an event has no location or region");
  lane& on = found->second;
  if (on.open.size() == max_open) {
    ++too_deep_;
    ++on.too_deep[region];
    return;
  }
  const auto note = [&](otf2_attribute which) {
    std::uint64_t value = 0;
    const auto number = all_.attributes.find(otf2_attributes[which].second);
    if (notes == nullptr || number == all_.attributes.end()) return value;
    OTF2_AttributeList_GetUint64(notes, number->second, &value);
    return value;
  };
  open_region made;
  const bool is_queue = on.device != 0;
  const std::uint64_t as = notes != nullptr ? note(otf2_event) : 0;
  made.event.as = is_queue                                                     ? traced_as::operation
                  : as == static_cast<std::uint64_t>(traced_as::handle)        ? traced_as::handle
                  : as == static_cast<std::uint64_t>(traced_as::instant_event) ? traced_as::instant_event
                                                                               : traced_as::scope;
  const traced_site* const parent = made.event.as != traced_as::handle && !is_queue ? on.innermost() : nullptr;
  const region_kind kind = choose_kind(all_, about->second, is_queue);
  made.site = sites_.find(all_.text(about->second.name), kind, on.device, parent, 0, all_.text(about->second.file, ""),
                          about->second.line);
  made.is_copy = is_queue && kind == region_kind::copy_to && !is_ours(all_);
  made.event.site = made.site;
  made.event.begin_ns = to_ns(at);
  if (is_queue) made.event.queue = on.number;
  else made.event.thread = static_cast<std::uint32_t>(on.number);
  if (notes != nullptr) {
    made.event.bytes = note(otf2_bytes);
    made.event.correlation = note(otf2_correlation);
    if (const std::uint64_t submitted = note(otf2_submitted); submitted != 0)
      made.event.submitted_ns = to_ns(submitted);
  }
  on.orders.emplace(region, on.begun);
  on.open.emplace_hint(on.open.end(), on.begun++, made);
}

void archive_copy::leave(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_RegionRef region) {
  const auto found = lanes_.find(location);
  if (found == lanes_.end()) refuse("an event has no location");
  lane& on = found->second;
  if (const auto skipped = on.too_deep.find(region); skipped != on.too_deep.end()) {
    if (--skipped->second == 0) on.too_deep.erase(skipped);
    return;
  }
  // The last begin of this region.
  auto order = on.orders.upper_bound({region, ~std::uint64_t{0}});
  if (order == on.orders.begin() || (--order)->first != region) {
    ++unmatched_;
    return;
  }
  const auto span = on.open.find(order->second);
  on.orders.erase(order);
  if (span->second.is_copy)
    span->second.event.site = find_copy_site(span->second.site->name, on.device, span->second.direction);
  if (!span->second.messages.empty()) end_messages(span->second);
  traced_event& event = span->second.event;
  event.end_ns = std::max(to_ns(at), event.begin_ns);
  to_.add(on.process, event);
  on.open.erase(span);
}

// The number of ranks: it has none. The first location counts, if a group lists it again.
std::uint64_t archive_copy::find_rank(OTF2_Paradigm paradigm, std::uint64_t location) {
  const std::vector<std::uint64_t>& world = all_.locations_of[paradigm];
  const auto [ranks, is_new] = ranks_of_.try_emplace(paradigm);
  if (is_new)
    for (std::uint64_t rank = 0; rank != world.size(); ++rank) ranks->second.try_emplace(world[rank], rank);
  const auto found = ranks->second.find(location);
  return found != ranks->second.end() ? found->second : world.size();
}

// Null: it is not defined, or between two groups.
const traced_communicator* archive_copy::find_communicator(OTF2_CommRef of) {
  if (const auto listed = communicators_.find(of); listed != communicators_.end()) return &listed->second;
  const auto about = all_.communicators.find(of);
  const auto group =
      about != all_.communicators.end() ? all_.member_groups.find(about->second.group) : all_.member_groups.end();
  if (group == all_.member_groups.end()) return nullptr;
  traced_communicator made;
  const bool is_self = group->second.type == OTF2_GROUP_TYPE_COMM_SELF;
  made.name = all_.text(about->second.name, is_self ? otf2_self_name : "(unnamed)");
  const std::vector<std::uint64_t>& world = all_.locations_of[group->second.paradigm];
  const std::vector<std::uint64_t>& members = group->second.members;
  if (members.size() <= max_ranks - ranks_) made.ranks.reserve(members.size());
  else ++without_ranks_;
  for (std::uint64_t member : members) {
    if (made.ranks.capacity() == 0) break;
    if (group->second.has_locations) member = find_rank(group->second.paradigm, member);
    if (member >= world.size()) {
      made.ranks = {};
      break;
    }
    made.ranks.push_back(static_cast<std::uint32_t>(member));
  }
  ranks_ += made.ranks.size();
  return &communicators_.emplace(of, std::move(made)).first->second;
}

std::optional<OTF2_LocationRef> archive_copy::find_location(OTF2_CommRef of, std::uint32_t rank) const {
  const auto about = all_.communicators.find(of);
  if (about == all_.communicators.end()) return std::nullopt;
  const auto group = all_.member_groups.find(about->second.group);
  if (group == all_.member_groups.end() || rank >= group->second.members.size()) return std::nullopt;
  const std::uint64_t member = group->second.members[rank];
  if (group->second.has_locations) return member;
  const auto world = all_.locations_of.find(group->second.paradigm);
  if (world == all_.locations_of.end() || member >= world->second.size()) return std::nullopt;
  return world->second[member];
}

// The innermost open region is the call.
void archive_copy::add_message(OTF2_LocationRef location, traced_message::form what, std::uint32_t peer,
                               OTF2_CommRef of, std::uint32_t tag, std::uint64_t bytes,
                               std::optional<std::uint64_t> received) {
  const auto found = lanes_.find(location);
  if (found == lanes_.end()) refuse("a message has no location");
  lane& on = found->second;
  if (on.open.empty() || on.open.rbegin()->second.messages.size() == max_messages_of_call) {
    ++outside_;
    return;
  }
  traced_message made{what, find_communicator(of), {}, {}, {}, received};
  constexpr std::uint32_t first_special = OTF2_COLLECTIVE_ROOT_THIS_GROUP;  // such as no root
  if (peer < first_special) made.peer = peer;
  if (tag != OTF2_UNDEFINED_UINT32) made.tag = tag;
  if (bytes != OTF2_UNDEFINED_UINT64) made.bytes = bytes;
  on.open.rbegin()->second.messages.push_back(made);
}

// Messages of different sizes alone are stored once.
void archive_copy::end_messages(open_region& of) {
  if (traced_message& first = of.messages.front(); of.messages.size() == 1 && first.bytes.value_or(0) != 0) {
    of.event.bytes = *first.bytes;
    first.bytes.reset();
  }
  auto listed = calls_.find(of.messages);
  if (listed == calls_.end()) {
    if (calls_.size() == max_different_calls) {
      ++too_different_;
      return;
    }
    listed = calls_.insert(std::move(of.messages)).first;
  }
  of.event.messages = &*listed;
}

// The name shows a direction that the kind does not.
const traced_site* archive_copy::find_copy_site(const std::string& name, std::uint32_t device,
                                                std::optional<copy_direction> direction) {
  if (!direction) direction = find_direction(region_kind::copy_to, "Memcpy " + name);
  const region_kind kind = direction == copy_direction::to_host ? region_kind::copy_from : region_kind::copy_to;
  if (!direction) ++without_direction_;
  else if (find_direction(kind, name) == direction) return sites_.find(name, kind, device);
  const char* const word = !direction                                     ? unknown_direction
                           : direction == copy_direction::between_devices ? "DtoD"
                                                                          : "HtoD";
  return sites_.find(fmt::format("{} [{}]", name, word), kind, device);
}

// A transfer of a queue: its location puts data to another location, or gets data from there. Score-P has no region
// around it.
void archive_copy::transfer(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_RmaWinRef window, std::uint32_t remote,
                            std::uint64_t bytes, std::uint64_t id, bool is_get) {
  const auto found = lanes_.find(location);
  if (found == lanes_.end()) refuse("a transfer has no location");
  lane& on = found->second;
  if (on.device == 0) {
    ++host_transfers_;
    return;
  }
  std::optional<copy_direction> direction;
  const auto of = all_.windows.find(window);
  if (const auto other = of != all_.windows.end() ? find_location(of->second, remote) : std::nullopt; other)
    if (const auto far = lanes_.find(*other); far != lanes_.end())
      direction = far->second.device != 0 ? copy_direction::between_devices
                  : is_get                ? copy_direction::to_device
                                          : copy_direction::to_host;
  if (!on.open.empty() && on.open.rbegin()->second.is_copy) {
    open_region& around = on.open.rbegin()->second;
    around.direction = direction;
    if (around.event.bytes == 0) around.event.bytes = bytes;
    return;
  }
  if (on.transfers.size() == max_open) {
    ++too_deep_;
    return;
  }
  open_region made{};
  made.event.as = traced_as::operation;
  made.event.begin_ns = to_ns(at);
  made.event.queue = on.number;
  made.event.bytes = bytes;
  made.direction = direction;
  const auto [begun, is_new] = on.transfers.try_emplace({window, id}, made);
  if (is_new) return;
  ++replaced_transfers_;
  begun->second = made;
}

void archive_copy::end_transfer(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_RmaWinRef window, std::uint64_t id) {
  const auto found = lanes_.find(location);
  if (found == lanes_.end()) refuse("a transfer has no location");
  lane& on = found->second;
  const auto begun = on.transfers.find({window, id});
  if (begun == on.transfers.end()) return;  // within a region, or of a host thread
  traced_event& event = begun->second.event;
  event.end_ns = std::max(to_ns(at), event.begin_ns);
  event.site = find_copy_site("copy", on.device, begun->second.direction);
  to_.add(on.process, event);
  on.transfers.erase(begun);
}

void archive_copy::measure(OTF2_LocationRef location, OTF2_TimeStamp at, OTF2_MetricRef metric, std::uint8_t count,
                           const OTF2_Type* types, const OTF2_MetricValue* values) {
  const auto found = lanes_.find(location);
  if (found == lanes_.end()) refuse("a value has no location");
  const lane& on = found->second;
  if (const auto instance = all_.metric_instances.find(metric); instance != all_.metric_instances.end())
    metric = instance->second;
  const auto members = all_.metric_classes.find(metric);
  if (members == all_.metric_classes.end()) refuse("a value has no metric");
  for (std::uint8_t number = 0; number != count && number < members->second.size(); ++number) {
    const auto name = all_.metrics.find(members->second[number]);
    traced_event made;
    made.as = traced_as::metric;
    made.begin_ns = made.end_ns = to_ns(at);
    made.thread = on.device == 0 ? static_cast<std::uint32_t>(on.number) : 0;
    made.value = types[number] == OTF2_TYPE_DOUBLE  ? values[number].floating_point
                 : types[number] == OTF2_TYPE_INT64 ? static_cast<double>(values[number].signed_int)
                                                    : static_cast<double>(values[number].unsigned_int);
    made.site = sites_.find(name != all_.metrics.end() ? all_.text(name->second) : "(unnamed)", region_kind::metric, 0,
                            on.device == 0 ? on.innermost() : nullptr);
    to_.add(on.process, made);
  }
}

void archive_copy::register_messages(OTF2_GlobalEvtReaderCallbacks* calls) {
  using form = traced_message::form;
  OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(
      calls, [](OTF2_LocationRef location, OTF2_TimeStamp /*at*/, void* data, OTF2_AttributeList* /*notes*/,
                std::uint32_t peer, OTF2_CommRef of, std::uint32_t tag, std::uint64_t bytes) {
        return guard(data, [&](archive_copy& to) { to.add_message(location, form::send, peer, of, tag, bytes); });
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(
      calls, [](OTF2_LocationRef location, OTF2_TimeStamp /*at*/, void* data, OTF2_AttributeList* /*notes*/,
                std::uint32_t peer, OTF2_CommRef of, std::uint32_t tag, std::uint64_t bytes, std::uint64_t /*id*/) {
        return guard(data, [&](archive_copy& to) { to.add_message(location, form::send, peer, of, tag, bytes); });
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(
      calls, [](OTF2_LocationRef location, OTF2_TimeStamp /*at*/, void* data, OTF2_AttributeList* /*notes*/,
                std::uint32_t peer, OTF2_CommRef of, std::uint32_t tag, std::uint64_t bytes) {
        return guard(data, [&](archive_copy& to) { to.add_message(location, form::receive, peer, of, tag, bytes); });
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(
      calls, [](OTF2_LocationRef location, OTF2_TimeStamp /*at*/, void* data, OTF2_AttributeList* /*notes*/,
                std::uint32_t peer, OTF2_CommRef of, std::uint32_t tag, std::uint64_t bytes, std::uint64_t /*id*/) {
        return guard(data, [&](archive_copy& to) { to.add_message(location, form::receive, peer, of, tag, bytes); });
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(
      calls,
      [](OTF2_LocationRef location, OTF2_TimeStamp /*at*/, void* data, OTF2_AttributeList* /*notes*/,
         OTF2_CollectiveOp /*which*/, OTF2_CommRef of, std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
        return guard(data, [&](archive_copy& to) {
          to.add_message(location, form::collective, root, of, OTF2_UNDEFINED_UINT32, sent,
                         received != OTF2_UNDEFINED_UINT64 ? std::optional(received) : std::nullopt);
        });
      });
  OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      calls, [](OTF2_LocationRef /*location*/, OTF2_TimeStamp /*at*/, void* data, OTF2_AttributeList* /*notes*/,
                OTF2_CollectiveOp /*which*/, OTF2_CommRef /*of*/, std::uint32_t /*root*/, std::uint64_t /*sent*/,
                std::uint64_t /*received*/,
                std::uint64_t /*id*/) { return guard(data, [&](archive_copy& to) { ++to.unread_collectives_; }); });
}

void archive_copy::register_transfers(OTF2_GlobalEvtReaderCallbacks* calls) {
  OTF2_GlobalEvtReaderCallbacks_SetRmaPutCallback(
      calls, [](OTF2_LocationRef location, OTF2_TimeStamp at, void* data, OTF2_AttributeList* /*notes*/,
                OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes, std::uint64_t id) {
        return guard(data, [&](archive_copy& to) { to.transfer(location, at, window, remote, bytes, id, false); });
      });
  OTF2_GlobalEvtReaderCallbacks_SetRmaGetCallback(
      calls, [](OTF2_LocationRef location, OTF2_TimeStamp at, void* data, OTF2_AttributeList* /*notes*/,
                OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes, std::uint64_t id) {
        return guard(data, [&](archive_copy& to) { to.transfer(location, at, window, remote, bytes, id, true); });
      });
  const auto end = [](OTF2_LocationRef location, OTF2_TimeStamp at, void* data, OTF2_AttributeList* /*notes*/,
                      OTF2_RmaWinRef window, std::uint64_t id) {
    return guard(data, [&](archive_copy& to) { to.end_transfer(location, at, window, id); });
  };
  OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(calls, end);
  OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(calls, end);
  OTF2_GlobalEvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(calls, end);
}

void archive_copy::read_events(OTF2_Reader* reader) {
  std::vector<OTF2_LocationRef> locations;
  for (const auto& [location, about] : all_.locations)
    if (about.events != 0) locations.push_back(location);
  if (locations.empty()) return;
  for (const OTF2_LocationRef location : locations) check(OTF2_Reader_SelectLocation(reader, location));
  const bool has_local = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
  check(OTF2_Reader_OpenEvtFiles(reader));
  for (const OTF2_LocationRef location : locations) {
    if (has_local)
      if (OTF2_DefReader* const local = OTF2_Reader_GetDefReader(reader, location); local != nullptr) {
        std::uint64_t count = 0;
        const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(reader, local, &count);
        OTF2_Reader_CloseDefReader(reader, local);
        check(code);
      }
    errno = 0;
    if (OTF2_Reader_GetEvtReader(reader, location) != nullptr) continue;
    if (errno == EMFILE) refuse_for_limit();
    refuse("a location has no events");
  }
  if (has_local) check(OTF2_Reader_CloseDefFiles(reader));
  OTF2_GlobalEvtReader* const from = OTF2_Reader_GetGlobalEvtReader(reader);
  OTF2_GlobalEvtReaderCallbacks* const calls = from != nullptr ? OTF2_GlobalEvtReaderCallbacks_New() : nullptr;
  if (calls == nullptr) refuse("its events are not readable");
  OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(calls, [](OTF2_LocationRef location, OTF2_TimeStamp at, void* data,
                                                           OTF2_AttributeList* notes, OTF2_RegionRef region) {
    return guard(data, [&](archive_copy& to) { to.enter(location, at, notes, region); });
  });
  OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(calls, [](OTF2_LocationRef location, OTF2_TimeStamp at, void* data,
                                                           OTF2_AttributeList* /*notes*/, OTF2_RegionRef region) {
    return guard(data, [&](archive_copy& to) { to.leave(location, at, region); });
  });
  OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(
      calls, [](OTF2_LocationRef location, OTF2_TimeStamp at, void* data, OTF2_AttributeList* /*notes*/,
                OTF2_MetricRef metric, std::uint8_t count, const OTF2_Type* types, const OTF2_MetricValue* values) {
        return guard(data, [&](archive_copy& to) { to.measure(location, at, metric, count, types, values); });
      });
  register_messages(calls);
  register_transfers(calls);
  OTF2_ErrorCode code = OTF2_Reader_RegisterGlobalEvtCallbacks(reader, from, calls, this);
  OTF2_GlobalEvtReaderCallbacks_Delete(calls);
  std::uint64_t count = 0;
  if (code == OTF2_SUCCESS) code = OTF2_Reader_ReadAllGlobalEvents(reader, from, &count);
  check(code);
}

void archive_copy::read() {
  OTF2_Error_RegisterCallback(ignore_otf2_error, nullptr);
  struct close {
    void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
  };
  std::unique_ptr<OTF2_Reader, close> reader;
  {
    const memory_limit limit(max_bytes_to_open);
    reader.reset(OTF2_Reader_Open(file_.c_str()));
  }
  if (reader == nullptr) refuse("the archive is damaged or incomplete");
  check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()));
  read_definitions(reader.get());
  name_threads_and_devices(name_processes());
  read_events(reader.get());
  for (const auto& [location, on] : lanes_) unended_ += on.open.size() + on.transfers.size();
  if (all_.realtime != OTF2_UNDEFINED_TIMESTAMP && all_.realtime < std::uint64_t{1} << 62U)
    to_.set_meta("utc_ns", std::to_string(all_.realtime));
  to_.finish();
}

std::string archive_copy::remarks() const {
  std::string made;
  const auto put = [&](std::uint64_t count, const char* one, const char* several) {
    if (count != 0)
      made += fmt::format("{}{} {}", made.empty() ? file_ + ": " : ", ", count, count == 1 ? one : several);
  };
  put(unended_, "region has no end and is skipped", "regions have no end and are skipped");
  put(unmatched_, "end of a region has no begin", "ends of regions have no begin");
  put(too_deep_, "region is nested too deeply and is skipped", "regions are nested too deeply and are skipped");
  put(outside_, "message of MPI is outside calls and is skipped", "messages of MPI are outside calls and are skipped");
  put(too_different_, "call of MPI lacks its messages: too many calls differ",
      "calls of MPI lack their messages: too many calls differ");
  put(without_ranks_, "communicator of MPI lacks its ranks: all have too many",
      "communicators of MPI lack their ranks: all have too many");
  put(unread_collectives_, "collective call of MPI is nonblocking and lacks its communicator",
      "collective calls of MPI are nonblocking and lack their communicators");
  put(without_direction_, "copy has an unknown direction", "copies have an unknown direction");
  put(host_transfers_, "transfer by a host thread is skipped", "transfers by host threads are skipped");
  put(replaced_transfers_, "transfer has no end and the number of another, and is skipped",
      "transfers have no end and the number of another, and are skipped");
  put(to_.lost(), "value is not a number and is skipped", "values are not numbers and are skipped");
  if (sites_.has_too_many_paths())
    made += fmt::format("{}there are too many call paths: further events have the path (other paths)",
                        made.empty() ? file_ + ": " : ", ");
  return made;
}

// The store with the events of an archive, under the name of the archive.
class otf2_input final : public trace_input {
 public:
  explicit otf2_input(const std::string& file) : file_(file) {
    const std::string name = folder_.store();
    {
      store_writer to(name, 0, store_writer::appears::whole);
      archive_copy from(file, to);
      from.read();
      remarks_ = from.remarks();
    }
    store_ = std::make_unique<store_reader>(std::make_unique<sqlite_database>(name, sqlite_database::opened::to_read));
  }

  const std::string& file() const override { return file_; }
  std::string describe() const override { return "an OTF2 archive"; }
  bool is_simulated() const override { return false; }
  std::optional<std::int64_t> utc_ns() const override { return store_->utc_ns(); }
  std::vector<device> devices() const override { return store_->devices(); }
  std::optional<users_by_device> users() const override { return store_->users(); }
  std::map<std::int64_t, traced_process> processes() const override { return store_->processes(); }
  std::string missing() const override { return remarks_; }
  std::string without_place() const override {
    const std::string unread = store_->unread_messages();
    return unread.empty() ? unread : fmt::format("{}: {}", file_, unread);
  }
  void read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) override { store_->read(to, shift_ns, bad); }
  std::unique_ptr<trace_scan> scan(scan_subject what) const override { return store_->scan(what); }
  void read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const override {
    store_->read_host_calls(to, bad);
  }

 private:
  std::string file_, remarks_;
  temporary_folder folder_;
  std::unique_ptr<store_reader> store_;
};

}  // namespace

std::unique_ptr<trace_input> open_otf2(const std::string& file) { return std::make_unique<otf2_input>(file); }

}  // namespace adaptyst::lib
