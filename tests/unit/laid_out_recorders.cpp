// What is read from recorders: open regions, counts of markers, timelines. These are laid out by hand; no marker runs.
#include <adaptyst/detail/recorder.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "kernel/recorder_layout.hpp"
#include "recorder/open_regions.hpp"
#include "recorder/recorder_reader.hpp"
#include "recorder/region_journal.hpp"
#include "recorder/site_counts.hpp"
#include "recorder/trace_reader.hpp"

namespace {

namespace detail = adaptyst::detail;
using adaptyst::loss_reason;
using adaptyst::lib::traced_as;
using adaptyst::lib::traced_event;

template <class T>
std::uint64_t as_address(const T& there) {
  return reinterpret_cast<std::uint64_t>(&there);
}

// Two threads; main > (solve, wait). Epoch 3 runs.
struct program {
  adaptyst_site sites[3]{};
  std::uint64_t steps[3]{};
  adaptyst_path paths[3]{};
  detail::store_head head{};
  std::vector<std::unique_ptr<detail::recorder>> threads;
  detail::row_chunk rows[2]{};
  std::uint64_t histogram[ADAPTYST_HISTOGRAM_BUCKETS]{};

  program() {
    const char* const names[] = {"main", "solve", "wait"};
    for (std::uint32_t at = 0; at != 3; ++at) {
      sites[at].id = 10 + at;
      sites[at].name = names[at];
      sites[at].name_bytes = static_cast<std::uint32_t>(std::strlen(names[at]));
      sites[at].file = sites[at].function = sites[at].label = "";
      sites[at].step = &steps[at];
      sites[at].kind = at == 2 ? ADAPTYST_SITE_WAIT : ADAPTYST_SITE_REGION;
      paths[at] = {20 + at, at == 0 ? nullptr : &paths[0], &sites[at], 0, at == 0 ? 0U : 1U};
    }
    head.layout = detail::state_layout;
    head.epoch = 3;
    for (const std::uint64_t epoch : {3U, 3U}) {
      threads.push_back(std::make_unique<detail::recorder>());
      threads.back()->epoch = epoch;
      threads.back()->next = head.recorders;
      head.recorders = threads.back().get();
    }
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  adaptyst::lib::process_state state() const { return {&adaptyst::lib::own_memory(), as_address(head), {}}; }

  void open(detail::recorder& on, const adaptyst_path& path) { on.frames[++on.depth].path = &path; }
  detail::row& ran(std::size_t path, std::uint64_t times, std::size_t thread = 0) {
    detail::recorder& on = *threads[thread];
    detail::row& row = rows[thread].rows[on.rows_used++];
    row.id = paths[path].id;
    row.path = &paths[path];
    row.site = paths[path].site;
    row.count = times;
    row.histogram = histogram;
    row.buckets = ADAPTYST_HISTOGRAM_BUCKETS;
    on.chunks[0] = &rows[thread];
    return row;
  }
};

}  // namespace

TEST_CASE("the regions that are open, on all threads, but for those of an earlier collector") {
  program in;
  in.ran(0, 0, 0).open_since = 5;
  in.ran(1, 3, 0).open_since = 7;
  detail::row& main = in.ran(0, 0, 1);
  main.open_since = 5;
  in.ran(2, 0, 1).open_since = 6;
  CHECK(adaptyst::lib::read_open_regions(in.state()) == adaptyst::lib::open_region_counts{{20, 2}, {21, 1}, {22, 1}});
  main.open_since = 0;  // it was in main before
  CHECK(adaptyst::lib::read_open_regions(in.state()) == adaptyst::lib::open_region_counts{{20, 1}, {21, 1}, {22, 1}});
  in.threads[0]->epoch = 2;
  CHECK(adaptyst::lib::read_open_regions(in.state()) == adaptyst::lib::open_region_counts{{22, 1}});
  in.threads[1]->epoch = 2;
  CHECK(adaptyst::lib::read_open_regions(in.state()).empty());
}

TEST_CASE("the region of an earlier time may be open still") {
  program in;
  in.threads[0]->thread = 7;
  in.threads[1]->thread = 8;
  in.ran(0, 0, 0).open_since = 1000;
  in.ran(1, 9, 0).open_since = 1500;
  in.ran(2, 3, 0);  // over
  in.ran(0, 0, 1).open_since = 900;
  const auto find = [&](std::uint64_t time_ns) {
    adaptyst::lib::trace_reader reader(in.state());
    adaptyst::lib::region_journal journal;
    journal.begin(reader, in.state(), {7});
    journal.end(reader, reader.read([&](const traced_event& event) { journal.add(event); }));
    return journal.find(7, time_ns);
  };
  CHECK(find(999) == std::optional<std::uint64_t>(0));
  CHECK(find(1000) == std::optional<std::uint64_t>(20));
  CHECK(find(1499) == std::optional<std::uint64_t>(20));
  CHECK(find(1500) == std::optional<std::uint64_t>(21));
  in.head.clock = {std::uint64_t{1} << 31, 1000, 5000};  // two ticks a nanosecond
  CHECK(find(5249) == std::optional<std::uint64_t>(20));
  CHECK(find(5250) == std::optional<std::uint64_t>(21));
  in.threads[0]->epoch = 2;
  CHECK(find(6000) == std::optional<std::uint64_t>(0));
}

TEST_CASE("the innermost regions in which the threads of a program were when it ended") {
  program in;
  in.ran(0, 0, 0).open_since = 1000;  // main
  in.ran(1, 9, 0).open_since = 1500;  // solve
  in.ran(2, 4, 0);                    // wait, over
  in.ran(0, 0, 1).open_since = 1100;
  in.ran(1, 7, 1).open_since = 1400;
  const auto found = [&] {
    std::vector<std::vector<std::uint64_t>> all;
    for (const adaptyst::lib::last_open_region& region : adaptyst::lib::read_last_regions(in.state()))
      all.push_back({region.path, region.threads, region.since_ns});
    return all;
  };
  using list = std::vector<std::vector<std::uint64_t>>;
  CHECK(found() == list{{21, 2, 1400}});
  std::swap(in.rows[0].rows[1].open_since, in.rows[1].rows[1].open_since);
  CHECK(found() == list{{21, 2, 1400}});
  std::swap(in.rows[0].rows[1].open_since, in.rows[1].rows[1].open_since);
  in.threads[1]->epoch = 2;  // it has not met this collector
  CHECK(found() == list{{21, 1, 1500}});
  in.threads[1]->epoch = 3;
  in.rows[1].rows[1].open_since = 0;
  CHECK(found() == list{{20, 1, 1100}, {21, 1, 1500}});
  in.head.clock = {std::uint64_t{1} << 31, 1000, 5000};  // two ticks a nanosecond
  CHECK(found() == list{{20, 1, 5050}, {21, 1, 5250}});
  in.head.layout ^= 1;
  CHECK(found().empty());
}

TEST_CASE("markers and how often they ran; one with others inside its own says so") {
  program in;
  in.steps[1] = 5;
  in.ran(0, 1);
  in.ran(1, 100);
  in.ran(1, 11);  // the same path, on another device
  in.ran(2, 7);
  adaptyst::lib::site_counts counts;
  for (int turn = 0; turn != 2; ++turn) {
    counts.poll(in.state());
    REQUIRE(counts.all().size() == 3);
    const adaptyst::lib::site_count& solve = counts.all().at(as_address(in.sites[1]));
    CHECK(solve.id == 11);
    CHECK(solve.events == 111);
    CHECK(solve.step == 5);
    CHECK(solve.step_at == as_address(in.steps[1]));
    CHECK_FALSE(solve.has_nested);
    CHECK_FALSE(solve.holds_others);
    CHECK(counts.all().at(as_address(in.sites[2])).kind == ADAPTYST_SITE_WAIT);
    const adaptyst::lib::site_count& main = counts.all().at(as_address(in.sites[0]));
    CHECK(main.events == 1);
    CHECK(main.has_nested);
    CHECK(main.holds_others);  // a wait
  }
  in.threads[0]->epoch = 2;  // of an earlier collector
  counts.poll(in.state());
  CHECK(counts.all().at(as_address(in.sites[1])).events == 0);
}

TEST_CASE("a row without a path is refused, and counted where events are") {
  program in;
  in.ran(1, 100);
  in.ran(2, 7).path = nullptr;
  detail::row& blank = in.ran(0, 1);
  blank = {};
  adaptyst::lib::site_counts counts;
  counts.poll(in.state());
  CHECK(counts.all().at(as_address(in.sites[1])).events == 100);
  CHECK(counts.all().count(as_address(in.sites[2])) == 0);
  const adaptyst::lib::measurements found = adaptyst::lib::read_recorders(in.state());
  CHECK(found.rows.size() == 1);
  CHECK(found.accounting.lost == adaptyst::losses{{loss_reason::not_read, 2}});
  CHECK(found.accounting.begun == 2);
  blank.open_since = 5;
  CHECK(adaptyst::lib::read_last_regions(in.state()).size() == 1);
}

TEST_CASE("a marker is put on a step, and nothing else is written") {
  program in;
  in.steps[2] = ADAPTYST_STEP_LAST + 1;  // of one that lies
  for (std::size_t path = 0; path != 3; ++path) in.ran(path, 1);
  adaptyst::lib::site_counts counts;
  counts.poll(in.state());
  CHECK(counts.all().at(as_address(in.sites[2])).step == ADAPTYST_STEP_ENGINE);
  REQUIRE(adaptyst::lib::set_step(in.state(), counts.all().at(as_address(in.sites[1])), 7));
  CHECK(in.steps[0] == 0);
  CHECK(in.steps[1] == 7);
  CHECK(in.steps[2] == ADAPTYST_STEP_LAST + 1);
}

TEST_CASE("what an earlier collector has set is over") {
  program in;
  const auto settings = std::make_unique<detail::observer_settings>();
  settings->steps[3] = 4;
  settings->steps[detail::max_sites - 1] = detail::unclaimed_step;
  settings->tails[0] = 9;
  in.head.settings = settings.get();
  in.head.numbered = detail::max_sites;
  adaptyst::lib::reset_steps(in.state());
  CHECK(settings->steps[3] == 0);
  CHECK(settings->steps[detail::max_sites - 1] == 0);
  CHECK(settings->tails[0] == 9);
}

TEST_CASE("an account: what began, ended, is open, and was lost for which reason") {
  program in;
  detail::recorder& recorder = *in.threads[0];
  recorder.first_serial = 100;
  recorder.serial = 112;
  recorder.begun = 5;
  recorder.ended = 13;
  recorder.orphans = 3;
  recorder.in_signal = 6;
  recorder.in_signal_epoch = 3;
  recorder.lost[static_cast<unsigned>(detail::loss::rows_full)] = 4;
  recorder.lost[static_cast<unsigned>(detail::loss::unmatched)] = 1;
  in.threads[1]->in_signal = 99;
  in.threads[1]->in_signal_epoch = 2;  // for an earlier collector
  const adaptyst::account found = adaptyst::lib::read_recorders(in.state()).accounting;
  CHECK(found.begun == 12 + 5 + 4 + 6);
  CHECK(found.ended == 13);
  CHECK(found.open == 12 + 5 - 13 - 1);
  CHECK(found.unmatched == 3 + 1);
  CHECK(found.lost ==
        adaptyst::losses{{loss_reason::rows_full, 4}, {loss_reason::unmatched, 1}, {loss_reason::in_signal, 6}});
}

TEST_CASE("threads count that have recorded something for this collector") {
  program in;
  CHECK(adaptyst::lib::read_recorders(in.state()).accounting.begun == 0);
  adaptyst::lib::recorder_reader reader;
  const auto threads = [&] {
    reader.poll(in.state());
    return reader.threads();
  };
  CHECK_FALSE(reader.threads().has_value());
  CHECK(threads() == 0U);
  in.threads[0]->begun = in.threads[0]->ended = 5;
  CHECK(threads() == 1U);
  in.threads[1]->begun = in.threads[1]->ended = 1;
  CHECK(threads() == 2U);
}

TEST_CASE("a handle that ends on a thread whose recorder was read before it began elsewhere is no open region") {
  program in;
  in.threads[0]->ended = 1;
  const adaptyst::account found = adaptyst::lib::read_recorders(in.state()).accounting;
  CHECK(found.open == 0);
  CHECK(found.begun == 1);
}

TEST_CASE("of a row: what is nested is not its own time, and more than it has is kept for later") {
  program in;
  in.ran(1, 3);
  detail::row& row = in.rows[0].rows[0];
  row.total_ns = 100;
  row.nested_ns = 30;
  row.min_ns = 20;
  row.max_ns = 50;
  row.threads = 2;
  row.left_out = 1;
  in.histogram[33] = 2;
  row.last_bucket = 34;
  detail::attribute_sum sums[] = {{5, 1, 4}, {0, __builtin_huge_val(), -__builtin_huge_val()}};
  row.attributes = sums;
  row.attribute_count = 2;
  const char* const names[] = {"cells", "flops"};
  std::copy(std::begin(names), std::end(names), in.sites[1].attributes);
  in.sites[1].attribute_count = 2;
  adaptyst::lib::recorder_reader reader;
  reader.poll(in.state());
  const adaptyst::lib::measured_row* found = &reader.result().rows.at(21);
  CHECK(found->count == 3);
  CHECK(found->total_ns == 100);
  CHECK(found->self_ns == 70);
  CHECK(found->excess_ns == 0);
  CHECK(found->min_ns == 20);
  CHECK(found->max_ns == 50);
  CHECK(found->threads == 2);
  CHECK(found->left_out == 1);
  CHECK(found->durations.count() == 3);
  CHECK(found->durations.buckets().at(34) == 1);
  REQUIRE(found->attributes.size() == 1);
  CHECK(found->attributes[0].sum == 5);
  CHECK(found->attributes[0].count == 3);
  CHECK(reader.result().paths.at(21).parent == 20);
  CHECK(reader.result().sites.at(11).name == "solve");
  row.count = 4;
  row.nested_ns = 130;
  reader.poll(in.state());
  found = &reader.result().rows.at(21);
  CHECK(found->count == 4);
  CHECK(found->self_ns == 0);
  CHECK(found->excess_ns == 30);
}

TEST_CASE("each thread's own time is known, but where several have had one recorder, or nothing was timed") {
  program in;
  for (const std::size_t thread : {0U, 1U}) {
    detail::row& row = in.ran(1, 3, thread);
    row.total_ns = thread == 0 ? 100 : 500;
    row.nested_ns = 30;
    row.threads = 1;
    row.min_ns = row.max_ns = 33;
  }
  const adaptyst::lib::measured_row found = adaptyst::lib::read_recorders(in.state()).rows.at(21);
  REQUIRE(found.per_thread.has_value());
  CHECK(found.per_thread->count == 2);
  CHECK(found.per_thread->sum_ns == 540);
  CHECK(found.per_thread->min_ns == 70);
  CHECK(found.per_thread->max_ns == 470);
  in.rows[1].rows[0].threads = 2;
  CHECK(adaptyst::lib::read_recorders(in.state()).rows.at(21).per_thread->count == 1);
  in.rows[0].rows[0].total_ns = in.rows[0].rows[0].nested_ns = 0;
  CHECK_FALSE(adaptyst::lib::read_recorders(in.state()).rows.at(21).per_thread.has_value());
}

TEST_CASE("the kernel's side finds a thread's frames where they are") {
  program in;
  detail::recorder& recorder = *in.threads[0];
  recorder.thread = 4711;
  recorder.base = 1;
  in.open(recorder, in.paths[0]);
  in.open(recorder, in.paths[1]);
  recorder.frames[2].begin = 99;
  recorder.frames[2].stack = &in;
  const adaptyst_recorder_layout layout = adaptyst::lib::find_recorder_layout();
  const auto word = [](const void* in_what, std::uint64_t at) {
    std::uint64_t found = 0;
    std::memcpy(&found, static_cast<const char*>(in_what) + at, sizeof found);
    return found;
  };
  detail::control_page control{};
  control.layout = detail::state_layout;
  control.recorders = in.head.recorders;
  CHECK(layout.expected == word(&control, layout.layout));
  CHECK(word(&control, layout.recorders) == as_address(*in.threads[1]));
  CHECK(word(in.threads[1].get(), layout.next) == as_address(recorder));
  CHECK(static_cast<std::uint32_t>(word(&recorder, layout.thread)) == 4711);
  CHECK(word(&recorder, layout.depth) == (std::uint64_t{1} << 32 | 2));  // the base stands behind the depth
  const std::uint64_t frame = layout.frames + 2 * layout.frame_bytes;
  CHECK(word(&recorder, frame + layout.path) == as_address(in.paths[1]));
  CHECK(word(&recorder, frame + layout.begin) == 99);
  CHECK(word(&recorder, frame + layout.stack) == as_address(in));
}

namespace {

// A ring of eight entries.
struct ring {
  std::unique_ptr<char[]> bytes = std::make_unique<char[]>(detail::ring_bytes(8));
  std::uint64_t tail = 0;
  detail::trace_ring& operator*() const { return *reinterpret_cast<detail::trace_ring*>(bytes.get()); }
  ring() {
    (**this).capacity = 8;
    (**this).tail = &tail;
  }
};

}  // namespace

TEST_CASE("a timeline is read in order, each event once, and what is read makes room") {
  program in;
  const ring made;
  detail::trace_ring& events = *made;
  in.threads[0]->ring = &events;
  in.sites[1].label = "scheme=weno";
  in.paths[1].device = 4;
  std::vector<traced_event> all;
  adaptyst::lib::trace_reader reader(in.state());
  const auto read_events = [&] {
    all.clear();
    reader.read([&](const traced_event& event) { all.push_back(event); });
  };

  detail::trace(events, 7, detail::traced::scope, &in.paths[1], 100, 130);
  detail::trace(events, 7, detail::traced::handle, &in.paths[0], 90, 80);  // it ended on a thread whose clock is behind
  double value = 2.5;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  detail::trace(events, 7, detail::traced::metric, &in.paths[0], 140, bits);
  read_events();
  REQUIRE(all.size() == 3);
  CHECK(all[0].as == traced_as::scope);
  CHECK(all[0].begin_ns == 100);
  CHECK(all[0].end_ns == 130);
  CHECK(all[0].thread == 7);
  CHECK(all[0].site->name == "solve [scheme=weno]");
  CHECK(all[0].site->kind == adaptyst::region_kind::region);
  CHECK(all[0].site->device == 4);
  CHECK(all[1].as == traced_as::handle);
  CHECK(all[1].begin_ns == 90);
  CHECK(all[1].end_ns == 90);
  CHECK(all[2].as == traced_as::metric);
  CHECK(all[2].value == 2.5);
  CHECK(all[2].end_ns == 140);
  CHECK(made.tail == 3);
  read_events();
  CHECK(all.empty());

  // Around the end of the ring: 3 are read, 8 fit, and the third operation does not.
  for (std::uint64_t queue = 1; queue != 4; ++queue)
    detail::trace_operation(events, &in.paths[1], 10 * queue, 10 * queue + 2, 10 * queue + 5, queue, 9);
  detail::trace(events, 7, detail::traced::instant_event, &in.paths[2], 150, 0);
  detail::trace(events, 7, detail::traced::instant_event, &in.paths[2], 160, 0);
  detail::trace(events, 7, detail::traced::instant_event, &in.paths[2], 170, 0);
  read_events();
  REQUIRE(all.size() == 5);
  for (std::uint64_t at = 0; at != 3; ++at) {
    CHECK(all[at].as == traced_as::operation);
    CHECK(all[at].submitted_ns == 10 * (at + 1));
    CHECK(all[at].begin_ns == 10 * (at + 1) + 2);
    CHECK(all[at].end_ns == 10 * (at + 1) + 5);
    CHECK(all[at].queue == at + 1);
    CHECK(all[at].thread == 9);
  }
  CHECK(all[4].as == traced_as::instant_event);
  CHECK(all[4].begin_ns == 160);
  CHECK(reader.events() == 8);
  CHECK(reader.lost() == 1);
}

TEST_CASE(
    "a timeline's times come from the counter, from the line that the collector found to what the clocks say now") {
  program in;
  const ring made;
  in.threads[0]->ring = &*made;
  in.head.clock = {std::uint64_t{1} << 31, 1000, 5'000'000};  // two ticks a nanosecond
  detail::trace(*made, 7, detail::traced::scope, &in.paths[0], 1200, 1500);
  std::vector<traced_event> all;
  // When it is read, the clock is ahead of that line.
  adaptyst::lib::trace_reader reader(in.state(), []() noexcept { return adaptyst::lib::clock_pair{2000, 5'001'000}; });
  reader.read([&](const traced_event& event) { all.push_back(event); });
  REQUIRE(all.size() == 1);
  CHECK(all[0].begin_ns == 5'000'200);
  CHECK(all[0].end_ns == 5'000'500);
}

TEST_CASE("a ring goes on where an earlier collector has left it, and believes no tail that is not within it") {
  program in;
  ring made;
  detail::trace_ring& events = *made;
  in.threads[0]->ring = &events;
  std::size_t read = 0;
  const auto read_events = [&] {
    read = 0;
    adaptyst::lib::trace_reader reader(in.state());
    reader.read([&](const traced_event&) { ++read; });
  };
  const auto mark = [&] { detail::trace(events, 7, detail::traced::instant_event, &in.paths[2], 1, 0); };
  for (int at = 0; at != 5; ++at) mark();
  events.first = events.tail_seen = events.head;  // as a new epoch begins
  made.tail = 2;
  for (int at = 0; at != 8; ++at) mark();
  CHECK(events.lost == 0);
  for (const std::uint64_t lie : {std::uint64_t{2}, std::uint64_t{4}, std::uint64_t{14}, ~std::uint64_t{0}}) {
    made.tail = lie;
    mark();
  }
  CHECK(events.lost == 4);
  CHECK(events.head == 13);
  read_events();
  CHECK(read == 8);
  CHECK(made.tail == 13);
  mark();
  CHECK(events.head == 14);
  events.first = 3;  // of one that lies: more than it can hold
  read_events();
  CHECK(read == 0);
}

namespace {

// This process, as if it were another one.
class other_process final : public adaptyst::lib::memory {
 public:
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override {
    return own.read(address, buffer, bytes);
  }
  bool write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept override {
    return own.write(address, from, bytes);
  }
  std::string text(std::uint64_t address, std::size_t max_bytes) const override { return own.text(address, max_bytes); }
  unsigned patience() const noexcept override { return own.patience(); }

 private:
  const memory& own = adaptyst::lib::own_memory();
};

}  // namespace

TEST_CASE("what a look at a timeline has no time for comes with the next one") {
  program in;
  const ring made;
  in.threads[0]->ring = &*made;
  for (int at = 0; at != 5; ++at) detail::trace(*made, 7, detail::traced::instant_event, &in.paths[2], 1, 0);
  const other_process other;
  adaptyst::lib::process_state state = in.state();
  state.in = &other;
  adaptyst::lib::trace_reader reader(state);
  std::size_t read = 0;
  const auto count = [&](const traced_event&) { ++read; };
  reader.read(count);
  CHECK(read == 5);
  CHECK(reader.waiting() == 0);
  reader.limit(0);
  for (int at = 0; at != 2; ++at) detail::trace(*made, 7, detail::traced::instant_event, &in.paths[2], 1, 0);
  reader.read(count);
  CHECK(read == 5);
  reader.limit(1'000'000'000);
  reader.read(count);
  CHECK(read == 7);
  CHECK(reader.waiting() == 0);
  CHECK(reader.lost() == 0);
}

TEST_CASE("times of a process in a time namespace are converted") {
  program in;
  const ring made;
  in.threads[0]->ring = &*made;
  detail::trace(*made, 7, detail::traced::scope, &in.paths[0], 1200, 1500);
  detail::trace_operation(*made, &in.paths[1], 1010, 1020, 1050, 3, 9);
  for (const std::int64_t lead_ns : {std::int64_t{1000}, std::int64_t{-1000}}) {
    adaptyst::lib::process_state state = in.state();
    state.clock_lead_ns = lead_ns;
    std::vector<traced_event> all;
    adaptyst::lib::trace_reader reader(state);
    reader.read([&](const traced_event& event) { all.push_back(event); });
    REQUIRE(all.size() == 2);
    const auto off = static_cast<std::uint64_t>(-lead_ns);
    CHECK(all[0].begin_ns == 1200 + off);
    CHECK(all[0].end_ns == 1500 + off);
    CHECK(all[1].submitted_ns == 1010 + off);
    CHECK(all[1].begin_ns == 1020 + off);
    CHECK(all[1].end_ns == 1050 + off);
  }
}

TEST_CASE("a timeline of an earlier collector is not read") {
  program in;
  const ring made;
  in.threads[0]->ring = &*made;
  in.threads[0]->epoch = 2;
  detail::trace(*made, 7, detail::traced::scope, &in.paths[0], 1, 2);
  adaptyst::lib::trace_reader reader(in.state());
  reader.read([](const traced_event&) { FAIL("read"); });
  CHECK(reader.events() == 0);
}
