// Wraps RapidJSON and zlib; no other file uses their interfaces.
#include "chrome_input.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <new>
#include <system_error>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t chrome_read_at_once = std::size_t{1} << 17U;
constexpr std::size_t max_depth = 256;
constexpr std::size_t max_numbers = 64;  // of an event
constexpr std::size_t max_text = 16384;  // longer texts are cut
constexpr std::size_t max_id = 256;      // the same, for texts that identify a process, thread or pair
// The parser's memory: one text, and the open arrays and objects.
constexpr std::size_t max_parser_bytes = std::size_t{1} << 24U;

class gzip_file {
 public:
  explicit gzip_file(const std::string& name) : of_(gzopen(name.c_str(), "rbe")) {
    if (of_ == nullptr)
      throw error(fmt::format("cannot read {}", name), name, errno, "check that the file exists and is readable");
    gzbuffer(of_, chrome_read_at_once);
  }
  ~gzip_file() { gzclose(of_); }
  gzip_file(const gzip_file&) = delete;
  gzip_file& operator=(const gzip_file&) = delete;

  // 0: the end, or a failure.
  std::size_t read(char* to, std::size_t bytes) {
    const int got = gzread(of_, to, static_cast<unsigned>(bytes));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  // Empty: no failure.
  std::string failure() const {
    int code = Z_OK;
    const char* const text = gzerror(of_, &code);
    if (code == Z_OK || code == Z_STREAM_END) return {};
    return code == Z_BUF_ERROR ? "the gzip file is cut" : fmt::format("the file cannot be read further: {}", text);
  }

 private:
  gzFile of_;
};

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

// The number of the escape \uXXXX at this place; 0: another text.
unsigned escaped_unit(const char* at) {
  if (at[0] != '\\' || at[1] != 'u') return 0;
  unsigned made = 0;
  for (int digit = 2; digit != 6; ++digit) {
    const int value = hex_value(at[digit]);
    if (value < 0) return 0;
    made = made << 4U | static_cast<unsigned>(value);
  }
  return made;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number made = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), made);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(made) : std::nullopt;
}

// RapidJSON's input. The parser would refuse the whole file because of half a surrogate pair.
class input_stream {
 public:
  using Ch = char;

  explicit input_stream(const std::string& name) : file_(name), buffer_(chrome_read_at_once + longest_pair + 1) {
    fill();
    if (std::memcmp(at_, "\xef\xbb\xbf", std::min<std::size_t>(3, static_cast<std::size_t>(end_ - at_) + 1)) == 0)
      for (int mark = 0; mark != 3; ++mark) Take();
  }

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON calls these names
  char Peek() const { return *at_; }
  char Take() {
    const char taken = *at_;
    if (__builtin_expect(at_ != end_, 1) && ++at_ == end_) fill();
    return taken;
  }
  std::size_t Tell() const { return position(); }
  // For parsing in place, which is not done.
  char* PutBegin() { return nullptr; }
  void Put(char /*one*/) {}
  void Flush() {}
  std::size_t PutEnd(char* /*begin*/) { return 0; }
  // NOLINTEND(readability-identifier-naming)

  std::size_t position() const {
    return static_cast<std::size_t>(offset_) + static_cast<std::size_t>(at_ - buffer_.data());
  }
  bool is_at_end() const { return at_ == end_; }
  std::string failure() const { return file_.failure(); }

 private:
  static constexpr std::size_t longest_pair = 12;  // \uD83D\uDE00

  // A 0 after the text ends the parser.
  void fill() {
    char* const begin = buffer_.data();
    offset_ += static_cast<std::uint64_t>(at_ != nullptr ? at_ - begin : 0);
    if (kept_ != 0) std::memmove(begin, end_, kept_);
    std::size_t count = kept_;
    bool is_last = false;
    while (!is_last && count < chrome_read_at_once) {
      const std::size_t got = file_.read(begin + count, chrome_read_at_once - count);
      is_last = got == 0;
      count += got;
    }
    begin[count] = '\0';
    const std::size_t ready = repair_surrogates(begin, count, is_last);
    kept_ = count - ready;
    at_ = begin;
    end_ = begin + ready;
  }

  // Returns the end of the complete text. The first part of an escape may follow.
  static std::size_t repair_surrogates(char* begin, std::size_t count, bool is_last) {
    std::size_t at = 0;
    while (const void* const found = std::memchr(begin + at, '\\', count - at)) {
      at = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
      if (count - at < longest_pair && !is_last) return at;
      const unsigned unit = count - at >= longest_pair / 2 ? escaped_unit(begin + at) : 0;
      if (unit < 0xd800 || unit > 0xdfff) {
        at = std::min(count, at + 2);
        continue;
      }
      const unsigned other = count - at >= longest_pair ? escaped_unit(begin + at + 6) : 0;
      if (unit < 0xdc00 && other >= 0xdc00 && other <= 0xdfff) {
        at += longest_pair;
        continue;
      }
      std::copy_n("fffd", 4, begin + at + 2);
      at += longest_pair / 2;
    }
    return count;
  }

  gzip_file file_;
  std::vector<char> buffer_;
  char* at_ = nullptr;
  char* end_ = nullptr;
  std::size_t kept_ = 0;      // bytes at `end_` that are not complete
  std::uint64_t offset_ = 0;  // of the buffer's begin
};

// Not std::bad_alloc, which the consumer of the events may also throw.
struct text_is_too_long {};

// The parser's memory has a limit. Its caller handles the exception.
class limited_allocator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): RapidJSON calls these names
  [[maybe_unused]] static const bool kNeedFree = true;  // RapidJSON asks some allocators for it
  static void* Malloc(std::size_t bytes) { return Realloc(nullptr, 0, bytes); }
  static void* Realloc(void* from, std::size_t /*bytes*/, std::size_t wanted) {
    if (wanted > max_parser_bytes) throw text_is_too_long();
    if (wanted == 0) {
      Free(from);
      return nullptr;
    }
    void* const made = std::realloc(from, wanted);
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }
  static void Free(void* what) { std::free(what); }
  // NOLINTEND(readability-identifier-naming)
};

// Takes the parts of the JSON text, and assembles events from them.
class event_assembler {
 public:
  event_assembler(const input_stream& in, chrome_file& file, const std::function<void(const chrome_event&)>& take)
      : in_(in), file_(file), take_(take) {}

  std::uint64_t events() const noexcept { return events_; }
  bool has_array() const noexcept { return events_depth_ != 0; }
  bool is_within_event() const noexcept { return is_event_; }
  bool is_too_deep() const noexcept { return depth_ > max_depth; }

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON calls these names
  bool Null() { return take_scalar({}, false); }
  bool Bool(bool value) { return take_scalar(value ? "true" : "false", false); }
  bool RawNumber(const char* text, rapidjson::SizeType bytes, bool /*copy*/) {
    return take_scalar({text, bytes}, true);
  }
  // Not called: numbers are texts.
  bool Int(int /*value*/) { return true; }
  bool Uint(unsigned /*value*/) { return true; }
  bool Int64(std::int64_t /*value*/) { return true; }
  bool Uint64(std::uint64_t /*value*/) { return true; }
  bool Double(double /*value*/) { return true; }
  bool String(const char* text, rapidjson::SizeType bytes, bool /*copy*/) { return take_scalar({text, bytes}, false); }

  bool StartObject() {
    ++depth_;
    if (is_in_array_ && depth_ == events_depth_ + 1) begin_event();
    return depth_ <= max_depth;
  }
  bool EndObject(rapidjson::SizeType /*members*/) {
    if (is_event_ && depth_ == events_depth_ + 1) {
      is_event_ = false;
      ++events_;
      take_(event_);
    }
    --depth_;
    return true;
  }
  bool StartArray() {
    ++depth_;
    const bool is_root = depth_ == 1, is_member = depth_ == 2 && keys_[1] == "traceEvents";
    if (!is_in_array_ && (is_root || is_member)) {
      is_in_array_ = true;
      events_depth_ = depth_;
    }
    if (is_in_shapes(1)) shapes_.clear();
    else if (is_in_shapes(2) && shapes_.size() < max_text) shapes_ += shapes_.empty() ? "[" : ",[";
    return depth_ <= max_depth;
  }
  bool EndArray(rapidjson::SizeType /*elements*/) {
    if (is_in_shapes(1)) add_argument(shapes_);
    else if (is_in_shapes(2) && shapes_.size() < max_text) shapes_ += ']';
    if (is_in_array_ && depth_ == events_depth_) is_in_array_ = false;
    --depth_;
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType bytes, bool /*copy*/) {
    const std::string_view name(text, bytes);
    if (!is_event_) {
      if (depth_ < keys_.size()) keys_[depth_] = name.substr(0, max_key);
      if (depth_ == 1 && (name == "schemaVersion" || name == "deviceProperties")) file_.is_kineto = true;
    } else if (depth_ == events_depth_ + 1) {
      field_ = find_field(name);
      part_ = field_ != chrome_event::fields ? part::field
              : name == "args"               ? part::arguments
              : name == "id2"                ? part::id
                                             : part::none;
      has_key_ = false;
    } else if (depth_ == events_depth_ + 2) {
      has_key_ = part_ != part::none;
      value_ = part_ == part::arguments ? find_argument(name) : chrome_event::arguments;
      is_local_ = part_ == part::id && name == "local";
      if (part_ == part::arguments && may_be_counter()) argument_ = name.substr(0, max_text);
    }
    return true;
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  static constexpr std::size_t max_key = 64;

  static chrome_event::field find_field(std::string_view name) {
    switch (name.size()) {
      case 2:
        if (name == "ph") return chrome_event::phase;
        if (name == "ts") return chrome_event::time;
        return name == "id" ? chrome_event::id : chrome_event::fields;
      case 3:
        if (name == "cat") return chrome_event::category;
        if (name == "pid") return chrome_event::process;
        if (name == "tid") return chrome_event::thread;
        return name == "dur" ? chrome_event::duration : chrome_event::fields;
      case 4: return name == "name" ? chrome_event::name : chrome_event::fields;
      default: return chrome_event::fields;
    }
  }

  static chrome_event::argument find_argument(std::string_view name) {
    switch (name.size()) {
      case 4: return name == "name" ? chrome_event::given_name : chrome_event::arguments;
      case 5:
        if (name == "bytes") return chrome_event::bytes;
        return name == "color" ? chrome_event::color : chrome_event::arguments;
      case 6:
        if (name == "device") return chrome_event::device;
        return name == "stream" ? chrome_event::stream : chrome_event::arguments;
      case 10: return name == "Input Dims" ? chrome_event::input_dims : chrome_event::arguments;
      case 11: return name == "correlation" ? chrome_event::correlation : chrome_event::arguments;
      default: return chrome_event::arguments;
    }
  }

  // The phase may come after the arguments.
  bool may_be_counter() const {
    const std::string& phase = event_.texts[chrome_event::phase];
    return phase.empty() || phase == "C";
  }

  static std::size_t longest(chrome_event::field field) {
    const bool is_id = field == chrome_event::process || field == chrome_event::thread || field == chrome_event::id;
    return is_id ? max_id : max_text;
  }

  // Within the sizes of an operator's inputs: [[8, 3, 64, 64], [], …]; depth 2: of one of them.
  bool is_in_shapes(std::size_t depth) const {
    return is_event_ && depth_ == events_depth_ + 2 + depth && value_ == chrome_event::input_dims;
  }

  void begin_event() {
    is_event_ = true;
    field_ = chrome_event::fields;
    part_ = part::none;
    has_key_ = false;
    event_.offset = in_.position() - 1;  // behind the bracket
    for (std::string& text : event_.texts) text.clear();
    for (std::string& value : event_.values) value.clear();
    event_.is_local_id = false;
    event_.is_of_kineto = file_.is_kineto;
    event_.used_numbers = 0;
  }

  bool take_scalar(std::string_view text, bool is_number) {
    if (!is_event_) {
      if (!is_in_array_) take_member(text);
    } else if (depth_ == events_depth_ + 1) {
      if (field_ != chrome_event::fields) event_.texts[field_] = text.substr(0, longest(field_));
    } else if (is_in_shapes(2) && is_number && !shapes_.empty() && shapes_.size() < max_text) {
      if (shapes_.back() != '[') shapes_ += 'x';
      shapes_ += text;
    } else if (!has_key_ || depth_ != events_depth_ + 2) {
      return true;  // an element of an array, or deeper
    } else if (part_ == part::arguments) {
      add_argument(text);
      if (is_number && may_be_counter()) add_number(text);
    } else if (part_ == part::id) {
      event_.texts[chrome_event::id] = text.substr(0, max_id);
      event_.is_local_id = is_local_;
    }
    return true;
  }

  // The first of several arguments with one name counts.
  void add_argument(std::string_view text) {
    if (value_ != chrome_event::arguments && event_.values[value_].empty())
      event_.values[value_] = text.substr(0, max_text);
  }

  void add_number(std::string_view text) {
    if (argument_.empty() || event_.used_numbers == max_numbers) return;
    if (event_.used_numbers == event_.numbers.size()) event_.numbers.emplace_back();
    chrome_event::number& made = event_.numbers[event_.used_numbers++];
    made.name = argument_;
    made.value = text.substr(0, max_text);
  }

  void take_member(std::string_view text) {
    if (depth_ == 1 && keys_[1] == "baseTimeNanoseconds") {
      file_.base_ns = parse_number<std::int64_t>(text);
    } else if (depth_ == 1 && keys_[1] == "simulated") {
      file_.is_simulated = text == "true";
    } else if (depth_ == 2 && keys_[1] == "distributedInfo" && keys_[2] == "rank") {
      file_.rank = parse_number<std::uint32_t>(text);
    } else if (depth_ == 3 && keys_[1] == "deviceProperties" && file_.devices.size() < max_devices) {
      if (keys_[3] == "id") device_ = parse_number<std::uint32_t>(text).value_or(0);
      else if (keys_[3] == "name") file_.devices[device_] = text.substr(0, max_text);
    }
  }

  static constexpr std::size_t max_devices = 1024;

  const input_stream& in_;
  chrome_file& file_;
  const std::function<void(const chrome_event&)>& take_;
  chrome_event event_;
  // The member of the event that is being read, and the key within it.
  enum class part { none, field, arguments, id };
  part part_ = part::none;
  bool has_key_ = false, is_local_ = false;
  chrome_event::field field_ = chrome_event::fields;
  chrome_event::argument value_ = chrome_event::arguments;
  std::string argument_, shapes_;
  std::array<std::string, 4> keys_;  // by depth, outside of events
  std::uint32_t device_ = 0;
  std::size_t depth_ = 0, events_depth_ = 0;
  bool is_in_array_ = false, is_event_ = false;
  std::uint64_t events_ = 0;
};

std::string describe_cut(const std::string& file, const input_stream& in, const event_assembler& made,
                         const rapidjson::ParseResult& result) {
  if (const std::string failure = in.failure(); !failure.empty())
    return fmt::format("{} ends at byte {}: {}", file, in.position(), failure);
  if (made.is_too_deep()) return fmt::format("{} is nested too deeply at byte {}", file, in.position());
  if (!in.is_at_end())
    return fmt::format("{} is damaged at byte {}: {}", file, result.Offset(),
                       rapidjson::GetParseError_En(result.Code()));
  return fmt::format("{} ends at byte {} {}", file, in.position(),
                     made.is_within_event() ? "within an event" : "without a closing bracket");
}

}  // namespace

std::optional<std::uint64_t> chrome_event::number_of(argument which) const {
  return parse_number<std::uint64_t>(values[which]);
}

bool is_chrome_json(const std::string& file) {
  if (std::error_code failed; !std::filesystem::is_regular_file(file, failed)) return false;
  try {
    input_stream in(file);
    while (in.Peek() == ' ' || in.Peek() == '\t' || in.Peek() == '\r' || in.Peek() == '\n') in.Take();
    return in.Peek() == '[' || in.Peek() == '{';
  } catch (const error&) {
    return false;  // the next reader reports it
  }
}

chrome_file read_chrome_events(const std::string& file, const std::function<void(const chrome_event&)>& take) {
  // It calls itself for each level; the assembler stops it at `max_depth`.
  constexpr unsigned how = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag |
                           rapidjson::kParseTrailingCommasFlag | rapidjson::kParseNanAndInfFlag;
  chrome_file made;
  input_stream in(file);
  event_assembler assembler(in, made, take);
  try {
    rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, limited_allocator> reader;
    const rapidjson::ParseResult result = reader.Parse<how>(in, assembler);
    if (result.IsError() || !in.failure().empty()) made.cut = describe_cut(file, in, assembler, result);
  } catch (const text_is_too_long&) {
    made.cut = fmt::format("{} has a text that is too long at byte {}", file, in.position());
  }
  if (assembler.events() != 0) {
    if (!made.cut.empty()) made.cut += fmt::format(": {} complete events are read", assembler.events());
    return made;
  }
  if (!made.cut.empty()) throw error(made.cut, file, 0, "copy it again if it is a copy, or write it again");
  throw error(fmt::format("{} is JSON, but no trace: {}", file,
                          assembler.has_array() ? "it has no events" : "it has no traceEvents"),
              file, 0, "supported: Chrome traces, as adaptyst and PyTorch's profiler write them");
}

std::optional<std::int64_t> read_microseconds(std::string_view text) {
  constexpr std::uint64_t max_ns = std::uint64_t{1} << 61U;
  constexpr int max_exponent = 100;
  const bool is_negative = !text.empty() && text[0] == '-';
  std::uint64_t digits = 0;
  int exponent = 3;       // from microseconds to ns
  char last_digit = '0';  // the first one that is not in `digits`
  bool has_digit = false, is_fraction = false, is_full = false;
  std::size_t at = is_negative ? 1 : 0;
  for (; at != text.size(); ++at) {
    const char character = text[at];
    if (character == '.' && !is_fraction) {
      is_fraction = true;
      continue;
    }
    if (character < '0' || character > '9') break;
    has_digit = true;
    if (digits < 1'000'000'000'000'000'000) digits = digits * 10 + static_cast<std::uint64_t>(character - '0');
    else {
      if (!is_full) last_digit = character;
      is_full = true;
      ++exponent;
    }
    if (is_fraction) --exponent;
  }
  if (!has_digit) return std::nullopt;
  if (at != text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    const bool has_plus = at + 1 != text.size() && text[at + 1] == '+';
    const std::optional<int> given = parse_number<int>(text.substr(at + (has_plus ? 2 : 1)));
    if (!given) return std::nullopt;
    exponent += std::clamp(*given, -max_exponent, max_exponent);
  }
  for (; exponent > 0 && digits != 0; --exponent, last_digit = '0') {
    if (digits > max_ns) return std::nullopt;
    digits *= 10;
  }
  // Only the last removed digit decides, because half is rounded up.
  for (; exponent < 0 && digits != 0; ++exponent, digits /= 10) last_digit = static_cast<char>('0' + digits % 10);
  if (exponent == 0 && last_digit >= '5') ++digits;
  if (digits > max_ns) return std::nullopt;
  const auto made = static_cast<std::int64_t>(digits);
  return is_negative ? -made : made;
}

}  // namespace adaptyst::lib
