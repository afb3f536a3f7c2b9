// Sorts records by time, because a host thread, a queue and an arrow between them share the file.
#include "paraver_writer.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include "../support/error.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_paraver_rows = 65536;
constexpr std::size_t max_metric_types = 4096;
constexpr std::size_t record_buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t max_later_states = std::size_t{1} << 20;
constexpr std::uint64_t max_sorted_bytes = std::uint64_t{1} << 42U;

// Types of events, as nsys2prv has them.
constexpr std::uint32_t type_device_call = 63000000, type_copy = 63000001, type_copy_bytes = 63000002,
                        type_kernel = 63000006, type_region = 9600, type_handle = 9700, type_mark = 9701,
                        type_function = 66400000, type_metric = 9400000;
constexpr int tag_of_kernel = 55001, tag_of_copy = 55002;
// Numbers of states, as Extrae has them.
constexpr int state_running = 1, state_copy = 17;
// Values of metrics are whole numbers. The file has values × 10^kept_decimals.
constexpr int kept_decimals = 6;
constexpr double decimal_factor = 1e6;

struct type_name {
  std::uint32_t type;
  const char* name;
};
constexpr type_name type_names[] = {{type_device_call, "Device API"},
                                    {type_copy, "Copy or fill"},
                                    {type_copy_bytes, "Copy size, bytes"},
                                    {type_kernel, "Kernel"},
                                    {type_region, "Region"},
                                    {type_handle, "Handle"},
                                    {type_mark, "Mark"},
                                    {type_function, "Function"}};

bool is_of_memory(region_kind kind) {
  return kind == region_kind::copy_to || kind == region_kind::copy_from || kind == region_kind::fill;
}

// A label is the rest of a line.
std::string to_label(const std::string& name) {
  std::string made = valid_utf8(name);
  for (char& character : made)
    if (static_cast<unsigned char>(character) < ' ') character = ' ';
  return made.find_first_not_of(' ') != std::string::npos ? made : "(unnamed)";
}

// A line of numbers with colons between them. Format strings would take most of the time of a conversion.
template <class... Numbers>
void append_numbers(std::string& to, std::string_view begin, Numbers... numbers) {
  constexpr std::size_t max_digits = 21;
  char line[16 + sizeof...(numbers) * max_digits];
  char* end = std::copy(begin.begin(), begin.end(), line);
  const auto put = [&](auto number) {
    end = std::to_chars(end, end + max_digits, number).ptr;
    *end++ = ':';
  };
  (put(numbers), ...);
  end[-1] = '\n';
  to.append(line, static_cast<std::size_t>(end - line));
}

std::string replace_suffix(const std::string& file, const char* suffix) {
  return file.substr(0, file.size() - std::string_view(".prv").size()) + suffix;
}

}  // namespace

paraver_writer::paraver_writer(std::string file, std::optional<std::int64_t> utc_ns)
    : file_(std::move(file)),
      utc_ns_(utc_ns),
      records_file_(file_, output_file::appears::whole),
      names_file_(replace_suffix(file_, ".pcf"), output_file::appears::whole),
      rows_file_(replace_suffix(file_, ".row"), output_file::appears::whole),
      records_(max_sorted_bytes, file_) {
  for (const output_file* const opened : {&records_file_, &names_file_, &rows_file_})
    if (opened->failure() != 0)
      throw error(fmt::format("cannot write the trace to {}", file_), file_, opened->failure(), "name another file");
}

void paraver_writer::name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) {
  threads_[{process, thread}] = name;
}

bool paraver_writer::knows_thread(std::int64_t process, std::uint32_t thread) const {
  return threads_.size() >= max_paraver_rows || threads_.count({process, thread}) != 0;
}

void paraver_writer::name_device(std::int64_t process, std::uint32_t device, const traced_device& what) {
  devices_[{process, device}] = what;
}

bool paraver_writer::knows_device(std::int64_t process, std::uint32_t device) const {
  return devices_.count({process, device}) != 0;
}

std::optional<std::uint32_t> paraver_writer::find_place(const place& of) {
  const auto found = places_.find(of);
  if (found != places_.end()) return found->second;
  if (places_.size() == max_paraver_rows) return std::nullopt;
  processes_.try_emplace(of.process, traced_process{fmt::format("process {}", of.process), of.process, {}, {}});
  return places_.emplace(of, static_cast<std::uint32_t>(places_.size())).first->second;
}

// Labels have numbers of 32 bits in Paraver: names are numbered from 1.
std::int64_t paraver_writer::find_value(std::uint32_t type, const traced_site& site) {
  auto& [cached_type, value] = site_values_[&site];
  if (cached_type == type) return value;
  auto& names = values_[type];
  cached_type = type;
  value = names.try_emplace(to_label(site.name), static_cast<std::int64_t>(names.size()) + 1).first->second;
  return value;
}

std::uint32_t paraver_writer::find_metric(const std::string& name) {
  const auto found = metrics_.find(name);
  if (found != metrics_.end()) return found->second;
  if (metrics_.size() == max_metric_types) return 0;
  return metrics_[name] = type_metric + static_cast<std::uint32_t>(metrics_.size());
}

void paraver_writer::add_span(std::uint32_t at, std::uint32_t type, const traced_event& event) {
  record made;
  made.time_ns = event.begin_ns;
  made.order = count_++;
  made.at = at;
  made.type = type;
  made.value = find_value(type, *event.site);
  made.bytes = event.bytes;
  made.what = step::begin;
  if (event.as == traced_as::operation) {
    const scan_role what = choose_role(event.site->kind, scan_subject::device_work);
    if (what.is_wanted) made.as = what.is_copy ? role::copy : role::kernel;
  }
  if (event.as == traced_as::scope)
    if (const std::optional<host_call_kind> call = choose_call_kind(*event.site))
      made.as = *call == host_call_kind::mpi ? role::mpi_call : role::other_call;
  // A span without a duration would end before it begins.
  if (event.as == traced_as::instant_event) made.what = step::value;
  else if (event.end_ns <= event.begin_ns) made.what = step::moment;
  records_.add(made);
  if (made.what != step::begin) return;
  made.time_ns = event.end_ns;
  made.other_ns = event.begin_ns;
  made.what = step::end;
  records_.add(made);
}

void paraver_writer::add_value(std::uint32_t at, const traced_event& event) {
  const double value = event.value * decimal_factor;
  const std::uint32_t type = find_metric(to_label(event.site->name));
  if (!(std::abs(value) < 9e18) || type == 0) {
    ++lost_;
    return;
  }
  record made;
  made.time_ns = event.begin_ns;
  made.order = count_++;
  made.at = at;
  made.type = type;
  made.value = std::llround(value);
  made.what = step::value;
  if (static_cast<double>(made.value) != value) ++rounded_;
  records_.add(made);
}

void paraver_writer::add_operation(std::uint32_t queue, std::int64_t process, const traced_event& event) {
  const bool is_of_data = is_of_memory(event.site->kind);
  add_span(queue, is_of_data ? type_copy : type_kernel, event);
  record made;
  made.time_ns = event.begin_ns;
  made.order = count_++;
  made.at = queue;
  made.other_ns = event.end_ns;
  made.value = is_of_data ? state_copy : state_running;
  made.what = step::state;
  records_.add(made);
  if (event.submitted_ns == 0) return;
  const std::optional<std::uint32_t> thread = find_place({process, false, 0, event.thread});
  if (!thread || event.submitted_ns > event.begin_ns) {
    ++(thread ? reversed_ : without_thread_);
    return;
  }
  made.time_ns = event.submitted_ns;
  made.other_ns = event.begin_ns;
  made.at = *thread;
  made.to = queue;
  made.value = static_cast<std::int64_t>(event.bytes);
  made.type = is_of_data ? tag_of_copy : tag_of_kernel;
  made.what = step::arrow;
  records_.add(made);
}

void paraver_writer::add(std::int64_t process, const traced_event& event) {
  const bool is_operation = event.as == traced_as::operation;
  const std::optional<std::uint32_t> at = find_place({process, is_operation, is_operation ? event.site->device : 0,
                                                      is_operation ? event.queue : std::uint64_t{event.thread}});
  if (!at) {
    ++lost_;
    return;
  }
  end_ns_ = std::max({end_ns_, event.begin_ns, event.end_ns});
  switch (event.as) {
    case traced_as::operation: return add_operation(*at, process, event);
    case traced_as::metric: return add_value(*at, event);
    case traced_as::handle: return add_span(*at, type_handle, event);
    case traced_as::instant_event: return add_span(*at, type_mark, event);
    case traced_as::scope: break;
  }
  const bool is_call = event.site->kind == region_kind::function;
  const bool is_of_device = is_call && choose_call_kind(*event.site) == host_call_kind::device;
  add_span(*at, is_of_device ? type_device_call : is_call ? type_function : type_region, event);
}

std::vector<std::string> paraver_writer::remarks() const {
  std::vector<std::string> made;
  if (lost_ != 0) made.push_back(fmt::format("lacks {} events: too many threads, or values not finite", lost_));
  if (rounded_ != 0)
    made.push_back(fmt::format("has {} values of metrics that are rounded to {} decimals", rounded_, kept_decimals));
  if (reversed_ != 0)
    made.push_back(fmt::format("has {} operations without an arrow: they begin before their submission", reversed_));
  if (without_thread_ != 0)
    made.push_back(fmt::format("has {} operations without an arrow: too many threads", without_thread_));
  if (without_state_ != 0)
    made.push_back(fmt::format("has {} operations without a state: too many overlap", without_state_));
  return made;
}

void paraver_writer::write_out(output_file& to, std::string& text, bool is_last) {
  if (!is_last && text.size() < record_buffer_bytes) return;
  to.write(text);
  text.clear();
  if (to.failure() != 0)
    throw error(fmt::format("cannot write the trace to {}", file_), file_, to.failure(),
                "make room, or name another file");
}

// Tasks are in the order of the ranks, then of the processes.
std::string paraver_writer::number_rows() {
  if (processes_.empty()) processes_[0] = {"(no process)", 0, {}, {}};
  for (const auto& [process, about] : processes_) tasks_.push_back(process);
  std::stable_sort(tasks_.begin(), tasks_.end(), [this](std::int64_t a, std::int64_t b) {
    return processes_[a].rank.value_or(~std::uint32_t{0}) < processes_[b].rank.value_or(~std::uint32_t{0});
  });
  std::map<std::int64_t, std::uint32_t> task_of, threads;
  for (const std::int64_t process : tasks_) {
    const auto number = static_cast<std::uint32_t>(task_of.size() + 1);
    task_of[process] = number;
  }
  rows_.resize(places_.size());
  for (const auto& [at, number] : places_) {
    rows_[number].task = task_of[at.process];
    rows_[number].thread = ++threads[at.process];
    if (!at.is_queue) continue;
    const auto named = devices_.find({at.process, at.device});
    rows_[number].device = &device_times_[named != devices_.end() ? named->second.physical : at.device];
  }
  std::string made;
  for (const std::int64_t process : tasks_)  // a task without threads would be refused
    made += fmt::format("{}{}:1", made.empty() ? "" : ",", std::max(threads[process], std::uint32_t{1}));
  return fmt::format("{}({})", tasks_.size(), made);
}

void paraver_writer::write_states_until(std::uint64_t time_ns) {
  while (!later_states_.empty() && later_states_.begin()->first <= time_ns) {
    const record state = later_states_.extract(later_states_.begin()).mapped();
    const row& at = rows_[state.at];
    append_numbers(text_, "1:0:1:", at.task, at.thread, state.time_ns, state.other_ns, state.value);
  }
}

void paraver_writer::add_time(const record& next, row& at) {
  if (next.as == role::none || (next.what != step::begin && next.what != step::end)) return;
  const auto add = [&](united_time& to) { next.what == step::begin ? to.begin(next.time_ns) : to.end(next.time_ns); };
  switch (next.as) {
    case role::none: break;
    case role::kernel:
      add(at.device->busy);
      add(at.device->active);
      break;
    case role::copy: add(at.device->active); break;
    case role::mpi_call: add(at.in_mpi); [[fallthrough]];
    case role::other_call:
      add(at.in_calls);
      at.has_calls = true;
      break;
  }
}

std::optional<paraver_writer::device_result> paraver_writer::find_device_factors() const {
  device_sums sums;
  std::size_t devices = 0;
  for (const auto& [device, time] : device_times_) {
    if (time.active.total_ns == 0) continue;  // only fills
    ++devices;
    sums.add(time.busy.total_ns, time.active.total_ns);
  }
  const std::optional<device_factors> found = sums.find_factors(devices, end_ns_);
  return found ? std::optional(device_result{devices, *found}) : std::nullopt;
}

std::optional<paraver_writer::host_result> paraver_writer::find_host_factors() const {
  host_sums sums;
  std::size_t threads = 0;
  for (const row& each : rows_) {
    if (!each.has_calls) continue;
    ++threads;
    sums.add(end_ns_ - each.in_mpi.total_ns, end_ns_ - each.in_calls.total_ns);
  }
  const std::optional<host_factors> found = sums.find_factors(threads, end_ns_);
  return found ? std::optional(host_result{threads, *found}) : std::nullopt;
}

void paraver_writer::open_spans::end(const record& at) {
  const auto is_before = [](const span& each, const record& ended) {
    return std::tie(each.begin_ns, each.order) < std::tie(ended.other_ns, ended.order);
  };
  std::lower_bound(all_.begin(), all_.end(), at, is_before)->has_ended = true;
  ++ended_;
  for (; !all_.empty() && all_.back().has_ended; --ended_) all_.pop_back();
  if (2 * ended_ <= all_.size()) return;
  all_.erase(std::remove_if(all_.begin(), all_.end(), [](const span& each) { return each.has_ended; }), all_.end());
  ended_ = 0;
}

void paraver_writer::write(const record& next) {
  write_states_until(next.time_ns);
  row& at = rows_[next.at];
  add_time(next, at);
  const auto put_event = [&](std::int64_t value) {
    append_numbers(text_, "2:0:1:", at.task, at.thread, next.time_ns, next.type, value);
  };
  const auto put_sized_event = [&](std::int64_t value, std::uint64_t bytes) {
    if (next.bytes == 0) return put_event(value);
    append_numbers(text_, "2:0:1:", at.task, at.thread, next.time_ns, next.type, value, type_copy_bytes, bytes);
  };
  const auto find_open = [&]() -> open_spans& {
    const auto of_type =
        std::find_if(at.open.begin(), at.open.end(), [&](const open_spans& each) { return each.type() == next.type; });
    return of_type != at.open.end() ? *of_type : at.open.emplace_back(next.type);
  };
  switch (next.what) {
    case step::begin:
      find_open().begin(next);
      put_sized_event(next.value, next.bytes);
      break;
    // Events of a type have no nesting: at the end of an inner span, the outer one has the value again.
    case step::end: {
      open_spans& open = find_open();
      open.end(next);
      put_sized_event(open.innermost(), 0);
      break;
    }
    case step::moment:
      put_sized_event(next.value, next.bytes);
      put_sized_event(find_open().innermost(), 0);
      break;
    case step::value: put_event(next.value); break;
    case step::state: {
      const std::uint64_t begin_ns = std::max(next.time_ns, at.state_end_ns);  // states of a row must not overlap
      if (begin_ns >= next.other_ns) return;
      if (begin_ns > next.time_ns && later_states_.size() == max_later_states) {
        ++without_state_;
        return;
      }
      at.state_end_ns = next.other_ns;
      if (begin_ns > next.time_ns) {
        record later = next;
        later.time_ns = begin_ns;
        later_states_.emplace(begin_ns, later);
        return;
      }
      append_numbers(text_, "1:0:1:", at.task, at.thread, begin_ns, next.other_ns, next.value);
      break;
    }
    case step::arrow: {
      const row& queue = rows_[next.to];
      append_numbers(text_, "3:0:1:", at.task, at.thread, next.time_ns, next.time_ns, 0, 1, queue.task, queue.thread,
                     next.other_ns, next.other_ns, next.value, next.type);
      break;
    }
  }
  write_out(records_file_, text_, false);
}

void paraver_writer::write_names() {
  std::string text =
      "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\n"
      "SPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n"
      "DEFAULT_SEMANTIC\n\nTHREAD_FUNC         State As Is\n\nSTATES\n0    Idle\n";
  text += fmt::format("{}    Running\n{}    Memory transfer\n\n", state_running, state_copy);
  text += fmt::format("STATES_COLOR\n0    {{117,195,255}}\n{}    {{0,0,255}}\n{}    {{255,144,26}}\n\n", state_running,
                      state_copy);
  for (const auto& [type, name] : type_names) {
    text += fmt::format("EVENT_TYPE\n0    {}    {}\n", type, name);
    const auto values = values_.find(type);
    if (values != values_.end()) {
      text += "VALUES\n0      End\n";
      for (const auto& [words, value] : values->second) {
        text += fmt::format("{}      {}\n", value, words);
        write_out(names_file_, text, false);
      }
    }
    text += '\n';
  }
  for (const auto& [name, type] : metrics_)
    text += fmt::format("EVENT_TYPE\n0    {}    {}\nPRECISION {}\n\n", type, name, kept_decimals);
  write_out(names_file_, text, true);
  std::vector<std::string> names;
  for (const std::int64_t process : tasks_) {
    std::uint32_t threads = 0;
    for (auto at = places_.lower_bound({process, false, 0, 0}); at != places_.end() && at->first.process == process;
         ++at) {
      const place& of = at->first;
      ++threads;
      if (!of.is_queue) {
        const auto named = threads_.find({process, static_cast<std::uint32_t>(of.number)});
        names.push_back(named != threads_.end() ? to_label(named->second) : fmt::format("thread {}", of.number));
        continue;
      }
      const auto named = devices_.find({process, of.device});
      const std::uint32_t physical = named != devices_.end() ? named->second.physical : of.device;
      names.push_back(fmt::format("CUDA-D{}.S{}", physical, of.number));
    }
    if (threads == 0) names.emplace_back("(no thread)");
  }
  text = fmt::format("LEVEL TASK SIZE {}\n", tasks_.size());
  for (const std::int64_t process : tasks_) text += to_label(to_text(processes_[process])) + "\n";
  text += fmt::format("\nLEVEL THREAD SIZE {}\n", names.size());
  for (const std::string& name : names) text += name + "\n";
  text += '\n';
  write_out(rows_file_, text, true);
}

void paraver_writer::finish() {
  std::string date = "unknown";
  if (utc_ns_) {
    tm utc{};
    const auto seconds = static_cast<time_t>(*utc_ns_ / 1'000'000'000);
    gmtime_r(&seconds, &utc);
    date = fmt::format("{:02}/{:02}/{} at {:02}:{:02}", utc.tm_mday, utc.tm_mon + 1, utc.tm_year + 1900, utc.tm_hour,
                       utc.tm_min);
  }
  text_ = fmt::format("#Paraver ({}):{}_ns:0:1:{}\n", date, end_ns_, number_rows());
  records_.take_all([this](const record& next) { write(next); });
  write_states_until(~std::uint64_t{0});
  write_out(records_file_, text_, true);
  write_names();
  for (output_file* const each : {&rows_file_, &names_file_, &records_file_}) {
    each->finish();
    if (each->failure() != 0)
      throw error(fmt::format("cannot write the trace to {}", file_), file_, each->failure(),
                  "make room, or name another file");
  }
}

}  // namespace adaptyst::lib
