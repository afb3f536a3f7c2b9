// Keeps the budget of one process: measures the cost of an event once, reads the counts of markers, gets steps from
// overhead_budget, and writes them into the process.
#include "budget_keeper.hpp"

#include <adaptyst/region.hpp>

#include <adaptyst/adapter/callback_region.hpp>
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "../model/measurements.hpp"
#include "../support/stopwatch.hpp"

namespace adaptyst::lib {

namespace {

// The first refreshes come early: all earlier events are recorded, and a program may run for only one second.
constexpr std::uint64_t before_first_poll_ns = 5'000'000;
constexpr std::uint64_t between_polls_ns = 100'000'000;

// Keeps the markers of this ELF object enabled.
class enabled_markers {
 public:
  explicit enabled_markers(std::uint16_t& semaphore) : semaphore_(semaphore) { detail::fetch_add(semaphore_, 1); }
  ~enabled_markers() { detail::fetch_add(semaphore_, -1); }
  enabled_markers(const enabled_markers&) = delete;
  enabled_markers& operator=(const enabled_markers&) = delete;

 private:
  std::uint16_t& semaphore_;
};

}  // namespace

// Duration of an empty region from one timestamp to the other; 0 if it cannot be recorded.
double measure_timer_floor() {
  const enabled_markers now(adaptyst_object_v5.recorder);
  ADAPTYST_DETAIL_SITE(marker, ADAPTYST_SITE_REGION, __func__, "adaptyst calibration");
  for (int times = 0; times != 1000; ++times) {
    const detail::scope<> region(detail::begin_named(marker));
  }
  const detail::recorder* const own = detail::this_thread_recorder;
  if (reinterpret_cast<std::uintptr_t>(own) <= 1 || own->depth == detail::max_depth) return 0;
  const detail::row* const last = own->frames[own->depth + 1].where;
  if (last == nullptr || marker.record == nullptr || last->site != marker.record) return 0;  // no memory for the row
  histogram durations;
  for (unsigned bucket = last->first_bucket; bucket != last->first_bucket + unsigned{last->buckets}; ++bucket)
    durations.add_bucket(bucket, detail::load(last->histogram[bucket]) + (bucket == last->last_bucket ? 1 : 0));
  return static_cast<double>(durations.quantile(0.5).value_or(0));
}

namespace {

constexpr unsigned calibrated_weight_log = 5;

struct timed_event {
  double ns = 0, error_ns = 0;
};

// Measures the duration of a recorded event under event sampling, from one timestamp to the other. As in a program, only one of
// several events is recorded. `run_event` runs one event of the marker.
template <class Event>
std::optional<timed_event> time_sampled_event(const adaptyst_site& record, Event&& run_event) {
  constexpr std::size_t parts = 8;
  constexpr int samples = 64;
  constexpr int outer = samples / 4;  // ignored at either end
  const detail::recorder* const own = detail::this_thread_recorder;
  if (reinterpret_cast<std::uintptr_t>(own) <= 1 || own->depth == detail::max_depth) return std::nullopt;
  const detail::row* const where = own->frames[own->depth + 1].where;
  if (where == nullptr || where->site != &record) return std::nullopt;
  std::array<double, parts> means{};
  std::array<double, samples> durations{};
  for (double& mean : means) {
    int taken = 0;
    for (unsigned tries = 0; taken != samples && tries != 100'000; ++tries) {
      const std::uint64_t count = where->count;
      const std::uint64_t total_ns = where->total_ns;
      run_event();
      if (where->count == count) continue;
      durations[static_cast<std::size_t>(taken++)] =
          static_cast<double>(where->total_ns - total_ns) / static_cast<double>(where->count - count);
    }
    if (taken != samples) return std::nullopt;
    // Without a few longest ones, which were interrupted, and as many shortest ones.
    std::sort(durations.begin(), durations.end());
    mean = std::accumulate(durations.begin() + outer, durations.end() - outer, 0.0) / double{samples - 2 * outer};
  }
  std::sort(means.begin(), means.end());
  return timed_event{(means[parts / 2 - 1] + means[parts / 2]) / 2, (means[parts - 2] - means[1]) / 2};
}

// Work of which each operation waits for the one before: around it, a processor has room for other instructions.
void run_chain() {
  static thread_local std::uint64_t value = 1;
  std::uint64_t now = value;
  for (int turn = 0; turn != 4; ++turn) {
#pragma GCC unroll 32
    for (int at = 0; at != 32; ++at) {
      now *= 3;
      __asm__ volatile("" : "+r"(now));
    }
  }
  value = now;
}

// The time that an event adds to a program is between that of an empty one and that of one around work, which the processor
// overlaps with it.
template <class Run>
double measure_event(Run&& run_around) {
  const double alone_ns = median_step_ns(200, [&] { run_around([] {}); });
  const double around_ns = median_step_ns(200, [&] { run_around(run_chain); }) - median_step_ns(200, run_chain);
  return (alone_ns + std::clamp(around_ns, 0.0, alone_ns)) / 2;
}

// The measured duration of an event exceeds the true one by parts of the marker. An empty event contains all of them. In others,
// the processor overlaps them with the work of the program, which hides more or fewer of them.
template <class Run>
void measure_sampled_floor(const adaptyst_site& record, Run&& run_around, event_costs& costs) {
  const auto empty = time_sampled_event(record, [&] { run_around([] {}); });
  const auto around_chain = time_sampled_event(record, [&] { run_around(run_chain); });
  if (!empty || !around_chain) return;
  const double most = empty->ns;
  const double least = std::clamp(around_chain->ns - median_step_ns(200, run_chain), 0.0, most);
  costs.sampled_floor_ns = (least + most) / 2;
  // In a program the duration also depends on the code around the marker, by a quarter or more.
  costs.sampled_floor_error_ns =
      std::max({(most - least) / 2, empty->error_ns, around_chain->error_ns, costs.sampled_floor_ns / 4});
}

}  // namespace

event_costs measure_event_costs(bool is_in_kernel) {
  const enabled_markers now(is_in_kernel ? adaptyst_object_v5.event : adaptyst_object_v5.recorder);
  event_costs costs;
  costs.floor_ns = measure_timer_floor();
  costs.engine_ns = measure_event([](auto&& work) {
    ADAPTYST_REGION("adaptyst calibration");
    work();
  });
  ADAPTYST_DETAIL_SITE(marker, ADAPTYST_SITE_REGION, __func__, "adaptyst calibration");
  const auto run_around = [](auto&& work) {
    std::uint64_t token = detail::leave_out(marker);
    if (token == detail::undecided) token = detail::begin_named(marker);
    const detail::scope<> region(token);
    work();
  };
  const auto run_event = [&] { run_around([] {}); };
  run_event();
  const adaptyst_site* const record = marker.record;
  detail::process* const self = detail::get_process(adaptyst_object_v5);
  // The settings of an observer of this process must not be written here.
  if (record == nullptr || detail::load(self->store->head.settings_owner) != 0) return costs;
  detail::store(self->settings.sampled_floor, 0);
  auto& step = const_cast<std::uint64_t&>(*record->step);
  detail::store(step, std::uint64_t{ADAPTYST_STEP_RECORDER});
  costs.recorder_ns = measure_event(run_around);
  detail::store(step, std::uint64_t{ADAPTYST_STEP_SUBTREE});  // the last step without nested events
  costs.left_out_ns = median_step_ns(2000, run_event);
  detail::store(step, std::uint64_t{ADAPTYST_STEP_LAST});
  costs.left_out_around_ns = median_step_ns(2000, run_event);
  detail::store(step, std::uint64_t{ADAPTYST_STEP_RECORDER} + calibrated_weight_log);
  measure_sampled_floor(*record, run_around, costs);
  costs.sampled_ns = std::max(costs.recorder_ns, (median_step_ns(20'000, run_event) - costs.left_out_ns) *
                                                     static_cast<double>(1U << calibrated_weight_log));
  detail::store(step, std::uint64_t{ADAPTYST_STEP_ENGINE});
  costs.callback_ns = std::max(0.0, measure_event([](auto&& work) {
                                      auto called = callback_region::begin("adaptyst calibration");
                                      work();
                                      called.end();
                                    }) - costs.engine_ns);
  return costs;
}

budget_step to_step(std::uint32_t number, bool is_in_kernel) {
  if (number == ADAPTYST_STEP_ENGINE) return {is_in_kernel, 1};
  return {false, std::uint64_t{1} << detail::weight_log2(number)};
}

allowed_sampling budget_keeper::allowed(const site_count& marker) const {
  // Waits are parts of a union, so each one is necessary.
  const bool may_be_left_out = marker.kind == ADAPTYST_SITE_REGION && !marker.holds_others;
  if (may_be_left_out) return marker.has_nested ? allowed_sampling::with_subtree : allowed_sampling::single;
  if (marker.kind == ADAPTYST_SITE_CALLBACK && !marker.has_nested) return allowed_sampling::single;
  // Without a trap, the recorder's step saves nothing.
  return is_scope(marker.kind) && rules_.is_in_kernel ? allowed_sampling::recorder : allowed_sampling::none;
}

bool budget_keeper::is_in_kernel(const site_count& marker) const {
  const auto moved = stays_.find(marker.id);
  return rules_.is_in_kernel && !is_instant(marker.kind) &&
         (moved == stays_.end() || moved->second.step == ADAPTYST_STEP_ENGINE);
}

bool budget_keeper::poll(const process_state& state, const budget_input& at) {
  const std::uint64_t now_ns = at.now_ns;
  if (first_poll_ns_ == 0) {
    first_poll_ns_ = now_ns;
    next_poll_ns_ = now_ns + before_first_poll_ns;
    set_sampled_floor(state, rules_.costs.sampled_floor_ns);
  }
  if (now_ns < next_poll_ns_) return false;
  // The time between refreshes grows to a quarter of the run so far. A new phase of the program therefore exceeds the
  // budget for at most a quarter of the run.
  next_poll_ns_ = now_ns + std::clamp((now_ns - first_poll_ns_) / 4, before_first_poll_ns, between_polls_ns);
  counts_.poll(state);
  std::vector<marker_load> loads;
  loads.reserve(counts_.all().size());
  for (const auto& [address, site] : counts_.all()) {
    if (site.step != ADAPTYST_STEP_ENGINE) stays_.try_emplace(site.id, stay{first_poll_ns_, site.step, {}});
    const double extra_ns = site.kind == ADAPTYST_SITE_CALLBACK ? rules_.costs.callback_ns : 0;
    loads.push_back({address, site.events, allowed(site), site.step, &site.inside, extra_ns});
    std::uint64_t& seen = seen_[address];
    if (!is_in_kernel(site)) in_process_ += site.events - std::min(site.events, seen);
    seen = site.events;
  }
  for (const step_change& change : budget_.decide(at, loads)) {
    if (!set_step(state, counts_.all().at(change.marker), change.step)) continue;
    stay& kept = stays_[counts_.all().at(change.marker).id];
    if (kept.since_ns != 0) kept.before_ns[kept.step] += now_ns - kept.since_ns;
    kept.since_ns = now_ns;
    kept.step = change.step;
  }
  return true;
}

void budget_keeper::release(const process_state& state) {
  for (const auto& [address, site] : counts_.all())
    if (stays_.find(site.id) != stays_.end()) set_step(state, site, ADAPTYST_STEP_ENGINE);
}

std::map<budget_step, std::uint64_t> budget_keeper::find_times(std::uint64_t site, std::uint64_t now_ns,
                                                               std::uint64_t elapsed_ns) const {
  std::map<budget_step, std::uint64_t> times;
  std::uint64_t elsewhere_ns = 0;
  const auto add = [&](std::uint32_t step, std::uint64_t time_ns) {
    times[to_step(step, rules_.is_in_kernel)] += time_ns;
    elsewhere_ns += time_ns;
  };
  if (const auto found = stays_.find(site); found != stays_.end()) {
    for (const auto& [step, time_ns] : found->second.before_ns) add(step, time_ns);
    add(found->second.step, now_ns - std::min(now_ns, found->second.since_ns));
  }
  const std::uint64_t at_first_ns = elapsed_ns - std::min(elapsed_ns, elsewhere_ns);
  if (at_first_ns != 0) times[to_step(ADAPTYST_STEP_ENGINE, rules_.is_in_kernel)] += at_first_ns;
  return times;
}

}  // namespace adaptyst::lib
