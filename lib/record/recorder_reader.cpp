#include "recorder_reader.hpp"

#include <sched.h>
#include <time.h>

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>

namespace adaptyst::lib {

namespace {

using detail::load;
using detail::load_acquire;
using detail::loss;
using detail::recorder;
using detail::row;

constexpr unsigned attempts_at_once = 1000;
constexpr unsigned most_attempts = attempts_at_once + 2000;

const char* name_of(loss why) {
  switch (why) {
    case loss::too_deep: return "too_deep";
    case loss::rows_full: return "rows_full";
    case loss::tables_full: return "tables_full";
    case loss::no_memory: return "no_memory";
    case loss::in_signal: return "in_signal";
    case loss::bad_times: return "bad_times";
    default: return "unmatched";
  }
}

// Runs `copy()` until no writer has come between. A writer may have lost its processor in the middle of an event: after a
// while it is given time, up to 0.2 s in all; then, it was stopped by somebody, what was copied last must do.
template <class Copy>
void consistently(const recorder& r, Copy&& copy) {
  for (unsigned attempt = 0; attempt != most_attempts; ++attempt) {
    if (attempt >= attempts_at_once) {
      const timespec a_while{0, 100'000};
      nanosleep(&a_while, nullptr);
    }
    const std::uint64_t before = load_acquire(r.sequence);
    if ((before & 1) != 0 && attempt + 1 != most_attempts) continue;
    copy();
    detail::fence_acquire();
    if (load(r.sequence) == before) return;
  }
}

struct counters {
  std::uint64_t epoch, begun, ended, orphans, in_signal, depth, base;
  std::int64_t handles;
  std::uint64_t lost[static_cast<unsigned>(loss::reasons)];
  std::uint32_t rows;
};

counters read_counters(const recorder& r) {
  counters now{};
  consistently(r, [&] {
    now.epoch = load(r.epoch);
    now.begun = load(r.begun) + (load(r.serial) - load(r.first_serial));
    now.ended = load(r.ended);
    now.orphans = load(r.orphans);
    now.in_signal = load(r.in_signal);
    now.depth = load(r.depth);
    now.base = load(r.base);
    now.handles = load(r.handles);
    for (unsigned why = 0; why != static_cast<unsigned>(loss::reasons); ++why) now.lost[why] = load(r.lost[why]);
    now.rows = load_acquire(r.rows_used);
  });
  return now;
}

measured_site describe(const adaptyst_site& site) {
  measured_site made;
  made.name.assign(site.name, site.name_bytes);
  made.file = site.file;
  made.function = site.function;
  made.label = site.label;
  made.line = site.line;
  made.kind = site.kind;
  made.attributes.assign(site.attributes, site.attributes + site.attribute_count);
  return made;
}

void name_path(measured& in, const adaptyst_path* path) {
  for (; path != nullptr; path = path->parent) {
    if (!in.paths
             .try_emplace(path->id,
                          measured_path{path->parent != nullptr ? path->parent->id : 0, path->site->id, path->device})
             .second)
      return;
    if (in.sites.find(path->site->id) == in.sites.end()) in.sites.emplace(path->site->id, describe(*path->site));
  }
}

double load_number(const double& from) {
  double value;
  __atomic_load(&from, &value, __ATOMIC_RELAXED);
  return value;
}

void read_row(const recorder& r, const row& from, measured& into) {
  measured_row read;
  const adaptyst_path* path = nullptr;
  const std::uint64_t* histogram = nullptr;
  std::vector<attribute> attributes;
  consistently(r, [&] {
    path = load(from.path);
    histogram = load(from.histogram);
    read.count = load(from.count);
    read.total_ns = load(from.total_ns);
    read.self_ns = read.total_ns - std::min(read.total_ns, load(from.nested_ns));
    read.min_ns = load(from.min_ns);
    read.max_ns = load(from.max_ns);
    read.threads = load(from.threads);
    attributes.resize(ADAPTYST_ATTRIBUTES);
    for (unsigned at = 0; at != ADAPTYST_ATTRIBUTES; ++at)
      attributes[at] = {1, load_number(from.attributes[at].sum), load_number(from.attributes[at].min),
                        load_number(from.attributes[at].max)};
  });
  name_path(into, path);
  for (unsigned bucket = 0; bucket != ADAPTYST_HISTOGRAM_BUCKETS; ++bucket)
    read.durations.add_bucket(bucket, load(histogram[bucket]));
  const std::uint32_t used = path->site->kind == ADAPTYST_SITE_METRIC ? 1 : path->site->attribute_count;
  for (unsigned at = 0; at != used; ++at) {
    if (attributes[at].min > attributes[at].max) continue;  // nothing was added yet
    attributes[at].count = read.count;
    read.attributes.resize(at + 1);
    read.attributes[at] = attributes[at];
  }
  add(into.rows[path->id], read);
}

}  // namespace

measured read_recorders(detail::process& in) {
  measured all;
  account& sum = all.accounting;
  std::int64_t open = 0;
  const auto lose = [&sum](loss why, std::uint64_t count, bool at_begin) {
    if (count == 0) return;
    sum.lost[name_of(why)] += count;
    if (at_begin) sum.begun += count;
  };
  const std::uint64_t epoch = load(in.control.epoch);
  for (const recorder* r = load_acquire(in.control.recorders); r != nullptr; r = r->next) {
    const counters now = read_counters(*r);
    if (now.epoch != epoch) continue;  // of an earlier collector
    sum.begun += now.begun;
    sum.ended += now.ended;
    open += static_cast<std::int64_t>(now.depth - now.base) + now.handles;
    for (unsigned why = 0; why != static_cast<unsigned>(loss::reasons); ++why)
      lose(static_cast<loss>(why), now.lost[why], static_cast<loss>(why) != loss::unmatched);
    lose(loss::in_signal, now.in_signal, true);
    sum.unmatched += now.orphans + now.lost[static_cast<unsigned>(loss::unmatched)];
    for (std::uint32_t at = 0; at != now.rows; ++at)
      read_row(*r, load_acquire(r->chunks[at / detail::rows_per_chunk])->rows[at % detail::rows_per_chunk], all);
  }
  detail::for_each_object([&](adaptyst_object& object, const detail::loaded_object&) {
    lose(loss::no_memory, load(object.unrecorded), true);
    return true;
  });
  // Recorders are read one after another: a handle may be seen to end on one after its begin was missed on another.
  if (open < 0) sum.begun += static_cast<std::uint64_t>(-open);
  sum.open = static_cast<std::uint64_t>(std::max<std::int64_t>(0, open));
  return all;
}

namespace {

const char* kind_name(std::uint32_t kind) {
  constexpr const char* names[] = {"cpu", "gpu", "fpga", "accelerator", "other"};
  return kind < std::size(names) ? names[kind] : "other";
}

}  // namespace

unsigned usable_cpus() {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

device_list read_devices(detail::process& in, std::uint64_t observed_ns, std::uint64_t cpu_busy_ns) {
  device_list list;
  device_usage cpu;
  cpu.kind = "cpu";
  cpu.name = "host";
  cpu.observed_ns = observed_ns;
  cpu.busy_ns = std::min(observed_ns, cpu_busy_ns);
  list.devices.push_back(cpu);
  list.index.push_back(0);
  for (detail::device_entry& entry : in.devices) {
    if (load_acquire(entry.state) != 2) break;
    device_usage usage;
    usage.kind = kind_name(entry.kind);
    usage.index = entry.index;
    usage.name = entry.name;
    usage.observed_ns = observed_ns;
    detail::with_device(entry, [&](detail::device_entry& locked) {
      // What came too late for one union may have come in time for another, so each is held against the whole.
      const std::uint64_t busy = locked.busy.total_ns();
      const std::uint64_t kernel = std::min(busy, locked.kernels.total_ns());
      const std::uint64_t copy = std::min(busy, locked.copies.total_ns());
      const std::uint64_t both = locked.kernels_and_copies.total_ns();
      usage.busy_ns = busy;
      usage.kernel_ns = kernel;
      usage.copy_ns = copy;
      usage.exposed_copy_ns = std::min(copy, both - std::min(both, kernel));
      usage.queue_wait_ns = locked.queue_wait_ns;
      usage.late = locked.busy.late;
    });
    usage.skipped = load(entry.skipped);
    list.index.push_back(static_cast<std::uint32_t>(list.devices.size()));
    list.devices.push_back(std::move(usage));
  }
  return list;
}

void reset_devices(detail::process& in) {
  for (detail::device_entry& entry : in.devices) {
    detail::with_device(entry, [](detail::device_entry& locked) {
      locked.busy = locked.kernels = locked.kernels_and_copies = locked.copies = {};
      locked.queue_wait_ns = 0;
    });
    detail::store(entry.skipped, 0);
  }
}

}  // namespace adaptyst::lib
