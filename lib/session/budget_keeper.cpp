#include "budget_keeper.hpp"

#include <adaptyst/region.hpp>

#include <algorithm>

#include "../profile/measured.hpp"
#include "../support/stopwatch.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t before_first_look_ns = 20'000'000;
constexpr std::uint64_t between_looks_ns = 100'000'000;

// Markers of this ELF object.
class awake {
 public:
  explicit awake(std::uint16_t& semaphore) : semaphore_(semaphore) { detail::fetch_add(semaphore_, 1); }
  ~awake() { detail::fetch_add(semaphore_, -1); }
  awake(const awake&) = delete;
  awake& operator=(const awake&) = delete;

 private:
  std::uint16_t& semaphore_;
};

}  // namespace

// What a region that holds nothing lasts, from one timestamp to the other; 0 where it cannot be recorded.
double measure_timer_floor() {
  const awake now(adaptyst_object_v3.recorder);
  ADAPTYST_DETAIL_SITE(marker, ADAPTYST_SITE_REGION, __func__, "adaptyst calibration");
  for (int times = 0; times != 1000; ++times) {
    const detail::scope<> region(detail::begin_named(marker, 0U));
  }
  const detail::recorder* const own = detail::this_thread_recorder;
  if (reinterpret_cast<std::uintptr_t>(own) <= 1 || own->depth == detail::most_depth) return 0;
  const detail::row* const last = own->frames[own->depth + 1].where;
  if (last == nullptr || marker.record == nullptr || last->site != marker.record) return 0;  // there was no room for it
  histogram durations;
  for (unsigned bucket = 0; bucket != ADAPTYST_HISTOGRAM_BUCKETS; ++bucket)
    durations.add_bucket(bucket, detail::load(last->histogram[bucket]));
  return static_cast<double>(durations.quantile(0.5).value_or(0));
}

event_costs measure_event_costs(bool in_kernel) {
  const awake now(in_kernel ? adaptyst_object_v3.event : adaptyst_object_v3.recorder);
  event_costs costs;
  costs.floor_ns = measure_timer_floor();
  costs.engine_ns = median_step_ns(200, [] { ADAPTYST_REGION("adaptyst calibration"); });
  ADAPTYST_DETAIL_SITE(marker, ADAPTYST_SITE_REGION, __func__, "adaptyst calibration");
  const auto one = [] {
    const detail::scope<> region(detail::is_left_out(marker) ? 0 : detail::begin_named(marker, 0U));
  };
  one();
  const adaptyst_site* const record = marker.record;
  // Settings of somebody who observes us are not ours to write.
  if (record == nullptr || detail::load(detail::process_of(adaptyst_object_v3)->store->head.settings_of) != 0)
    return costs;
  auto& step = const_cast<std::uint64_t&>(*record->step);
  detail::store(step, std::uint64_t{ADAPTYST_STEP_RECORDER});
  costs.recorder_ns = median_step_ns(200, one);
  detail::store(step, std::uint64_t{ADAPTYST_STEP_LAST});
  costs.left_out_ns = median_step_ns(2000, one);
  detail::store(step, std::uint64_t{ADAPTYST_STEP_ENGINE});
  return costs;
}

budget_step step_of(std::uint32_t number, bool in_kernel) {
  if (number == ADAPTYST_STEP_ENGINE) return {in_kernel, 1};
  return {false, std::uint64_t{1} << (number - ADAPTYST_STEP_RECORDER)};
}

std::uint32_t budget_keeper::highest_step(const site_count& of) const {
  const bool in_scope =
      of.kind == ADAPTYST_SITE_REGION || of.kind == ADAPTYST_SITE_OFFLOAD || of.kind == ADAPTYST_SITE_WAIT;
  // Without a trap nothing is gained on the recorder's step.
  const std::uint32_t all_recorded = in_scope && rules_.in_kernel ? ADAPTYST_STEP_RECORDER : ADAPTYST_STEP_ENGINE;
  // What is nested in an event that is left out would belong to the region around it; waits are parts of a union.
  const bool may_be_left_out = of.kind == ADAPTYST_SITE_REGION && !of.has_nested && !rules_.every_event;
  return may_be_left_out ? std::uint32_t{ADAPTYST_STEP_LAST} : all_recorded;
}

bool budget_keeper::is_in_kernel(const site_count& of) const {
  const auto moved = stays_.find(of.id);
  return rules_.in_kernel && !is_instant(of.kind) &&
         (moved == stays_.end() || moved->second.step == ADAPTYST_STEP_ENGINE);
}

bool budget_keeper::look(const process_state& of, std::uint64_t now_ns, std::uint64_t cpu_ns) {
  if (first_look_ns_ == 0) {
    first_look_ns_ = now_ns;
    next_look_ns_ = now_ns + before_first_look_ns;
  }
  if (now_ns < next_look_ns_) return false;
  next_look_ns_ = now_ns + between_looks_ns;
  counts_.update(of);
  std::vector<marker_load> loads;
  loads.reserve(counts_.all().size());
  for (const auto& [address, site] : counts_.all()) {
    if (site.step != ADAPTYST_STEP_ENGINE) stays_.try_emplace(site.id, stay{first_look_ns_, site.step, {}});
    loads.push_back({address, site.events, highest_step(site), site.step});
    std::uint64_t& seen = seen_[address];
    if (!is_in_kernel(site)) in_process_ += site.events - std::min(site.events, seen);
    seen = site.events;
  }
  for (const step_change& change : budget_.decide(now_ns, cpu_ns, loads)) {
    if (!set_step(of, counts_.all().at(change.marker), change.step)) continue;
    stay& known = stays_[counts_.all().at(change.marker).id];
    if (known.since_ns != 0) known.before_ns[known.step] += now_ns - known.since_ns;
    known.since_ns = now_ns;
    known.step = change.step;
  }
  return true;
}

void budget_keeper::release(const process_state& of) {
  for (const auto& [address, site] : counts_.all())
    if (stays_.find(site.id) != stays_.end()) set_step(of, site, ADAPTYST_STEP_ENGINE);
}

std::map<budget_step, std::uint64_t> budget_keeper::times_of(std::uint64_t site, std::uint64_t now_ns,
                                                             std::uint64_t elapsed_ns) const {
  std::map<budget_step, std::uint64_t> times;
  std::uint64_t elsewhere_ns = 0;
  const auto add = [&](std::uint32_t step, std::uint64_t time_ns) {
    times[step_of(step, rules_.in_kernel)] += time_ns;
    elsewhere_ns += time_ns;
  };
  if (const auto found = stays_.find(site); found != stays_.end()) {
    for (const auto& [step, time_ns] : found->second.before_ns) add(step, time_ns);
    add(found->second.step, now_ns - std::min(now_ns, found->second.since_ns));
  }
  const std::uint64_t at_first_ns = elapsed_ns - std::min(elapsed_ns, elsewhere_ns);
  if (at_first_ns != 0) times[step_of(ADAPTYST_STEP_ENGINE, rules_.in_kernel)] += at_first_ns;
  return times;
}

}  // namespace adaptyst::lib
