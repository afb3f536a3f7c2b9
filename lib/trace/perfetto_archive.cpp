// Writes the ustar form, which every reader of TAR supports. Each file is read once: clocks and hosts are collected
// while it is copied, and the manifest follows. The place of the manifest in the archive does not matter to readers.
#include "perfetto_archive.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "../support/descriptor.hpp"
#include "../support/error.hpp"
#include "../support/output_file.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t tar_block_bytes = 512;
constexpr std::uint64_t max_member_bytes = (std::uint64_t{1} << 33U) - 1;  // eleven octal digits
constexpr std::size_t max_member_name_bytes = 99;
constexpr std::size_t max_scanned_packet_bytes = std::size_t{64} * 1024;  // clocks and processes have small packets
constexpr std::size_t archive_copy_bytes = std::size_t{256} * 1024;
constexpr std::uint64_t max_clock_ns = std::uint64_t{1} << 62U;  // sums of two stay in 63 bits
constexpr std::uint64_t same_boot_within_ns = 1'000'000;         // of snapshots on one machine without a host name
constexpr const char* manifest_name = "perfetto_manifest.json";

// Reads fields of a message. After a fault, there are no further fields.
class message_fields {
 public:
  explicit message_fields(std::string_view bytes) noexcept : left_(bytes) {}

  bool next() noexcept {
    const std::optional<std::uint64_t> tag = varint();
    if (!tag) return false;
    number = *tag >> 3U;
    content = {};
    value = 0;
    switch (*tag & 7U) {
      case 0: {
        const std::optional<std::uint64_t> read = varint();
        value = read.value_or(0);
        return read.has_value();
      }
      case 1: return skip(8);
      case 2: {
        const std::optional<std::uint64_t> size = varint();
        if (!size || *size > left_.size()) return false;
        content = left_.substr(0, static_cast<std::size_t>(*size));
        return skip(content.size());
      }
      case 5: return skip(4);
      default: return false;
    }
  }

  std::uint64_t number = 0, value = 0;
  std::string_view content;

 private:
  std::optional<std::uint64_t> varint() noexcept {
    std::uint64_t made = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      made |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return made;
    }
    return std::nullopt;
  }
  bool skip(std::size_t bytes) noexcept {
    if (bytes > left_.size()) return false;
    left_.remove_prefix(bytes);
    return true;
  }

  std::string_view left_;
};

struct archived_trace {
  std::string file, member;
  std::optional<std::uint64_t> boottime_ns, realtime_ns;  // of one snapshot
  std::set<std::string> hosts;                            // at most two
  std::optional<std::uint64_t> damaged_at;

  bool has_both_clocks() const noexcept { return boottime_ns && realtime_ns; }
};

void take_clocks(archived_trace& of, std::string_view snapshot) {
  std::optional<std::uint64_t> boottime_ns, realtime_ns;
  for (message_fields field(snapshot); field.next();) {
    if (field.number != perfetto_field::clock) continue;
    std::uint64_t id = 0, ns = max_clock_ns;
    for (message_fields part(field.content); part.next();) {
      if (part.number == perfetto_field::clock_id) id = part.value;
      if (part.number == perfetto_field::clock_time) ns = part.value;
    }
    if (ns >= max_clock_ns) continue;
    if (id == perfetto_clock::boottime) boottime_ns = ns;
    if (id == perfetto_clock::realtime) realtime_ns = ns;
  }
  if (of.has_both_clocks() || (!boottime_ns && !realtime_ns)) return;
  of.boottime_ns = boottime_ns;
  of.realtime_ns = realtime_ns;
}

void take_host(archived_trace& of, std::string_view track) {
  constexpr std::string_view prefix = perfetto_host_label;
  for (message_fields field(track); field.next();) {
    if (field.number != perfetto_field::process) continue;
    for (message_fields part(field.content); part.next();)
      if (part.number == perfetto_field::process_label && part.content.substr(0, prefix.size()) == prefix &&
          part.content.size() > prefix.size() && of.hosts.size() < 2)
        of.hosts.insert(valid_utf8(part.content.substr(prefix.size())));
  }
}

void take_packet(archived_trace& of, std::string_view packet) {
  for (message_fields field(packet); field.next();) {
    if (field.number == perfetto_field::clock_snapshot) take_clocks(of, field.content);
    if (field.number == perfetto_field::track_descriptor) take_host(of, field.content);
  }
}

// Receives a file in pieces, and reads its packets.
class packet_scanner {
 public:
  explicit packet_scanner(archived_trace& of) : of_(of) {}

  void add(std::string_view piece) {
    while (!piece.empty() && !of_.damaged_at) {
      if (wanted_ != 0) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(wanted_, piece.size()));
        if (is_kept_) packet_.append(piece.substr(0, part));
        piece.remove_prefix(part);
        wanted_ -= part;
        at_ += part;
        if (wanted_ == 0 && is_kept_) take_packet(of_, packet_);
        if (wanted_ == 0) packet_at_ = at_;
        continue;
      }
      const auto byte = static_cast<unsigned char>(piece.front());
      piece.remove_prefix(1);
      ++at_;
      if (!has_tag_) {
        has_tag_ = byte == (perfetto_field::packet << 3U | 2U);
        if (!has_tag_) of_.damaged_at = packet_at_;
        continue;
      }
      size_ |= std::uint64_t{byte & 127U} << shift_;
      shift_ += 7;
      if (byte >= 128) {
        if (shift_ > 35) of_.damaged_at = packet_at_;
        continue;
      }
      wanted_ = std::exchange(size_, 0);
      shift_ = 0;
      has_tag_ = false;
      is_kept_ = wanted_ <= max_scanned_packet_bytes;
      packet_.clear();
      if (wanted_ == 0) packet_at_ = at_;
    }
  }
  void finish() {
    if (!of_.damaged_at && (wanted_ != 0 || has_tag_)) of_.damaged_at = packet_at_;
  }

 private:
  archived_trace& of_;
  std::string packet_;
  std::uint64_t at_ = 0, packet_at_ = 0, wanted_ = 0, size_ = 0;
  unsigned shift_ = 0;
  bool has_tag_ = false, is_kept_ = false;
};

std::string make_tar_header(const std::string& name, std::uint64_t size, std::uint64_t changed_s) {
  std::array<char, tar_block_bytes> header{};
  const auto put = [&](std::size_t at, const std::string& text) { std::memcpy(&header[at], text.data(), text.size()); };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");  // owner
  put(116, "0000000");
  put(124, fmt::format("{:011o}", size));
  put(136, fmt::format("{:011o}", std::min(changed_s, max_member_bytes)));
  put(148, "        ");  // the checksum counts as blanks
  put(156, "0");         // a file
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return {header.data(), header.size()};
}

std::string fill_tar_block(std::uint64_t size) {
  return std::string(static_cast<std::size_t>((tar_block_bytes - size % tar_block_bytes) % tar_block_bytes), '\0');
}

// The last part of the name, or a number if that part is not plain or not the only such name.
std::string choose_member(const std::string& file, std::size_t number, const std::set<std::string>& taken) {
  std::string made = file.substr(file.rfind('/') + 1);
  const bool is_plain = std::all_of(made.begin(), made.end(), [](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           letter == '.' || letter == '-' || letter == '_' || letter == '+' || letter == '=';
  });
  if (!is_plain || made.size() > max_member_name_bytes || made == manifest_name) made = "trace.pftrace";
  if (taken.count(made) == 0) return made;
  for (std::size_t at = number;; ++at)
    if (made = fmt::format("trace-{}.pftrace", at); taken.count(made) == 0) return made;
}

[[noreturn]] void fail_to_read(const std::string& file, int number) {
  throw error(fmt::format("cannot read {}", file), file, number, "");
}

void copy_trace(archived_trace& trace, output_file& to) {
  const descriptor in(open(trace.file.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!in || fstat(in.get(), &about) != 0) fail_to_read(trace.file, errno);
  if (!S_ISREG(about.st_mode)) fail_to_read(trace.file, S_ISDIR(about.st_mode) ? EISDIR : EINVAL);
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > max_member_bytes)
    throw error(fmt::format("{} is too large for a TAR: 8 GiB or more", trace.file), trace.file, 0,
                "open it in Perfetto by itself");
  to.write(make_tar_header(trace.member, size, static_cast<std::uint64_t>(std::max<std::int64_t>(about.st_mtime, 0))));
  packet_scanner scanner(trace);
  std::string piece(archive_copy_bytes, '\0');
  for (std::uint64_t done = 0; done != size && to.failure() == 0;) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size - done, piece.size()));
    const ssize_t got = read(in.get(), piece.data(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(trace.file, errno);
    if (got == 0)
      throw error(fmt::format("{} became shorter while it was read", trace.file), trace.file, 0,
                  "wait until the program that writes it has ended");
    const std::string_view part(piece.data(), static_cast<std::size_t>(got));
    scanner.add(part);
    if (trace.damaged_at == 0U)
      throw error(fmt::format("{} is not in Perfetto's binary form", trace.file), trace.file, 0,
                  "a TAR takes only such files: adaptyst convert FILE -o FILE.pftrace makes them");
    to.write(part);
    done += part.size();
  }
  scanner.finish();
  to.write(fill_tar_block(size));
}

// Names of machines, in the order of the traces; empty: unknown. Traces without a host name are of one machine if its
// clocks differ by the same time.
std::vector<std::string> name_machines(const std::vector<archived_trace>& all) {
  std::vector<std::string> made;
  std::vector<std::uint64_t> boots_ns;
  for (const archived_trace& trace : all) {
    std::string name;
    if (trace.hosts.size() == 1) {
      name = *trace.hosts.begin();
    } else if (trace.hosts.empty() && trace.has_both_clocks() && *trace.realtime_ns >= *trace.boottime_ns) {
      const std::uint64_t boot_ns = *trace.realtime_ns - *trace.boottime_ns;
      const auto found = std::find_if(boots_ns.begin(), boots_ns.end(), [&](std::uint64_t other_ns) {
        return std::max(boot_ns, other_ns) - std::min(boot_ns, other_ns) <= same_boot_within_ns;
      });
      name = fmt::format("machine {}", found - boots_ns.begin() + 1);
      if (found == boots_ns.end()) boots_ns.push_back(boot_ns);
    }
    made.push_back(name);
  }
  return made;
}

std::string make_manifest(const std::vector<archived_trace>& all) {
  const std::vector<std::string> machines = name_machines(all);
  const auto is_reference = [&](std::size_t at) { return all[at].has_both_clocks() && !machines[at].empty(); };
  std::size_t reference = 0;
  while (reference != all.size() && !is_reference(reference)) ++reference;
  nlohmann::json manifest = {{"version", 1}, {"files", nlohmann::json::array()}};
  std::set<std::string> related;
  if (reference != all.size()) {
    related.insert(machines[reference]);
    manifest["trace_time"] = {{"clock", "BOOTTIME"}, {"file", all[reference].member}};
  }
  for (std::size_t at = 0; at != all.size(); ++at) {
    const archived_trace& trace = all[at];
    nlohmann::json entry = {{"path", trace.member}};
    if (!machines[at].empty()) entry["machine"] = {{"name", machines[at]}};
    // Clocks belong to machines: the first trace of a machine relates them.
    if (is_reference(at) && related.insert(machines[at]).second) {
      const archived_trace& to = all[reference];
      const auto ahead_ns = static_cast<std::int64_t>(*to.boottime_ns + *trace.realtime_ns);
      const auto behind_ns = static_cast<std::int64_t>(*to.realtime_ns + *trace.boottime_ns);
      entry["clocks"] = {{"clock", "BOOTTIME"},
                         {"sync_to", {{"file", to.member}, {"clock", "BOOTTIME"}}},
                         {"offset_ns", ahead_ns - behind_ns}};
    }
    manifest["files"].push_back(entry);
  }
  return nlohmann::json{{"perfetto_manifest", manifest}}.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

std::vector<std::string> make_remarks(const std::vector<archived_trace>& all) {
  std::size_t without_clock = 0, without_day = 0, of_hosts = 0, damaged = 0;
  const archived_trace* first = nullptr;
  for (const archived_trace& trace : all) {
    if (!trace.boottime_ns && !trace.realtime_ns) ++without_clock;
    else if (!trace.realtime_ns) ++without_day;
    if (trace.hosts.size() > 1) ++of_hosts;
    if (!trace.damaged_at) continue;
    ++damaged;
    if (first == nullptr) first = &trace;
  }
  std::vector<std::string> made;
  if (damaged != 0)
    made.push_back(fmt::format("has {} damaged or truncated traces; the first: {} at byte {}", damaged, first->file,
                               *first->damaged_at));
  if (without_clock != 0)
    made.push_back(fmt::format("has {} traces without a clock: they begin at time 0 of the archive", without_clock));
  if (without_day != 0)
    made.push_back(fmt::format("has {} traces without a time of day: other machines cannot be aligned", without_day));
  if (of_hosts != 0)
    made.push_back(fmt::format("has {} traces of several hosts: the name of the machine is omitted", of_hosts));
  return made;
}

}  // namespace

std::vector<std::string> write_perfetto_archive(const std::vector<std::string>& files, const std::string& to) {
  std::vector<archived_trace> all(files.size());
  std::set<std::string> members;
  std::set<std::pair<dev_t, ino_t>> present;
  for (std::size_t at = 0; at != files.size(); ++at) {
    struct stat about {};
    if (stat(files[at].c_str(), &about) != 0) fail_to_read(files[at], errno);
    if (!present.insert({about.st_dev, about.st_ino}).second)
      throw error(fmt::format("{} is given twice", files[at]), files[at], 0, "name each trace once");
    all[at].file = files[at];
    all[at].member = choose_member(files[at], at, members);
    members.insert(all[at].member);
  }
  output_file archive(to, output_file::appears::whole);
  for (archived_trace& trace : all) copy_trace(trace, archive);
  const std::string manifest = make_manifest(all);
  archive.write(make_tar_header(manifest_name, manifest.size(), 0));
  archive.write(manifest);
  archive.write(fill_tar_block(manifest.size()));
  archive.write(std::string(2 * tar_block_bytes, '\0'));
  archive.finish();
  if (archive.failure() != 0)
    throw error(fmt::format("cannot write the archive to {}", to), to, archive.failure(),
                "make room, or name another file");
  return make_remarks(all);
}

}  // namespace adaptyst::lib
