// The ITT adapter, called as a program with annotations calls it; a stand-in for ITT's static part makes the calls.
#include <adaptyst/region.hpp>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "collecting.hpp"
#include "static_part.hpp"

namespace {

using itt_host::itt_id;
using support::find;

itt_host::static_part program;
itt_host::itt_domain* const app = program.domain("app");
itt_host::itt_domain* const other = program.domain("other");
itt_host::itt_string* const step = program.string("step");
itt_host::itt_string* const sweep = program.string("sweep");

template <class Action>
std::string stderr_of(Action&& action) {
  std::fflush(stderr);
  std::FILE* const kept = std::tmpfile();
  const int before = dup(2);
  dup2(fileno(kept), 2);
  action();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::rewind(kept);
  char text[1024]{};
  const std::size_t bytes = std::fread(text, 1, sizeof text - 1, kept);
  std::fclose(kept);
  return {text, bytes};
}

const adaptyst::attribute& attribute(const adaptyst::profile& in, const std::vector<std::string>& path,
                                     const std::string& name) {
  const adaptyst::region& region = find(in, path);
  INFO(name);
  const auto found = region.attributes.find(name);
  REQUIRE(found != region.attributes.end());
  return found->second;
}

}  // namespace

TEST_CASE("tasks are regions, with the program's own markers in one tree") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 5; ++i) {
    program.begin(app, step);
    {
      ADAPTYST_REGION("own");
      program.begin(other, sweep);
      { ADAPTYST_REGION("in the task"); }
      program.end(other);
    }
    program.end(app);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.regions.size() == 4);
  CHECK(find(profile, {"app:step"}).count == 5);
  CHECK(find(profile, {"app:step"}).kind == adaptyst::region_kind::region);
  CHECK(find(profile, {"app:step", "own", "other:sweep", "in the task"}).count == 5);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 0);
}

TEST_CASE("names are compared by content, and a domain without a name has no prefix") {
  program.load();
  itt_host::itt_domain nameless{1, nullptr, nullptr, 0, nullptr, nullptr};
  itt_host::itt_string again{"step", nullptr, 0, nullptr, nullptr};
  adaptyst::collector collector(support::options());
  CHECK(program.string("later") == program.string("later"));
  CHECK(program.domain("later") == program.domain("later"));
  CHECK(program.domain("later")->flags != 0);
  program.begin(&nameless, step);
  program.end(&nameless);
  program.begin(&nameless, &again);
  program.end(&nameless);
  program.begin(&nameless, nullptr);
  program.end(&nameless);
  program.begin(program.domain("later"), program.string("later"));
  program.end(program.domain("later"));
  const std::string long_domain(100, 'd'), long_name(200, 'n');
  program.begin(program.domain(long_domain.c_str()), program.string(long_name.c_str()));
  program.end(program.domain(long_domain.c_str()));
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(find(profile, {"step"}).count == 2);
  CHECK(find(profile, {"unnamed task"}).count == 1);
  CHECK(find(profile, {"later:later"}).count == 1);
  CHECK(find(profile, {std::string(63, 'd') + ':' + std::string(63, 'n')}).count == 1);
}

TEST_CASE("a task of a function has its place as name; a task with times of its own is an instant event") {
  using by_function = void (*)(const itt_host::itt_domain*, itt_id, itt_id, void*);
  using begin_with_times =
      void (*)(const itt_host::itt_domain*, void*, unsigned long long, itt_id, itt_id, itt_host::itt_string*);
  using end_with_times = void (*)(const itt_host::itt_domain*, void*, unsigned long long);
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 3; ++i) {
    program.call(by_function{}, "task_begin_fn", app, itt_id{}, itt_id{}, itt_host::initial());
    program.end(app);
    program.call(begin_with_times{}, "task_begin_ex", app, nullptr, 0ULL, itt_id{}, itt_id{}, step);
    program.call(end_with_times{}, "task_end_ex", app, nullptr, 0ULL);
    program.call(begin_with_times{}, "task_begin_ex", app, nullptr, 12345ULL, itt_id{}, itt_id{}, sweep);
    program.call(end_with_times{}, "task_end_ex", app, nullptr, 12346ULL);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.regions.size() == 3);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(find(profile, {"app:step"}).count == 3);
  CHECK(find(profile, {"app:sweep"}).kind == adaptyst::region_kind::instant_event);
  CHECK(find(profile, {"app:sweep"}).count == 3);
  bool has_place = false;
  for (const adaptyst::region& region : profile.regions)
    has_place = has_place || (region.path.back().find("app:task") != std::string::npos &&
                              region.path.back() != "app:task" && region.count == 3);
  CHECK(has_place);
}

TEST_CASE("overlapped tasks and regions end in any order, on any thread, several with one id") {
  constexpr unsigned long long tasks = 1000;
  adaptyst::collector collector(support::options());
  for (unsigned long long i = 0; i != tasks; ++i) program.begin("task_begin_overlapped", app, {i, 0, 0}, step);
  for (unsigned long long i = 0; i != tasks; ++i) program.begin("region_begin", app, {7, 0, 0}, sweep);
  std::thread([] {
    for (unsigned long long i = 0; i != tasks; ++i) program.end("task_end_overlapped", app, {i, 0, 0});
    for (unsigned long long i = 0; i != tasks; ++i) program.end("region_end", app, {7, 0, 0});
  }).join();
  program.end("task_end_overlapped", app, {1, 0, 0});
  program.end("region_end", other, {7, 0, 0});
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(find(profile, {"app:step"}).count == tasks);
  CHECK(find(profile, {"app:sweep"}).count == tasks);
  CHECK(profile.accounting.unmatched == 2);
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("beyond the limit of open tasks, ends are counted, and places are used again") {
  constexpr unsigned long long tasks = 5000, limit = 4096;
  adaptyst::collector collector(support::options());
  for (unsigned long long i = 0; i != tasks; ++i) program.begin("task_begin_overlapped", app, {i, 0, 0}, step);
  for (unsigned long long i = 0; i != tasks; ++i) program.end("task_end_overlapped", app, {i, 0, 0});
  for (unsigned long long i = 0; i != limit; ++i) program.begin("task_begin_overlapped", app, {i, 0, 0}, sweep);
  for (unsigned long long i = 0; i != limit; ++i) program.end("task_end_overlapped", app, {i, 0, 0});
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(find(profile, {"app:step"}).count == limit);
  CHECK(find(profile, {"app:sweep"}).count == limit);
  CHECK(profile.accounting.unmatched == tasks - limit);
}

TEST_CASE("frames are regions; submitted frames are a metric") {
  using submit = void (*)(const itt_host::itt_domain*, itt_id*, unsigned long long, unsigned long long);
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 4; ++i) {
    itt_id id{7, 0, 0};
    program.frame("frame_begin_v3", app, nullptr);
    program.frame("frame_begin_v3", app, &id);
    program.frame("frame_begin_v3", app, &id);  // ignored
    std::thread([] { program.frame("frame_end_v3", app, nullptr); }).join();
    program.frame("frame_end_v3", app, &id);
  }
  unsigned long long now = 0, end = 0;
  {
    ADAPTYST_REGION("render");
    program.call(submit{}, "frame_submit_v3", app, static_cast<itt_id*>(nullptr), 1000ULL, 1500ULL);
    program.call(submit{}, "frame_submit_v3", app, static_cast<itt_id*>(nullptr), 2000ULL, 2700ULL);
    now = program.call(static_cast<unsigned long long (*)()>(nullptr), "get_timestamp");
    CHECK(now != 0);
    program.call(submit{}, "frame_submit_v3", app, static_cast<itt_id*>(nullptr), 1500ULL, 1000ULL);
    program.call(submit{}, "frame_submit_v3", other, static_cast<itt_id*>(nullptr), now, ~0ULL);
    program.call(submit{}, "frame_submit_v3", other, static_cast<itt_id*>(nullptr), now, ~0ULL);
    end = program.call(static_cast<unsigned long long (*)()>(nullptr), "get_timestamp");
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(find(profile, {"app:frame"}).count == 8);
  const auto& frames = attribute(profile, {"render"}, "app:frame_ns");
  CHECK(frames.count == 2);
  CHECK(find(profile, {"render", "app:frame"}).kind == adaptyst::region_kind::instant_event);
  CHECK(frames.sum == 1200);
  CHECK(frames.max == 700);
  CHECK(attribute(profile, {"render"}, "other:frame_ns").max <= static_cast<double>(end - now));
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 0);
}

TEST_CASE("markers are instant events") {
  using marker = void (*)(const itt_host::itt_domain*, itt_id, itt_host::itt_string*, int);
  using marker_ex =
      void (*)(const itt_host::itt_domain*, void*, unsigned long long, itt_id, itt_host::itt_string*, int);
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 3; ++i) program.call(marker{}, "marker", app, itt_id{}, step, 1);
  program.call(marker_ex{}, "marker_ex", app, nullptr, 0ULL, itt_id{}, step, 1);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(find(profile, {"app:step"}).kind == adaptyst::region_kind::instant_event);
  CHECK(find(profile, {"app:step"}).count == 4);
}

TEST_CASE("counters are metrics: changes with their sign, values by their type") {
  using change = void (*)(itt_host::itt_counter*);
  using change_by = void (*)(itt_host::itt_counter*, unsigned long long);
  using change_of = void (*)(const itt_host::itt_domain*, itt_host::itt_string*);
  using change_of_by = void (*)(const itt_host::itt_domain*, itt_host::itt_string*, unsigned long long);
  program.load();
  adaptyst::collector collector(support::options());
  itt_host::itt_counter* const queue = program.counter("queue", "app", 1);
  CHECK(queue == program.counter("queue", "app", 1));
  itt_host::itt_counter own_signed{"signed", nullptr, "app", nullptr, 4, 0, 0, nullptr, nullptr};  // before the tool
  {
    ADAPTYST_REGION("work");
    program.call(change{}, "counter_inc", queue);
    program.call(change_by{}, "counter_inc_delta", queue, 10ULL);
    program.call(change{}, "counter_dec", queue);
    program.call(change_by{}, "counter_dec_delta", queue, 4ULL);
    program.call(change{}, "counter_inc", static_cast<itt_host::itt_counter*>(nullptr));
    program.call(change_of{}, "counter_inc_v3", app, step);
    program.call(change_of_by{}, "counter_inc_delta_v3", app, step, 5ULL);
    program.call(change_of{}, "counter_dec_v3", app, step);
    program.call(change_of_by{}, "counter_dec_delta_v3", app, step, 2ULL);
    std::int32_t below = -7;
    program.set(&own_signed, &below);
    program.set(&own_signed, &below);
    program.set(&own_signed, nullptr);
    float half = 0.5F;
    double third = 1.0 / 3;
    std::int16_t small = -3;
    std::uint64_t unsigned_long = 1ULL << 40U;
    for (int i = 0; i != 2; ++i) {
      program.set(program.counter("float", "app", 7), &half);
      program.set(program.counter("double", "app", 8), &third);
      program.set(program.counter("short", "app", 6), &small);
      program.set(program.counter("long", "app", 1), &unsigned_long);
    }
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const auto& changes = attribute(profile, {"work"}, "app:queue");
  CHECK(changes.count == 4);
  CHECK(changes.sum == 6);
  CHECK(attribute(profile, {"work"}, "app:step").count == 4);
  CHECK(attribute(profile, {"work"}, "app:step").sum == 3);
  CHECK(attribute(profile, {"work"}, "app:signed").sum == -14);
  CHECK(attribute(profile, {"work"}, "app:float").min == 0.5);
  CHECK(attribute(profile, {"work"}, "app:double").max == 1.0 / 3);
  CHECK(attribute(profile, {"work"}, "app:short").max == -3);
  CHECK(attribute(profile, {"work"}, "app:long").max == std::ldexp(1, 40));
}

TEST_CASE("a value of an unknown type is absent") {
  program.load();
  adaptyst::collector collector(support::options());
  {
    ADAPTYST_REGION("work");
    std::uint64_t value = 1;
    program.set(program.counter("unknown", "app", 99), &value);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(find(profile, {"work"}).attributes.empty());
}

TEST_CASE("threads get their names unless they have one") {
  using set_name = void (*)(const char*);
  const auto rename = [](const char* given, const char* name) {
    char found[32]{};
    std::thread([&] {
      if (given != nullptr) pthread_setname_np(pthread_self(), given);
      errno = 77;
      program.call(set_name{}, "thread_set_name", name);
      CHECK(errno == 77);
      pthread_getname_np(pthread_self(), found, sizeof found);
    }).join();
    return std::string(found);
  };
  char own[32]{};
  pthread_getname_np(pthread_self(), own, sizeof own);
  CHECK(rename(nullptr, "a worker with a long name") == "a worker with a");
  CHECK(rename("given", "worker") == "given");
  CHECK(rename(nullptr, nullptr) == own);
  CHECK(rename(nullptr, "") == own);
  program.call(set_name{}, "thread_set_name", "not the process");
  char now[32]{};
  pthread_getname_np(pthread_self(), now, sizeof now);
  CHECK(std::string(now) == own);
}

TEST_CASE("while ITT is paused nothing begins, and ends stay balanced") {
  using marker = void (*)(const itt_host::itt_domain*, itt_id, itt_host::itt_string*, int);
  using scoped = void (*)(int);
  constexpr int host = 1, offload = 2, all = 0x7FFFFFFF;
  adaptyst::collector collector(support::options());
  program.begin(app, step);  // ends in the pause
  program.plain("pause");
  program.begin(app, sweep);
  program.begin("task_begin_overlapped", app, {1, 0, 0}, sweep);
  program.call(marker{}, "marker", app, itt_id{}, sweep, 1);
  program.begin(other, sweep);  // ends after the pause
  program.plain("resume");
  program.end(other);
  program.end("task_end_overlapped", app, {1, 0, 0});
  program.end(app);
  program.plain("pause");
  program.end(app);
  program.plain("resume");
  for (const auto& [function, scope] :
       {std::pair{"pause_scoped", offload}, std::pair{"pause_scoped", all}, std::pair{"resume_scoped", host}}) {
    program.call(scoped{}, function, scope);
    program.begin(other, step);
    program.end(other);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.regions.size() == 2);
  CHECK(find(profile, {"app:step"}).count == 1);
  CHECK(find(profile, {"other:step"}).count == 2);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("ends without a begin are counted, and end nothing of others") {
  adaptyst::collector collector(support::options());
  program.end(app);
  program.begin(app, step);
  {
    ADAPTYST_REGION("own");
    program.end(other);
    program.end(other);
  }
  program.frame("frame_end_v3", app, nullptr);
  std::thread([] { program.end(app); }).join();
  program.end(app);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(find(profile, {"app:step"}).count == 1);
  CHECK(find(profile, {"app:step", "own"}).count == 1);
  CHECK(profile.accounting.unmatched == 5);
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("tasks of two domains that do not nest lose the inner region only") {
  adaptyst::collector collector(support::options());
  program.begin(app, step);
  program.begin(other, sweep);
  program.end(app);
  program.begin(app, step);
  program.end(app);
  program.end(other);
  program.begin(other, sweep);
  program.end(other);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(find(profile, {"app:step"}).count == 2);
  CHECK(find(profile, {"other:sweep"}).count == 1);
  CHECK(profile.accounting.unmatched == 1);
}

TEST_CASE("tasks that began before the collector end without effect") {
  program.begin(app, step);
  program.begin("task_begin_overlapped", app, {1, 0, 0}, step);
  adaptyst::collector collector(support::options());
  program.end("task_end_overlapped", app, {1, 0, 0});
  program.end(app);
  const adaptyst::profile profile = collector.stop();
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.regions.empty());
}

TEST_CASE("tasks nested beyond the limit are counted as lost, and the others are recorded") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 300; ++i) program.begin(app, step);
  for (int i = 0; i != 300; ++i) program.end(app);
  program.begin(app, sweep);
  program.end(app);
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(find(profile, {"app:sweep"}).count == 1);
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("each thread has its own tasks") {
  constexpr int threads = 4, rounds = 1000;
  adaptyst::collector collector(support::options());
  std::vector<std::thread> all;
  for (int thread = 0; thread != threads; ++thread)
    all.emplace_back([thread] {
      itt_host::itt_string* const name = program.string(("thread " + std::to_string(thread)).c_str());
      for (int i = 0; i != rounds; ++i) {
        program.begin(app, step);
        program.begin(other, name);
        program.begin("task_begin_overlapped", app, {static_cast<unsigned long long>(thread), 1, 0}, sweep);
        program.end("task_end_overlapped", app, {static_cast<unsigned long long>(thread), 1, 0});
        program.end(other);
        program.end(app);
      }
    });
  for (std::thread& thread : all) thread.join();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(find(profile, {"app:step"}).count == threads * rounds);
  for (int thread = 0; thread != threads; ++thread)
    CHECK(find(profile, {"app:step", "other:thread " + std::to_string(thread)}).count == rounds);
  CHECK(profile.accounting.unmatched == 0);
}

TEST_CASE("a library with its own static part and the program are one tree") {
  void* const library = dlopen(ADAPTYST_TEST_SECOND_HOST, RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto begin = reinterpret_cast<void (*)()>(dlsym(library, "second_host_begin"));
  const auto end = reinterpret_cast<void (*)()>(dlsym(library, "second_host_end"));
  itt_host::itt_string* const shared = program.string("shared name");
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 3; ++i) {
    begin();
    end();
    program.begin(app, shared);
    begin();
    program.end(app);  // its own domain, of the same name: ends the innermost
    end();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.regions.size() == 2);
  CHECK(find(profile, {"app:shared name"}).count == 6);
  CHECK(find(profile, {"app:shared name", "app:shared name"}).count == 3);
  CHECK(profile.accounting.unmatched == 0);
}

TEST_CASE("functions that adaptyst does not use keep the implementation of the static part") {
  program.load();
  CHECK(program.pointer("sync_prepare") == nullptr);
  CHECK(program.pointer("metadata_add") == nullptr);
  CHECK(program.pointer("task_group") == nullptr);
  CHECK(program.pointer("enable_attach") == itt_host::initial());
  CHECK(program.pointer("task_begin") != itt_host::initial());
}

TEST_CASE("a static part of another layout is refused with a message and left alone") {
  void* const library = dlopen(ADAPTYST_TEST_ITT, RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto init = reinterpret_cast<itt_host::api_init>(dlsym(library, "__itt_api_init"));
  REQUIRE(init != nullptr);
  const auto said = [&](void (*change)(itt_host::global&)) {
    itt_host::static_part odd;
    change(odd.all);
    const std::string text = stderr_of([&] { init(&odd.all, -1); });
    CHECK(odd.pointer("task_begin") == itt_host::initial());
    return text;
  };
  CHECK(said([](itt_host::global& in) { in.magic[7] = 0; }).find("adaptyst: ITT: unavailable (") == 0);
  const std::string version = said([](itt_host::global& in) { in.version_major = 4; });
  CHECK(version.find("has version 4.0, build 20180723; supported: version 3") != std::string::npos);
  CHECK(said([](itt_host::global& in) { in.version_build = 20101001; }).find("build 20101001;") != std::string::npos);
  CHECK(said([](itt_host::global& in) { in.api_list_ptr = nullptr; }).find("unavailable") != std::string::npos);
  CHECK(stderr_of([&] { init(nullptr, -1); }).find("adaptyst: ITT: unavailable (the program passes") == 0);
}

TEST_CASE("names beyond the limit are one name, with one warning; errno stays unchanged") {
  program.load();
  adaptyst::collector collector(support::options());
  errno = EDOM;
  const std::string said = stderr_of([] {
    errno = EDOM;
    for (int i = 0; i != 1100; ++i) {
      program.begin(app, program.string(("name " + std::to_string(i)).c_str()));
      program.end(app);
    }
    CHECK(errno == EDOM);
  });
  const adaptyst::profile profile = collector.stop();
  CHECK(said == "adaptyst: ITT: more than 1,000 names; further ones are reported as one\n");
  CHECK(find(profile, {"app:name 3"}).count == 1);
  CHECK(find(profile, {"app:further names"}).count >= 100);
  CHECK(profile.accounting.ended == 1100);
}
