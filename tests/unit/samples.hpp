// Profiles to try things on: random ones, and one of everything that is hard to print.
#ifndef ADAPTYST_TESTS_UNIT_SAMPLES_HPP
#define ADAPTYST_TESTS_UNIT_SAMPLES_HPP

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace samples {

// How a text is made up as UTF-8.
struct spelling {
  std::size_t points = 0;  // characters
  std::size_t broken = 0;  // bytes that belong to none
};

inline spelling spell(const std::string& text) {
  spelling found;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    bool whole = length != 0 && at + length <= text.size();
    for (std::size_t more = 1; whole && more < length; ++more)
      whole = (static_cast<unsigned char>(text[at + more]) & 0xc0) == 0x80;
    ++(whole ? found.points : found.broken);
    at += whole ? length : 1;
  }
  return found;
}

// What distinguishes one call path from another: all processes that run the same code give it the same id, site and
// kind.
struct known_path {
  std::vector<std::string> names;
  std::uint64_t id, parent;
  adaptyst::region_kind kind;
};

inline const std::vector<known_path>& paths() {
  static const std::vector<known_path> all{
      {{"a"}, 1, 0, adaptyst::region_kind::region},
      {{"a", "b"}, 2, 1, adaptyst::region_kind::region},
      {{"a", "b", "c"}, 3, 2, adaptyst::region_kind::kernel},
      {{"a", "c"}, 4, 1, adaptyst::region_kind::offload},
      {{"a", "c"}, 5, 1, adaptyst::region_kind::offload},  // the same names, from another line
      {{"b"}, 6, 0, adaptyst::region_kind::copy_to},
      {{"b", "mark"}, 7, 6, adaptyst::region_kind::instant_event},
      {{"caf\xc3\xa9"}, 8, 0, adaptyst::region_kind::region}};
  return all;
}

// Numbers in sums are small integers, so that adding doubles is exact in any order.
class generator {
 public:
  explicit generator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  adaptyst::profile profile() {
    adaptyst::profile made;
    made.engine = pick({"ebpf", "inline", "off"});
    made.mechanism = pick({"", "uprobe_multi, nop5 optimised", "own recorder, cycle counter"});
    made.reason = pick({"permitted", "asked for", "cannot load the eBPF programs: EPERM"});
    devices(made);
    for (const known_path& path : paths())
      for (std::uint32_t device = 0; device != made.devices.size(); ++device)
        if (below(3) == 0) made.regions.push_back(region(path, device));
    std::shuffle(made.regions.begin(), made.regions.end(), random_);
    account(made.accounting);
    for (std::uint64_t left = below(3); left != 0; --left) {
      made.processes.push_back({static_cast<std::int64_t>(below(4)), pick({"a", "b"}), pick({"x", "y"}), below(100)});
      if (below(2) == 0)
        made.processes.back().ended_in = {{std::vector<std::string>{"main", "step"}, 1 + below(4), below(1000)}};
      if (below(2) == 0) made.processes.back().threads = static_cast<std::uint32_t>(below(3));
      if (below(2) == 0) made.processes.back().parent = static_cast<std::int64_t>(1 + below(4));
      made.processes.back().cpu_ns = maybe();
      if (below(2) == 0)
        made.processes.back().thread_list = {{7, "worker", 10 + below(9), below(9), 1, 3}, {8, "", 10, 0, below(2)}};
      if (below(2) == 0) made.processes.back().resident = {{0, below(9)}, {100 + below(9), below(9)}};
    }
    return made;
  }

  // In addition: stacks and machines, which the first messages between ranks do not have.
  adaptyst::profile profile_with_stacks() {
    adaptyst::profile made = profile();
    for (const adaptyst::region& row : made.regions)
      if (below(3) == 0 && std::none_of(made.stacks.begin(), made.stacks.end(),
                                        [&](const auto& listed) { return listed.region == row.id; }))
        made.stacks.push_back({row.id, frames()});
    if (below(2) == 0) made.stacks.push_back({0, frames()});
    if (below(2) == 0)
      made.machines = {{pick({"x", "y"}),
                        2,
                        maybe(),
                        8,
                        {{0, 0, "0-7", maybe()}, {1, maybe(), "", {}}},
                        {{"gpu", "0000:01:00.0", "10de:2330", 0}, {"network", "0000:02:00.0", "", {}}}}};
    return made;
  }

 private:
  std::vector<adaptyst::sampled_frame> frames() {
    std::vector<adaptyst::sampled_frame> made;
    std::uint32_t depth = 0;
    for (std::uint64_t left = 1 + below(6); left != 0; --left) {
      depth = static_cast<std::uint32_t>(below(depth + 1));
      made.push_back({pick({"main", "step()", "a<b>", "(others)"}), depth, below(9), below(9), 1 + below(9)});
      ++depth;
    }
    return made;
  }
  std::string pick(std::initializer_list<const char*> choices) { return choices.begin()[below(choices.size())]; }

  std::optional<std::uint64_t> maybe() {
    return below(3) == 0 ? std::nullopt : std::optional<std::uint64_t>(below(1000));
  }
  std::optional<double> maybe_number() {
    return below(3) == 0 ? std::nullopt : std::optional<double>(static_cast<double>(below(1000)));
  }

  // Each identity once, in any order: numbers of devices differ from process to process.
  void devices(adaptyst::profile& in) {
    std::vector<adaptyst::device_usage> all(5);
    using kind = adaptyst::device_kind;
    const kind kinds[] = {kind::cpu, kind::gpu, kind::gpu, kind::fpga, kind::accelerator};
    for (std::uint32_t at = 0; at != all.size(); ++at) {
      all[at].kind = kinds[at];
      all[at].index = at % 3;
      all[at].name = at < 3 ? "one" : "two";
    }
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(1 + below(all.size()));
    for (adaptyst::device_usage& device : all) {
      device.observed_ns = below(1000);
      device.busy_ns = maybe();
      device.kernel_ns = maybe();
      device.copy_ns = maybe();
      device.exposed_copy_ns = maybe();
      device.launch_idle_ns = maybe();
      device.host_waiting_ns = maybe();
      device.work_ns = maybe();
      device.operations = below(100);
      device.queues = static_cast<std::uint32_t>(below(5));
      if (below(2) == 0) device.queue_wait = waits();
      if (below(2) == 0) device.launch_latency = waits();
      if (below(2) == 0) device.to_device = {static_cast<double>(below(1000)), below(1000)};
      if (below(2) == 0) device.from_device = {static_cast<double>(below(1000)), below(1000)};
      if (below(2) == 0) device.flops = {static_cast<double>(below(1000)), below(1000)};
      if (below(2) == 0)
        device.clock = {adaptyst::clock_id::realtime, static_cast<std::uint32_t>(below(9)),
                        -static_cast<std::int64_t>(below(99)), static_cast<double>(below(100)), below(100)};
      device.late = below(3);
      device.skipped = below(3);
      in.devices.push_back(device);
    }
    in.offload = {below(1000), maybe(), maybe()};
    if (below(2) == 0) in.adapters = {{"openmp", "libomp.so.5"}};
    if (below(2) == 0) in.skipped_adapters = {{"libgomp", "no \"tools\""}};
    if (below(2) == 0) in.not_probed = {{"MPI_Test", "its entry \"is\" slow"}, {"MPI_Wtime", "no"}};
    if (below(2) == 0) in.options = {{"overhead", std::to_string(below(3)) + "%"}, {"output", "odd \"name\".json"}};
    if (below(2) == 0) in.timeline = adaptyst::timeline_usage{below(1000), below(1000), below(1000)};
    if (below(2) == 0) in.context = adaptyst::context_account{below(100), {}, 3e6};
    if (in.context && below(2) == 0) in.context->faults_one_of = 2 + below(100);
    if (in.context && in.context->faults_one_of) in.context->switches_one_of = 1 + *in.context->faults_one_of;
    if (in.context && below(2) == 0) in.context->lost[adaptyst::loss_reason::no_wakeup] = below(10);
    if (in.context) in.devices.front().context = context();
    if (below(2) == 0)
      in.samples = adaptyst::sample_usage{below(100), below(1000), {{adaptyst::loss_reason::truncated, below(9)}}, 9e5};
    if (in.samples && in.samples->samples % 2 == 0) in.samples->waits_one_of = 2 + in.samples->samples;
  }

  adaptyst::os_context context() {
    adaptyst::os_context made;
    for (std::uint64_t adaptyst::os_context::*const member :
         {&adaptyst::os_context::wall_ns, &adaptyst::os_context::runnable_ns, &adaptyst::os_context::sleep_ns,
          &adaptyst::os_context::lock_ns, &adaptyst::os_context::io_ns, &adaptyst::os_context::other_ns,
          &adaptyst::os_context::voluntary_switches, &adaptyst::os_context::involuntary_switches,
          &adaptyst::os_context::migrations})
      made.*member = below(1000);
    made.wall_ns += below(5000);
    made.open = below(2);
    made.minor_faults = maybe();
    made.major_faults = maybe();
    made.faults_variance = maybe_number();
    std::uint64_t number = made.wall_ns;
    for (const auto member : {&adaptyst::os_context::voluntary_variance, &adaptyst::os_context::involuntary_variance,
                              &adaptyst::os_context::migrations_variance, &adaptyst::os_context::runnable_variance,
                              &adaptyst::os_context::blocked_variance})
      if ((number += 7) % 3 != 0) made.*member = static_cast<double>(number);
    made.cycles = maybe();
    made.instructions = maybe();
    made.cache_misses = maybe();
    return made;
  }

  adaptyst::wait_times waits() {
    adaptyst::wait_times made;
    for (std::uint64_t left = 1 + below(5); left != 0; --left) {
      const std::uint64_t wait_ns = below(1000000);
      made.total_ns += wait_ns;
      made.durations.add(wait_ns);
    }
    return made;
  }

  adaptyst::region region(const known_path& path, std::uint32_t device) {
    adaptyst::region made;
    made.path = path.names;
    made.id = path.id;
    made.parent = path.parent;
    made.site = {"file.cpp", static_cast<std::uint32_t>(path.id), "function"};
    made.kind = path.kind;
    made.device = device;
    made.threads = static_cast<std::uint32_t>(below(4));
    made.overhead_ns = maybe_number();
    if (below(2) == 0) made.context = context();
    if (below(2) == 0) made.self_context = context();
    made.samples = maybe();
    if (below(2) == 0) made.per_thread = {1 + below(4), 10 + below(1000), below(10), 10 + below(100)};
    for (std::uint64_t left = below(5); left != 0; --left) {
      const std::uint64_t duration = random_() >> (20 + below(40));
      made.min_ns = made.count == 0 ? duration : std::min(made.min_ns, duration);
      made.max_ns = std::max(made.max_ns, duration);
      made.total_ns += duration;
      made.self_ns += duration / 2;
      made.durations.add(duration);
      ++made.count;
    }
    if (made.count != 0 && below(3) == 0) {
      made.timed_events = below(made.count);
      made.count_variance = static_cast<double>(below(1000));
      made.total_variance = maybe_number();
    }
    for (const adaptyst::budget_step step : {adaptyst::budget_step{true, 1}, {false, 1}, {false, 64}})
      if (below(3) == 0) made.measured_on[step] = below(1000);
    for (const char* const name : {"bytes", "flops", "residual"}) {
      if (below(2) == 0) continue;
      const double low = static_cast<double>(below(100)) - 50;
      const double high = low + static_cast<double>(below(100));
      made.attributes[name] = {below(4), low + high, low, high, below(2)};
      if (made.attributes[name].count == 0) made.attributes[name] = {};
    }
    return made;
  }

  void account(adaptyst::account& accounting) {
    accounting.ended = below(1000);
    accounting.open = below(10);
    accounting.begun = accounting.ended + accounting.open;
    using why = adaptyst::loss_reason;
    for (const why reason : {why::too_deep, why::rows_full, why::unmatched}) {
      if (below(2) == 0) continue;
      accounting.lost[reason] = below(20);
      accounting.begun += accounting.lost[reason];
    }
    accounting.unmatched = below(5);
    accounting.unnamed = below(5);
    accounting.overhead_ns = maybe_number();
  }

  std::mt19937_64 random_;
};

inline const std::vector<std::string>& nasty_names() {
  static const std::vector<std::string> all{
      "",
      std::string(127, 'x'),
      std::string(5000, 'y'),
      "tab\tnewline\nreturn\rescape\x1b[31mred\x7f",
      std::string("nul\0inside", 10),
      "\xff\xfe not \xc3\x28 UTF-8 \x80\x80\x80",
      std::string(127, '\x80'),
      std::string(127, '\xff'),
      std::string(126, 'z') + "\xc3",  // a character cut in two by the bound on names
      "na\xc3\xafve caf\xc3\xa9 \xe2\x80\x94 \xf0\x9f\x98\x80",
      "C1 control \xc2\x9b"
      "31m",
      "quotes \" \\ / </script> {} %s %n",
      [] {
        std::string many;
        for (int i = 0; i != 63; ++i) many += "\xc3\xa9";
        return many;
      }()};
  return all;
}

// Everything at once: such names everywhere a text may stand, huge numbers, absent ones, and deep nesting.
inline adaptyst::profile nasty_profile() {
  adaptyst::profile made;
  made.engine = "inline";
  made.mechanism = "own recorder, CLOCK_MONOTONIC";
  made.reason = "cannot load the eBPF programs: Operation not permitted (EPERM)";
  made.processes.push_back(
      {4194304, "/a/" + std::string(300, 'p') + "\xff", "host", 1, {{std::vector<std::string>{"a\x1b", "b"}, 2, 3}}});
  made.devices.resize(3);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[0].name = nasty_names()[2];
  made.devices[0].observed_ns = 1;
  made.devices[1].kind = adaptyst::device_kind::accelerator;
  made.devices[1].index = 4294967295U;
  made.devices[1].name = nasty_names()[5];
  made.devices[1].observed_ns = ~std::uint64_t{0};
  made.devices[1].busy_ns = made.devices[1].kernel_ns = made.devices[1].copy_ns = ~std::uint64_t{0};
  made.devices[1].exposed_copy_ns = made.devices[1].launch_idle_ns = made.devices[1].host_waiting_ns =
      ~std::uint64_t{0};
  made.devices[1].work_ns = made.devices[1].operations = ~std::uint64_t{0};
  made.devices[1].queues = 4294967295U;
  made.devices[1].queue_wait = {~std::uint64_t{0}, {}};
  made.devices[1].to_device = {1e308, 1};
  made.devices[1].clock = {adaptyst::clock_id::device, 4294967295U, -9223372036854775807LL - 1, 1e300,
                           ~std::uint64_t{0}};
  made.offload = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
  made.devices[1].late = made.devices[1].skipped = ~std::uint64_t{0};
  made.devices[2].kind = adaptyst::device_kind::other;
  made.devices[2].name = nasty_names()[3];

  std::uint64_t id = 0;
  const auto add = [&](std::vector<std::string> path, std::uint32_t device, std::uint64_t count,
                       std::uint64_t each_ns) {
    adaptyst::region row;
    row.path = std::move(path);
    row.id = ++id;
    row.site = {nasty_names()[5], 4294967295U, nasty_names()[2]};
    row.kind = adaptyst::region_kind::region;
    row.device = device;
    row.threads = 4294967295U;
    row.count = count;
    row.total_ns = count > 1 && each_ns > ~std::uint64_t{0} / count ? ~std::uint64_t{0} : count * each_ns;
    row.self_ns = row.total_ns;
    row.min_ns = row.max_ns = each_ns;
    row.durations.add(each_ns, count);
    row.overhead_ns = 1e300;
    made.regions.push_back(row);
    return &made.regions.back();
  };
  for (const std::string& name : nasty_names()) {
    add({name}, 0, 1, 1);
    adaptyst::region& row = *add({name, name}, 1, ~std::uint64_t{0}, ~std::uint64_t{0});
    for (const std::string& attribute : nasty_names()) row.attributes[attribute] = {1, 1e308, -1e308, 1e308};
    row.attributes["bytes"] = {1, 1e300, 0, 1e300};
    row.attributes["flops"] = {1, __builtin_nan(""), __builtin_huge_val(), -__builtin_huge_val()};
    add({"open " + name, name, "leaf"}, 7, 10000000, 3600000000000);  // both above are still open; no such device
  }
  std::vector<std::string> deep;
  for (int depth = 0; depth != 300; ++depth) {
    deep.push_back("level " + std::to_string(depth));
    if (depth % 2 == 0) add(deep, 0, 3, 1000);
  }
  adaptyst::region mark;
  mark.path = {"mark"};
  mark.kind = adaptyst::region_kind::instant_event;
  mark.count = 5;
  made.regions.push_back(mark);

  made.accounting.begun = made.accounting.ended = made.accounting.open = ~std::uint64_t{0};
  using why = adaptyst::loss_reason;
  for (const why reason : {why::too_deep, why::rows_full, why::tables_full, why::no_memory, why::in_signal,
                           why::bad_times, why::unmatched, why::kernel_rows_full, why::not_delivered})
    made.accounting.lost[reason] = ~std::uint64_t{0};
  made.accounting.unmatched = made.accounting.unnamed = ~std::uint64_t{0};
  made.accounting.overhead_ns = 1e30;
  made.accounting.unread = {~std::uint64_t{0}, ~std::uint64_t{0}};
  made.accounting.refused = {~std::uint64_t{0}, "no"};
  made.budget = {1e308, 1, 1e300};
  made.timer_floor_ns = made.sampled_floor_ns = made.sampled_floor_error_ns = 1e300;
  made.functions = {{"", 0}, {"a\n\x1b[31m", ~std::uint64_t{0}}};
  made.processes[0].thread_list = {{-1, nasty_names()[1], ~std::uint64_t{0}, ~std::uint64_t{0}, 1, 4294967295U}};
  made.processes[0].resident = {{0, 0}, {~std::uint64_t{0}, ~std::uint64_t{0}}};
  return made;
}

}  // namespace samples

#endif
