// Sorts the events of a file by time, and finds which call launched which operation.
#include "chrome_reader.hpp"

#include <adaptyst/adapter/torch_operators.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <system_error>
#include <tuple>

#include "../support/error.hpp"

namespace adaptyst::lib {

using chrome::record;
using chrome::record_fault;
using chrome::record_kind;

namespace {

// Limits of a file that any program may have written. Further names, threads and paths share one entry.
constexpr std::size_t max_names = std::size_t{1} << 20U, max_name_bytes = std::size_t{1} << 27U;
constexpr std::size_t max_processes = 65536, max_all_threads = std::size_t{1} << 20U, max_devices = 1024;
constexpr std::size_t max_launches = 4'000'000, max_open = std::size_t{1} << 20U, max_paths = std::size_t{1} << 20U;
constexpr std::size_t max_nested = 512, max_path_bytes = std::size_t{1} << 27U, max_process_name = 256;
constexpr std::uint32_t other_names = 1, other_paths = 2;                 // the numbers of these names
constexpr std::uint32_t highest_process = (std::uint32_t{1} << 22U) - 1;  // a trace_set needs 22 bits
constexpr std::int64_t before_most_ns = static_cast<std::int64_t>(max_time_ns / 2);
constexpr std::uint64_t of_flows = std::uint64_t{1} << 63U;
constexpr std::size_t chrome_spans_at_once = 2048;
// Unix times in ns: of 2001 and of 2100.
constexpr std::int64_t first_utc_ns = 1'000'000'000'000'000'000, last_utc_ns = 4'102'444'800'000'000'000;

bool begins_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool ends_with(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}
bool contains(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

// The meaning of a category. Older versions of kineto begin some with a capital.
enum class category { host, call, kernel, copy, copy_from, fill, not_read };
category find_category(const chrome_event& event) {
  const std::string_view name = event.texts[chrome_event::category];
  if (name == "kernel" || name == "Kernel") return category::kernel;
  if (name == "gpu_memcpy" || name == "Memcpy" || name == "copy_to") return category::copy;
  if (name == "copy_from") return category::copy_from;
  if (name == "gpu_memset" || name == "Memset" || name == "fill") return category::fill;
  if (name == "gpu_user_annotation" || name == "cuda_sync") return category::not_read;
  if (event.is_of_kineto && (name == "Trace" || name == "overhead")) return category::not_read;  // the profiler itself
  return ends_with(name, "_runtime") || ends_with(name, "_driver") || name == "Runtime" ? category::call
                                                                                        : category::host;
}

bool is_from_device(std::string_view name) {
  return contains(name, "DtoH") || contains(name, "D2H") || contains(name, "DeviceToHost");
}

std::uint64_t pair_of(const chrome_event& event) {
  const std::string& process = event.texts[chrome_event::process];
  return std::hash<std::string>{}(event.texts[chrome_event::category] + '\n' + event.texts[chrome_event::id] +
                                  (event.is_local_id ? '\n' + process : std::string()));
}

std::optional<std::uint32_t> small_number(std::string_view text, std::uint32_t most) {
  std::uint32_t made = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), made);
  return failed == std::errc() && end == text.data() + text.size() && made <= most ? std::optional(made) : std::nullopt;
}

// The limit of temporary files. A small gzip file may have any number of events; gzip shortens real ones to a tenth.
std::uint64_t find_spill_limit(const std::string& file) {
  constexpr std::uint64_t of_any_file = std::uint64_t{128} << 20U, for_a_byte = 64;
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(file, failed);
  return of_any_file + (failed ? 0 : for_a_byte * std::min<std::uint64_t>(bytes, std::uint64_t{1} << 50U));
}

bool is_half(record_kind kind) { return kind >= record_kind::begin; }

std::optional<record_kind> find_phase(std::string_view phase) {
  if (phase.size() != 1) return std::nullopt;
  switch (phase[0]) {
    case 'X': return record_kind::scope;
    case 'B': return record_kind::begin;
    case 'E': return record_kind::end;
    case 'b':
    case 'S': return record_kind::async_begin;
    case 'e':
    case 'F': return record_kind::async_end;
    case 's': return record_kind::flow_begin;
    case 'f': return record_kind::flow_end;
    case 'i':
    case 'I':
    case 'R':
    case 'n': return record_kind::mark;
    case 'C': return record_kind::metric;
    default: return std::nullopt;
  }
}

}  // namespace

bool chrome::is_earlier::operator()(const record& a, const record& b) const noexcept {
  if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.kind != record_kind::operation) return std::tie(b.end_ns, a.offset) < std::tie(a.end_ns, b.offset);
  return std::tie(a.device, a.queue, a.end_ns, a.name, a.launch, a.offset) <
         std::tie(b.device, b.queue, b.end_ns, b.name, b.launch, b.offset);
}

bool chrome::is_earlier_half::operator()(const record& a, const record& b) const noexcept {
  return std::tie(a.begin_ns, a.offset) < std::tie(b.begin_ns, b.offset);
}

chrome_reader::chrome_reader(std::string file)
    : file_(std::move(file)),
      sorting_(std::make_unique<sorted_records<record, chrome::is_earlier>>(find_spill_limit(file_), file_)),
      halves_(std::make_unique<sorted_records<record, chrome::is_earlier_half>>(find_spill_limit(file_), file_)),
      all_(find_spill_limit(file_), file_) {
  names_.emplace_back("(unnamed)");
  names_.emplace_back("(other names)");
  names_.emplace_back("(other paths)");
  about_ = read_chrome_events(file_, [this](const chrome_event& event) { take(event); });
  // kineto writes marks of its own into processes that do not exist.
  for (auto& [number, process] : processes_) {
    if (process.is_used || process.marks == 0) continue;
    if (about_.is_kineto) not_read_ += process.marks;
    else process.is_used = true;
  }
  join_halves();
  sort();
}

std::uint32_t chrome_reader::find_name(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto entry = name_numbers_.find(text); entry != name_numbers_.end()) return entry->second;
  if (names_.size() == max_names || name_bytes_ + text.size() > max_name_bytes) {
    ++other_names_;
    return other_names;
  }
  name_bytes_ += text.size();
  const auto number = static_cast<std::uint32_t>(names_.size());
  return name_numbers_.try_emplace(names_.emplace_back(text), number).first->second;
}

// A number stays as it is; a text gets a number that no process uses.
std::uint32_t chrome_reader::find_process(const std::string& text) {
  if (text == last_process_ && !processes_.empty()) return last_process_number_;
  const auto [listed, is_new] = process_numbers_.try_emplace(text);
  if (is_new) {
    if (processes_.size() >= max_processes) {
      process_numbers_.erase(listed);
      return find_other_process();
    }
    const std::optional<std::uint32_t> given = small_number(text, highest_process);
    std::uint32_t number = given.value_or(next_process_);
    if (!given || processes_.count(number) != 0) {
      while (processes_.count(next_process_) != 0) --next_process_;
      number = next_process_;
    }
    listed->second = number;
    traced_process& about = processes_[number].about;
    about.number = number;
    about.name = given ? fmt::format("process {}", *given) : text.empty() ? "process" : text;
    std::int64_t large = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), large);
    if (failed == std::errc() && end == text.data() + text.size()) about.number = large;
  }
  last_process_ = text;
  return last_process_number_ = listed->second;
}

std::uint32_t chrome_reader::find_other_process() {
  if (other_process_) return *other_process_;
  while (processes_.count(next_process_) != 0) --next_process_;
  traced_process& about = processes_[next_process_].about;
  about.number = next_process_;
  about.name = "(other processes)";
  return *(other_process_ = next_process_);
}

std::uint32_t chrome_reader::find_thread(std::uint32_t process, const std::string& text) {
  constexpr std::uint32_t highest = std::numeric_limits<std::uint32_t>::max();
  process_names& of = processes_[process];
  const auto entry = of.threads.find(text);
  if (entry != of.threads.end()) return entry->second;
  if (threads_ == max_all_threads) return highest;
  ++threads_;
  const std::optional<std::uint32_t> given = small_number(text, highest - 1);
  std::uint32_t number = given.value_or(highest - 1);
  if (!given || of.taken.count(number) != 0) {
    while (of.taken.count(of.next_thread) != 0) --of.next_thread;
    number = of.next_thread;
    if (!text.empty()) of.thread_names[number] = text;
  }
  of.taken.insert(number);
  return of.threads[text] = number;
}

// kineto gives the number. In traces of adaptyst, the name of the device's process begins with it.
std::uint32_t chrome_reader::find_device(const chrome_event& event, std::uint32_t process) {
  std::optional<std::uint32_t> number;
  if (const std::optional<std::uint64_t> given = event.number_of(chrome_event::device); given && *given < max_devices)
    number = static_cast<std::uint32_t>(*given);
  if (!number) {
    const auto [listed, is_new] = process_devices_.try_emplace(process);
    if (is_new) {
      const std::string& name = processes_[process].about.name;
      const std::string_view digits =
          std::string_view(name).substr(0, name.find(' ')).substr(std::min<std::size_t>(3, name.size()));
      const std::optional<std::uint32_t> named =
          begins_with(name, "gpu") ? small_number(digits, max_devices - 1) : std::nullopt;
      const bool is_number = process < max_devices;
      listed->second = named       ? *named
                       : is_number ? process
                                   : static_cast<std::uint32_t>(process_devices_.size() - 1) % max_devices;
    }
    number = listed->second;
  }
  if (const auto [listed, is_new] = devices_.try_emplace(*number); is_new)
    listed->second = fmt::format("gpu{}", *number);
  return *number;
}

void chrome_reader::take_name(const chrome_event& event, std::uint32_t process) {
  const std::string_view name = std::string_view(event.values[chrome_event::given_name]).substr(0, max_process_name);
  if (name.empty() || process == other_process_) return;
  if (event.texts[chrome_event::name] == "process_name") processes_[process].about.name = name;
  else if (event.texts[chrome_event::name] == "thread_name")
    processes_[process].thread_names[find_thread(process, event.texts[chrome_event::thread])] = name;
}

// Each number is a counter.
void chrome_reader::take_counter(const chrome_event& event, record& made) {
  for (std::size_t at = 0; at != event.used_numbers; ++at) {
    const chrome_event::number& argument = event.numbers[at];
    const std::string& name = event.texts[chrome_event::name];
    made.value = std::strtod(argument.value.c_str(), nullptr);
    if (!std::isfinite(made.value)) {
      ++not_finite_;
      continue;
    }
    made.name = find_name(argument.name == "value" ? name : name + " " + argument.name);
    sorting_->add(made);
  }
}

namespace {

// "shape=8x3x64x64,weight=64x3x7x7" from "[8x3x64x64],[64x3x7x7],[]"; empty: the first operand is no tensor with sizes.
std::string find_shapes(std::string_view name, std::string_view inputs) {
  const torch_operator_kind kind = find_torch_operator(name);
  const bool has_weight = kind != torch_operator_kind::unknown;
  const std::size_t first = first_operand(kind);
  std::string made;
  for (std::size_t at = 0; at <= first + (has_weight ? 1 : 0); ++at) {
    const std::size_t end = inputs.find(']');
    if (end == inputs.npos || end < 2) break;
    if (at >= first) made += (at == first ? "shape=" : ",weight=") + std::string(inputs.substr(1, end - 1));
    inputs.remove_prefix(std::min(inputs.size(), end + 2));
  }
  return made;
}

}  // namespace

bool chrome_reader::take_operation(const chrome_event& event, record& made) {
  const category what = find_category(event);
  const std::string& name = event.texts[chrome_event::name];
  made.launch = event.number_of(chrome_event::correlation).value_or(0) & ~of_flows;
  if (what == category::call) {
    made.kind = record_kind::call;
    made.what = contains(name, "Synchronize") ? region_kind::wait : region_kind::function;
    return true;
  }
  if (what == category::host || what == category::not_read) {
    made.launch = 0;
    made.kind = record_kind::scope;
    const std::string& category_name = event.texts[chrome_event::category];
    if (category_name == "user_annotation") made.level = static_cast<std::uint8_t>(level::model);
    if (category_name == "cpu_op" || category_name == "Operator") {
      made.level = static_cast<std::uint8_t>(level::layer);
      made.shapes = find_name(find_shapes(name, event.values[chrome_event::input_dims]));
      if (made.shapes == other_names) made.shapes = 0;
    }
    // As adaptyst writes them.
    for (const region_kind kind : {region_kind::function, region_kind::wait, region_kind::offload})
      if (category_name == to_string(kind)) made.what = kind;
    return what == category::host;
  }
  made.kind = record_kind::operation;
  made.what = what == category::kernel                              ? region_kind::kernel
              : what == category::fill                              ? region_kind::fill
              : what == category::copy_from || is_from_device(name) ? region_kind::copy_from
                                                                    : region_kind::copy_to;
  made.device = find_device(event, made.process);
  made.queue = event.number_of(chrome_event::stream).value_or(made.thread);
  made.bytes = event.number_of(chrome_event::bytes).value_or(0);
  return true;
}

void chrome_reader::take(const chrome_event& event) {
  const std::string& phase = event.texts[chrome_event::phase];
  const std::uint32_t process = find_process(event.texts[chrome_event::process]);
  if (phase == "M") return take_name(event, process);
  const std::optional<record_kind> kind = find_phase(phase);
  if (!kind) return;
  if (process == other_process_) ++other_processes_;
  record made;
  made.kind = *kind;
  made.offset = event.offset;
  made.process = process;
  made.thread = find_thread(process, event.texts[chrome_event::thread]);
  const std::optional<std::int64_t> begin = read_microseconds(event.texts[chrome_event::time]);
  made.begin_ns = made.end_ns = begin.value_or(std::numeric_limits<std::int64_t>::max());
  if (!begin) made.fault = event.texts[chrome_event::time].empty() ? record_fault::no_start : record_fault::no_time;
  if (phase == "X" && begin) {
    const std::optional<std::int64_t> duration = read_microseconds(event.texts[chrome_event::duration]);
    if (duration) made.end_ns += *duration;
    else made.fault = event.texts[chrome_event::duration].empty() ? record_fault::no_end : record_fault::no_time;
  }
  const bool is_slice = *kind == record_kind::scope || *kind == record_kind::begin;
  if (*kind == record_kind::flow_begin || *kind == record_kind::flow_end) {
    made.launch = pair_of(event) | of_flows;
    if (begin) sorting_->add(made);
    return;
  }
  if (is_slice && !take_operation(event, made)) {
    if (!is_half(*kind) || !begin) {
      ++not_read_;
      return;
    }
    made.is_on_device = true;  // its end must not belong to another event
    halves_->add(made);
    return;
  }
  // An end may belong to an event that is not read.
  if (made.kind == record_kind::mark) ++processes_[process].marks;
  else if (made.kind != record_kind::operation && made.kind != record_kind::end) processes_[process].is_used = true;
  if (made.kind == record_kind::call) processes_[process].launches = true;
  if (*kind == record_kind::metric) return take_counter(event, made);
  made.name = find_name(event.texts[chrome_event::name]);
  if (*kind == record_kind::mark) made.what = region_kind::instant_event;
  if (const std::uint32_t color = read_color_text(event.values[chrome_event::color]);
      color != 0 && made.name != other_names)
    colors_.try_emplace({made.name, made.what}, color);
  if (is_half(*kind) && begin) {
    if (!is_slice) made.launch = pair_of(event);
    halves_->add(made);
  } else {
    if (is_half(made.kind)) made.kind = record_kind::scope;
    sorting_->add(made);
  }
}

// The last begin of a thread, or of a pair's category and id, belongs to the next end.
void chrome_reader::join_halves() {
  using key = std::tuple<bool, std::uint64_t, std::uint64_t>;
  struct begins {
    std::vector<record> all;
    std::uint64_t beyond = 0;  // later than these, and beyond the limit
  };
  std::map<key, begins> open;
  std::size_t count = 0;
  const auto add_fault = [this](record entry, record_fault why) {
    if (entry.is_on_device) {
      ++not_read_;
      return;
    }
    if (is_half(entry.kind)) entry.kind = entry.kind == record_kind::end ? record_kind::scope : record_kind::handle;
    entry.fault = why;
    sorting_->add(entry);
  };
  halves_->take_all([&](const record& entry) {
    const bool is_pair = entry.kind == record_kind::async_begin || entry.kind == record_kind::async_end;
    const key place = is_pair ? key(true, entry.launch, 0) : key(false, entry.process, entry.thread);
    if (entry.kind != record_kind::end && entry.kind != record_kind::async_end) {
      const auto listed = open.find(place);
      const bool has_beyond = listed != open.end() && listed->second.beyond != 0;
      if (count != max_open && !has_beyond) {
        ++count;
        open[place].all.push_back(entry);
        return;
      }
      if (listed != open.end() || open.size() < 2 * max_open) ++open[place].beyond;
      add_fault(entry, record_fault::no_end);
      return;
    }
    const auto found = open.find(place);
    if (found == open.end()) return add_fault(entry, record_fault::no_start);
    begins& here = found->second;
    if (here.beyond != 0) {
      if (--here.beyond == 0 && here.all.empty()) open.erase(found);
      return;
    }
    record made = here.all.back();
    here.all.pop_back();
    --count;
    if (here.all.empty()) open.erase(found);
    if (made.is_on_device) {
      ++not_read_;
      return;
    }
    made.end_ns = entry.begin_ns;
    if (is_pair) {
      made.kind = record_kind::handle;
      made.launch = 0;
    }
    sorting_->add(made);
  });
  for (const auto& [place, here] : open)
    for (const record& entry : here.all) add_fault(entry, record_fault::no_end);
  halves_.reset();
}

void chrome_reader::sort() {
  find_launching_process();
  std::uint64_t timed = 0;
  // Returns whether the record is kept.
  const auto take = [&](record& entry) {
    const bool is_copy = has_last_ && entry.kind == record_kind::operation && last_.kind == record_kind::operation &&
                         entry.begin_ns == last_.begin_ns && entry.end_ns == last_.end_ns &&
                         entry.device == last_.device && entry.queue == last_.queue && entry.name == last_.name &&
                         entry.launch == last_.launch;
    last_ = entry;
    has_last_ = true;
    if (is_copy && entry.fault == record_fault::none) {
      ++duplicates_;
      return false;
    }
    resolve(entry);
    if (entry.fault == record_fault::none || entry.fault == record_fault::no_end) ++timed;
    return entry.kind != record_kind::flow_end;
  };
  if (std::optional<std::vector<record>> few = sorting_->take_if_in_memory()) {
    few->erase(std::remove_if(few->begin(), few->end(), [&](record& entry) { return !take(entry); }), few->end());
    all_.add_all(std::move(*few));
  } else {
    all_.expect_many();
    sorting_->take_all([&](record& entry) {
      if (take(entry)) all_.add(entry);
    });
  }
  all_.finish();
  sorting_.reset();
  launches_ = {};
  flows_ = {};
  find_origin(timed);
}

// The trace must not begin at an event with a wrong time.
void chrome_reader::find_origin(std::uint64_t timed) {
  if (timed == 0) return;
  const std::int64_t least = all_.at(timed / 2).begin_ns - before_most_ns;
  std::uint64_t first = 0, last = timed / 2;
  while (first != last) {
    const std::uint64_t middle = first + (last - first) / 2;
    if (all_.at(middle).begin_ns < least) first = middle + 1;
    else last = middle;
  }
  origin_ns_ = all_.at(first).begin_ns;
}

// Finds the process and thread that launched an operation: calls and flows begin earlier.
void chrome_reader::resolve(record& entry) {
  if (entry.kind == record_kind::flow_end) {
    if (flows_.size() < max_all_threads) flows_[{entry.process, entry.thread}] = {entry.begin_ns, entry.launch};
    return;
  }
  if (entry.kind == record_kind::flow_begin || (entry.kind == record_kind::call && entry.launch != 0)) {
    if (launches_.size() == max_launches && launches_.count(entry.launch) == 0) return;
    const auto [listed, is_new] = launches_.try_emplace(entry.launch);
    const bool is_of_other = !is_new && listed->second.process != entry.process;
    listed->second = {entry.process, entry.thread, entry.begin_ns, listed->second.is_ambiguous || is_of_other};
    return;
  }
  if (entry.kind != record_kind::operation) return;
  if (entry.launch == 0)
    if (const auto flow = flows_.find({entry.process, entry.thread});
        flow != flows_.end() && flow->second.first == entry.begin_ns)
      entry.launch = flow->second.second;
  const auto found = entry.launch != 0 ? launches_.find(entry.launch) : launches_.end();
  if (found != launches_.end() && !found->second.is_ambiguous) {
    entry.process = found->second.process;
    entry.thread = found->second.thread;
    entry.submitted_ns = found->second.begin_ns;
  } else {
    entry.process = launching_process_.value_or(entry.process);
    entry.launch = 0;
  }
  processes_[entry.process].is_used = true;
}

// Finds the process of operations without a known call: the only one that can have launched them.
void chrome_reader::find_launching_process() {
  for (const bool needs_calls : {true, false}) {
    std::size_t count = 0;
    std::uint32_t found = 0;
    for (const auto& [number, process] : processes_) {
      if (needs_calls ? !process.launches : !process.is_used) continue;
      found = number;
      ++count;
    }
    if (count != 0) launching_process_ = count == 1 ? std::optional(found) : std::nullopt;
    if (count != 0) return;
  }
}

std::string chrome_reader::describe() const {
  return fmt::format("{}{}", about_.is_kineto ? "Chrome trace of PyTorch's profiler" : "Chrome trace",
                     about_.is_simulated ? ", simulated" : "");
}

// kineto's older versions have no base: their times are the time of day.
std::optional<std::int64_t> chrome_reader::utc_ns() const {
  if (about_.base_ns && *about_.base_ns > 0 && *about_.base_ns < last_utc_ns && origin_ns_ < first_utc_ns)
    return *about_.base_ns + origin_ns_;
  return origin_ns_ >= first_utc_ns && origin_ns_ < last_utc_ns ? std::optional(origin_ns_) : std::nullopt;
}

std::vector<trace_input::device> chrome_reader::devices() const {
  std::vector<device> made;
  for (const auto& [number, name] : devices_) {
    const auto model = about_.devices.find(number);
    made.push_back({number, {}, model != about_.devices.end() ? name + " " + model->second : name});
  }
  return made;
}

std::map<std::int64_t, traced_process> chrome_reader::processes() const {
  std::map<std::int64_t, traced_process> made;
  for (const auto& [number, process] : processes_)
    if (process.is_used) made[number] = process.about;
  const auto count =
      std::count_if(processes_.begin(), processes_.end(), [](const auto& entry) { return entry.second.launches; });
  for (auto& [number, process] : made)
    if (about_.rank && (made.size() == 1 || (count == 1 && processes_.at(static_cast<std::uint32_t>(number)).launches)))
      process.rank = about_.rank;
  return made;
}

std::string chrome_reader::missing() const {
  std::string made = about_.cut;
  const auto add = [&made](const std::string& what) { made += (made.empty() ? "" : "; ") + what; };
  if (duplicates_ != 0) add(fmt::format("{}: {} operations occur twice, and count once", file_, duplicates_));
  if (other_names_ != 0)
    add(fmt::format("{} has too many names: {} events have the name (other names)", file_, other_names_));
  if (other_processes_ != 0)
    add(fmt::format("{} has more than {} processes: {} events have the process (other processes)", file_, max_processes,
                    other_processes_));
  if (not_read_ != 0)
    add(fmt::format("{}: {} events of gpu_user_annotation, cuda_sync and the profiler itself are not read", file_,
                    not_read_));
  if (not_finite_ != 0)
    add(fmt::format("{}: {} values of metrics are not finite, and are not read", file_, not_finite_));
  return made;
}

std::string chrome_reader::without_place() const {
  std::string made;
  const auto add = [&made](const std::string& what) { made += (made.empty() ? "" : "; ") + what; };
  if (ambiguous_ != 0)
    add(fmt::format(
        "{} regions are ambiguous: they partly overlap others of their thread, and are not placed below those",
        ambiguous_));
  if (unattributed_ != 0)
    add(fmt::format(
        "{} operations are unattributed: the calls that launched them are unknown, so they are below no region",
        unattributed_));
  if (has_too_many_paths_) add("there are too many call paths: further events have the path (other paths)");
  return made.empty() ? made : fmt::format("{}: {}", file_, made);
}

std::optional<time_span> chrome_reader::take_span(const record& of, bad_rows& bad, std::uint64_t max_length_ns,
                                                  std::int64_t shift_ns) const {
  const row_place place{file_, static_cast<std::int64_t>(of.offset), "byte"};
  const std::optional<std::int64_t> none;
  switch (of.fault) {
    case record_fault::none:
      return bad.take_span(of.begin_ns - origin_ns_, of.end_ns - origin_ns_, place, max_length_ns, shift_ns);
    case record_fault::no_end: return bad.take_span(of.begin_ns - origin_ns_, none, place, max_length_ns, shift_ns);
    case record_fault::no_start: return bad.take_span(none, none, place, max_length_ns, shift_ns);
    case record_fault::no_time: bad.add(row_fault::no_number, place, "has a time that is no number"); break;
  }
  return std::nullopt;
}

namespace {

// Reads the sorted records of a file into a writer, with the regions around each event.
class chrome_conversion {
 public:
  chrome_conversion(const std::deque<std::string>& names, const chrome::colors& colors, std::deque<traced_site>& sites)
      : names_(names), colors_(colors), sites_(sites) {}

  const traced_site* find_site(const record& of, std::uint32_t device, const traced_site* parent) {
    const std::optional<level> level = find_level(of, parent);
    site_key key{of.name, level == level::layer ? of.shapes : 0, of.what, device, parent};
    if (const auto listed = sites_by_key_.find(key); listed != sites_by_key_.end()) return listed->second;
    has_too_many_paths_ =
        has_too_many_paths_ || sites_.size() >= max_paths || name_bytes_ + names_[of.name].size() > max_path_bytes;
    if (has_too_many_paths_) key = {other_paths, 0, of.what, device, nullptr};
    const auto [listed, is_new] = sites_by_key_.try_emplace(key);
    if (!is_new) return listed->second;
    std::string name = names_[std::get<0>(key)];
    if (const std::uint32_t shapes = std::get<1>(key); shapes != 0) name += " [" + names_[shapes] + "]";
    name_bytes_ += name.size();
    const auto color = colors_.find({std::get<0>(key), of.what});
    return listed->second = &sites_.emplace_back(
               traced_site{name, of.what, device, std::get<4>(key), level, color != colors_.end() ? color->second : 0});
  }

  // The shortest open region around these times; of equal ones, the last.
  const traced_site* find_region(std::uint32_t process, std::uint32_t thread, const time_span& times, bool counts) {
    std::vector<open_region>& all = open_[{process, thread}];
    while (!all.empty() && (all.back().end_ns < times.begin_ns ||
                            (all.back().end_ns == times.begin_ns && times.end_ns > times.begin_ns)))
      all.pop_back();
    const open_region* found = nullptr;
    bool crosses = false;
    for (auto candidate = all.rbegin(); candidate != all.rend(); ++candidate) {
      if (candidate->end_ns < times.end_ns) crosses = crosses || candidate->end_ns > times.begin_ns;
      else if (found == nullptr || candidate->duration_ns() < found->duration_ns()) found = &*candidate;
    }
    if (crosses && counts) ++ambiguous_;
    return found != nullptr ? found->site : nullptr;
  }

  void open(const record& of, const time_span& times, const traced_site* site) {
    std::vector<open_region>& all = open_[{of.process, of.thread}];
    if (all.size() == max_nested)
      all.erase(std::remove_if(all.begin(), all.end(),
                               [&](const open_region& region) { return region.end_ns < times.begin_ns; }),
                all.end());
    if (all.size() < max_nested) all.push_back({times, site});
  }

  std::unordered_map<std::uint64_t, const traced_site*> launches_;  // the regions around them
  std::uint64_t ambiguous_ = 0;
  bool has_too_many_paths_ = false;

 private:
  struct open_region : time_span {
    open_region(const time_span& times, const traced_site* of) : time_span(times), site(of) {}
    const traced_site* site;
  };
  using site_key = std::tuple<std::uint32_t, std::uint32_t, region_kind, std::uint32_t, const traced_site*>;

  // As with the adapter of torch: an operator that another operator calls is of the library.
  static std::optional<level> find_level(const record& of, const traced_site* parent) {
    if (of.find_level() != level::layer) return of.find_level();
    for (const traced_site* at = parent; at != nullptr; at = at->parent)
      if (at->level == level::layer || at->level == level::library) return level::library;
    return of.find_level();
  }

  const std::deque<std::string>& names_;
  const chrome::colors& colors_;
  std::deque<traced_site>& sites_;
  std::map<site_key, const traced_site*> sites_by_key_;
  std::size_t name_bytes_ = 0;  // of the sites
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<open_region>> open_;
};

traced_as choose_form(record_kind kind) {
  switch (kind) {
    case record_kind::operation: return traced_as::operation;
    case record_kind::handle: return traced_as::handle;
    case record_kind::mark: return traced_as::instant_event;
    case record_kind::metric: return traced_as::metric;
    default: return traced_as::scope;
  }
}

}  // namespace

void chrome_reader::read(trace_writer& to, std::int64_t shift_ns, bad_rows& bad) {
  const std::vector<device> listed = devices();
  for (const auto& [id, process] : processes()) to.name_process(id, process);
  for (const auto& [id, process] : processes_)
    if (process.is_used)
      for (const auto& [thread, name] : process.thread_names) to.name_thread(id, thread, name);
  unattributed_ = 0;
  chrome_conversion work(names_, colors_, sites_);
  all_.visit(0, all_.size(), [&](const record& entry) {
    if (entry.kind == record_kind::mark && !processes_.at(entry.process).is_used) return;
    const std::optional<time_span> times = take_span(entry, bad, max_time_ns);
    if (!times) return;
    traced_event made;
    made.as = choose_form(entry.kind);
    const traced_site* parent = nullptr;
    std::uint32_t number = 0;
    if (made.as == traced_as::operation) {
      number = entry.device + 1;  // 0 is the host
      const auto call = work.launches_.find(entry.launch);
      if (call != work.launches_.end()) parent = call->second;
      if (entry.launch == 0) ++unattributed_;
      if (!to.knows_device(entry.process, number))
        for (const trace_input::device& about : listed)
          if (about.physical == entry.device) to.name_device(entry.process, number, {about.name, about.physical, {}});
    } else if (made.as == traced_as::scope) {
      parent = work.find_region(entry.process, entry.thread, *times, entry.kind == record_kind::scope);
      if (entry.launch != 0 && work.launches_.size() < max_launches) work.launches_[entry.launch] = parent;
      if (entry.kind == record_kind::flow_begin) return;
    }
    made.site = work.find_site(entry, number, parent);
    if (entry.kind == record_kind::scope) work.open(entry, *times, made.site);
    made.begin_ns = times->begin_ns + static_cast<std::uint64_t>(shift_ns);
    made.end_ns = times->end_ns + static_cast<std::uint64_t>(shift_ns);
    made.thread = entry.thread;
    made.queue = entry.queue;
    if (made.as == traced_as::metric) made.value = entry.value;
    else made.bytes = entry.bytes;
    if ((entry.launch & of_flows) == 0) made.correlation = entry.launch;
    if (entry.submitted_ns != record::unknown_time && entry.submitted_ns >= origin_ns_)
      made.submitted_ns = static_cast<std::uint64_t>(entry.submitted_ns - origin_ns_ + shift_ns);
    if (made.as != traced_as::operation && !to.knows_thread(entry.process, entry.thread))
      to.name_thread(entry.process, entry.thread, fmt::format("thread {}", entry.thread));
    to.add(entry.process, made);
  });
  ambiguous_ = work.ambiguous_;
  has_too_many_paths_ = work.has_too_many_paths_;
}

void chrome_reader::read_host_calls(const std::function<void(const host_call&)>& to, bad_rows& bad) const {
  using kinds = std::array<std::optional<host_call_kind>, 2>;
  std::vector<kinds> by_name;  // as a region, and as a function
  by_name.reserve(names_.size());
  for (const std::string& name : names_)
    by_name.push_back({choose_call_kind({name, region_kind::region, 0, nullptr}),
                       choose_call_kind({name, region_kind::function, 0, nullptr})});
  all_.visit(0, all_.size(), [&](const record& entry) {
    const bool is_of_device =
        entry.kind == record_kind::call || entry.what == region_kind::wait || entry.what == region_kind::offload;
    if (entry.kind != record_kind::call && entry.kind != record_kind::scope && entry.kind != record_kind::handle)
      return;
    const std::optional<host_call_kind> kind =
        is_of_device ? host_call_kind::device : by_name[entry.name][entry.what == region_kind::function ? 1 : 0];
    if (!kind) return;
    if (const std::optional<time_span> times = take_span(entry, bad, max_span_ns))
      to({*times, entry.process, entry.thread, *kind});
  });
}

namespace {

// Ranges of the sorted records.
class chrome_scan final : public trace_scan {
 public:
  chrome_scan(const chrome_reader& from, scan_subject what) : from_(from), what_(what) {
    tables_.push_back({"events", {0, static_cast<std::int64_t>(from.records().size()) - 1}});
  }

  const std::vector<scanned_table>& tables() const override { return tables_; }
  bool may_have_spans() const override { return what_ == scan_subject::regions || from_.has_operations(); }
  std::string name(std::uint64_t id) override { return from_.names()[static_cast<std::size_t>(id)]; }

  // By name and kind: traces have few names and many copies.
  std::optional<copy_direction> direction_of(const record& of) {
    const auto [listed, is_new] = directions_.try_emplace({of.name, of.what});
    if (is_new) listed->second = find_direction(of.what, from_.names()[static_cast<std::size_t>(of.name)]);
    return listed->second;
  }

  std::uint64_t scan(std::size_t /*table*/, std::int64_t first, std::int64_t last, const taker& to) override {
    std::vector<scanned_span> some;
    std::uint64_t count = 0;
    from_.records().visit(number(first), number(last + 1), [&](const record& entry) {
      ++count;
      const bool is_region = entry.kind == record_kind::scope || entry.kind == record_kind::handle;
      if (entry.kind != record_kind::operation && !is_region) return;
      const scan_role role = choose_role(entry.what, what_);
      if (!role.is_wanted) return;
      const std::optional<time_span> times = from_.take_span(entry, bad_, max_span_ns);
      if (!times) return;
      const std::uint64_t bytes = entry.bytes != 0 ? entry.bytes : scanned_span::unknown_bytes;
      some.push_back({*times, role.is_copy ? bytes : entry.name,
                      what_ == scan_subject::device_work ? entry.device : entry.process, role.is_copy,
                      role.is_copy ? direction_of(entry) : std::nullopt});
      if (some.size() < chrome_spans_at_once) return;
      to(some.data(), some.size());
      some.clear();
    });
    to(some.data(), some.size());
    return count;
  }

  std::optional<std::uint64_t> start_near(std::size_t /*table*/, std::int64_t row) override {
    if (number(row) >= from_.records().size()) return std::nullopt;
    bad_rows none;
    const std::optional<time_span> times = from_.take_span(from_.records().at(number(row)), none, max_time_ns);
    return times ? std::optional(times->begin_ns) : std::nullopt;
  }

 private:
  std::map<std::pair<std::uint64_t, region_kind>, std::optional<copy_direction>> directions_;
  static std::uint64_t number(std::int64_t row) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row)); }

  const chrome_reader& from_;
  scan_subject what_;
  std::vector<scanned_table> tables_;
};

}  // namespace

std::unique_ptr<trace_scan> chrome_reader::scan(scan_subject what) const {
  return std::make_unique<chrome_scan>(*this, what);
}

}  // namespace adaptyst::lib
