// Returns only complete records. The last block of a killed writer may be cut; any other mismatch is damage.
#include "event_log_blocks.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "../support/error.hpp"
#include "../support/varint.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t max_version = 1'000'000;
constexpr std::size_t max_first_line = 64;
constexpr std::size_t read_at_once = std::size_t{1} << 18U;

// The fields of records that name something: numbers and texts.
std::string_view fields(log_record what) {
  switch (what) {
    case log_record::begin: return "n";
    case log_record::process: return "nnttn";
    case log_record::thread: return "nnt";
    case log_record::device: return "nnntt";
    case log_record::site: return "nnnt";
    case log_record::loss: return "ntn";
    case log_record::color:
    case log_record::level: return "nn";
    default: return {};
  }
}

}  // namespace

void throw_damaged(const std::string& file, std::uint64_t offset, std::string_view what) {
  throw error(fmt::format("{} is damaged at byte {}: {}", file, offset, what), file, 0,
              "copy it again if it is a copy, or run the program again");
}

// A pipe is not opened, because that would wait for a writer.
bool event_log_blocks::is_event_log(const std::string& file) {
  if (std::error_code failed; !std::filesystem::is_regular_file(file, failed)) return false;
  std::ifstream in(file, std::ios::binary);
  char first[event_log_name.size()];
  return in.read(first, sizeof first) && std::string_view(first, sizeof first) == event_log_name;
}

event_log_blocks::event_log_blocks(const std::string& file) : name_(file), file_(file, "events", "name an event log") {
  char line[max_first_line];
  const std::string_view read(line, file_.read(0, line, sizeof line));
  if (read.substr(0, event_log_name.size()) != event_log_name)
    throw_damaged(name_, 0, "it does not begin like an event log");
  std::size_t at = event_log_name.size();
  for (; at != read.size() && read[at] >= '0' && read[at] <= '9' && version_ <= max_version; ++at)
    version_ = version_ * 10 + static_cast<std::uint64_t>(read[at] - '0');
  if (at == read.size() || read[at] != '\n' || version_ == 0) throw_damaged(name_, at, "its first line has no version");
  if (version_ > event_log_version)
    throw error(
        fmt::format("{} has version {}; this build reads versions up to {}", name_, version_, event_log_version), name_,
        0, "use a later version of adaptyst");
  first_ = at + 1;
  struct stat about {};
  const bool is_small = fstat(file_.descriptor(), &about) == 0 && about.st_size < static_cast<off_t>(read_at_once);
  buffer_.resize(is_small ? static_cast<std::size_t>(about.st_size) : read_at_once);
}

const char* event_log_blocks::at(std::uint64_t offset, std::size_t bytes) {
  if (offset < from_ || offset + bytes > from_ + size_) {
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    from_ = offset;
    size_ = 0;
    while (size_ < bytes) {
      const std::size_t more = file_.read(offset + size_, buffer_.data() + size_, buffer_.size() - size_);
      if (more == 0) return nullptr;
      size_ += more;
    }
  }
  return buffer_.data() + (offset - from_);
}

std::optional<event_log_blocks::head> event_log_blocks::find(std::uint64_t offset) {
  const char* const found = at(offset, sizeof(log_block_head));
  if (found == nullptr) return std::nullopt;
  log_block_head read;
  std::memcpy(&read, found, sizeof read);
  const head made{offset, read.bytes & ~log_has_names, read.checksum, (read.bytes & log_has_names) != 0};
  if (made.bytes == 0 || made.bytes > log_max_block) throw_damaged(name_, offset, "no block begins there");
  if (at(offset, sizeof read + made.bytes) == nullptr) return std::nullopt;
  return made;
}

std::string_view event_log_blocks::read(const head& block) {
  const std::size_t whole = sizeof(log_block_head) + block.bytes;
  const char* const found = at(block.offset, whole);
  if (found == nullptr) throw_damaged(name_, block.offset, "the file became shorter while it was read");
  const std::string_view made(found, whole);
  if (block_checksum(made.substr(log_checksum_bytes)) != block.checksum)
    throw_damaged(name_, block.offset, fmt::format("the block of {} bytes has a wrong checksum", block.bytes));
  return made.substr(sizeof(log_block_head));
}

std::uint8_t event_log_cursor::byte() {
  if (at_ == end_) damaged("a record is longer than its block");
  return static_cast<std::uint8_t>(*at_++);
}

std::uint64_t event_log_cursor::number() {
  const std::uint8_t first = byte();
  return first < 128 ? first : long_number(first);
}

std::uint64_t event_log_cursor::long_number(std::uint8_t first) {
  std::uint64_t made = first & 127U;
  for (unsigned shift = 7; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    made |= std::uint64_t{next & 127U} << shift;
    if (next < 128) return made;
  }
  damaged("a number is too long");
}

std::uint32_t event_log_cursor::small_number() {
  const std::uint64_t made = number();
  if (made > UINT32_MAX) damaged("a number is too large");
  return static_cast<std::uint32_t>(made);
}

std::string event_log_cursor::text() {
  const std::uint64_t bytes = number();
  if (bytes > log_max_text || bytes > static_cast<std::uint64_t>(end_ - at_))
    damaged("a text is longer than its block");
  std::string made(at_, static_cast<std::size_t>(bytes));
  at_ += bytes;
  return made;
}

double event_log_cursor::real() {
  double made;
  if (end_ - at_ < static_cast<std::ptrdiff_t>(sizeof made)) damaged("a record is longer than its block");
  std::memcpy(&made, at_, sizeof made);
  at_ += sizeof made;
  return made;
}

void event_log_cursor::skip(log_record what) {
  for (const char field : fields(what))
    if (field == 't') text();
    else number();
  if (fields(what).empty() && what != log_record::end) damaged("an unknown record");
}

bool event_log_cursor::read_event(std::uint8_t first, std::uint64_t sites, logged_event& to) {
  if (first == static_cast<std::uint8_t>(log_record::place)) {
    process_ = static_cast<std::int64_t>(number());
    thread_ = small_number();
    has_place_ = true;
    return false;
  }
  to = {};
  switch (static_cast<log_record>(first & ~log_has_all)) {
    case log_record::span: to.as = traced_as::scope; break;
    case log_record::handle: to.as = traced_as::handle; break;
    case log_record::operation: to.as = traced_as::operation; break;
    case log_record::metric: to.as = traced_as::metric; break;
    case log_record::instant_event: to.as = traced_as::instant_event; break;
    default: damaged("an unknown record");
  }
  if (!has_place_) damaged("an event of an unknown thread");
  to.process = process_;
  to.thread = thread_;
  to.site = number();
  if (to.site == 0 || to.site > sites) damaged("an event at an unknown call path");
  to.begin_ns = begin_ns_ = undo_zigzag(begin_ns_, number());
  if (to.as == traced_as::metric) to.value = real();
  else if (to.as != traced_as::instant_event) to.duration_ns = number();
  if (to.as == traced_as::operation) to.queue = number();
  if ((first & log_has_submission) != 0) to.submitted_ns = undo_zigzag(to.begin_ns, number());
  if ((first & log_has_correlation) != 0) to.correlation = number();
  if ((first & log_has_bytes) != 0) to.bytes = number();
  return true;
}

}  // namespace adaptyst::lib
