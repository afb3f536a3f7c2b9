// What no runtime at hand does: a stand-in for one that answers as it likes, uses device numbers that it never told of,
// and ends what it did not begin.
#include <dlfcn.h>
#include <omp-tools.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <map>
#include <thread>

#include "collecting.hpp"

namespace {

std::map<int, ompt_callback_t> called;
int answer_to_targets = 5;

ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t call) {
  const bool is_for_targets = event == ompt_callback_target_emi || event == ompt_callback_target_submit_emi ||
                              event == ompt_callback_target_data_op_emi || event == ompt_callback_device_initialize;
  called[event] = call;
  return static_cast<ompt_set_result_t>(is_for_targets ? answer_to_targets : 5);
}

ompt_interface_fn_t look_up(const char* name) {
  return std::strcmp(name, "ompt_set_callback") == 0 ? reinterpret_cast<ompt_interface_fn_t>(set_callback) : nullptr;
}

// What is said on standard error while the library begins.
std::string begin(int answer) {
  void* const library = dlopen(ADAPTYST_TEST_OMPT, RTLD_NOW);
  REQUIRE(library != nullptr);
  const auto start =
      reinterpret_cast<ompt_start_tool_result_t* (*)(unsigned, const char*)>(dlsym(library, "ompt_start_tool"));
  REQUIRE(start != nullptr);
  ompt_start_tool_result_t* const tool = start(201811, "a stand-in");
  REQUIRE(tool != nullptr);
  answer_to_targets = answer;
  std::fflush(stderr);
  std::FILE* const kept = std::tmpfile();
  const int before = dup(2);
  dup2(fileno(kept), 2);
  const int goes_on = tool->initialize(look_up, 0, &tool->tool_data);
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  CHECK(goes_on == 1);
  std::rewind(kept);
  char text[512]{};
  const std::size_t bytes = std::fread(text, 1, sizeof text - 1, kept);
  std::fclose(kept);
  return {text, bytes};
}

template <class Callback>
Callback callback(ompt_callbacks_t event) {
  return reinterpret_cast<Callback>(called.at(event));
}

void data_operation(ompt_scope_endpoint_t endpoint, ompt_id_t& number, int what, int from, int destination,
                    std::size_t bytes) {
  callback<ompt_callback_target_data_op_emi_t>(ompt_callback_target_data_op_emi)(
      endpoint, nullptr, nullptr, &number, static_cast<ompt_target_data_op_t>(what), nullptr, from, nullptr,
      destination, bytes, nullptr);
}

}  // namespace

TEST_CASE("an answer of up to 2 means that nothing will come") {
  for (const auto& [answer, word] : std::map<int, std::string>{{0, "error"}, {1, "never"}, {2, "impossible"}}) {
    const std::string printed = begin(answer);
    CHECK(printed.find("adaptyst: OMPT target callbacks: unavailable (a stand-in answers \"" + word + "\")") == 0);
    CHECK(printed.find('\n') == printed.size() - 1);
  }
  for (const int answer : {3, 4, 5}) CHECK(begin(answer).empty());
}

TEST_CASE("devices with numbers that were never told of are of unknown kind") {
  begin(5);
  callback<ompt_callback_device_initialize_t>(ompt_callback_device_initialize)(2, "sm_90", nullptr, nullptr, nullptr);
  callback<ompt_callback_device_initialize_t>(ompt_callback_device_initialize)(-1, "wrong", nullptr, nullptr, nullptr);
  callback<ompt_callback_device_initialize_t>(ompt_callback_device_initialize)(1000, "far", nullptr, nullptr, nullptr);
  adaptyst::collector collector(support::options());
  for (const int destination : {2, 77, -1, 1000}) {
    ompt_id_t number = 0;
    data_operation(ompt_scope_begin, number, 18, 5, destination, 100);  // asynchronous
    data_operation(ompt_scope_end, number, 18, 5, destination, 100);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  std::map<std::string, std::string> kinds;
  for (const adaptyst::device_usage& device : profile.devices)
    if (device.kind != adaptyst::device_kind::cpu)
      kinds[device.name + " " + std::to_string(device.index)] = to_string(device.kind);
  CHECK(kinds == std::map<std::string, std::string>{{"OpenMP sm_90 2", "gpu"},
                                                    {"OpenMP, unknown device 77", "other"},
                                                    {"OpenMP, unknown device 1000", "other"},
                                                    {"OpenMP, unknown device 4294967295", "other"}});
  for (const adaptyst::region& region : profile.regions) {
    CHECK(region.kind == adaptyst::region_kind::copy_to);
    CHECK(region.attributes.at("bytes").sum == 100);
  }
  CHECK(profile.regions.size() == 4);
}

TEST_CASE("ends that do not fit are counted, and harm no other") {
  begin(5);
  adaptyst::collector collector(support::options());
  ompt_id_t outer = 0;
  ompt_id_t inner = 0;
  ompt_id_t never_begun = 12345;
  data_operation(ompt_scope_begin, outer, 1, 0, 2, 8);
  data_operation(ompt_scope_begin, inner, 2, 0, 2, 8);
  data_operation(ompt_scope_end, never_begun, 2, 0, 2, 8);
  data_operation(ompt_scope_end, outer, 1, 0, 2, 8);
  data_operation(ompt_scope_end, inner, 2, 0, 2, 8);
  ompt_id_t numbers[20]{};
  for (ompt_id_t& number : numbers) data_operation(ompt_scope_begin, number, 3, 2, 0, 1);
  for (int at = 19; at >= 0; --at) data_operation(ompt_scope_end, numbers[at], 3, 2, 0, 1);
  data_operation(ompt_scope_begin, inner, 5, 0, 2, 8);  // no work
  CHECK(inner == 0);

  const auto work = callback<ompt_callback_work_t>(ompt_callback_work);
  work(ompt_work_loop, ompt_scope_end, nullptr, nullptr, 0, nullptr);
  const auto parallel_end = callback<ompt_callback_parallel_end_t>(ompt_callback_parallel_end);
  ompt_data_t nothing{};
  parallel_end(&nothing, nullptr, 0, nullptr);
  const auto target = callback<ompt_callback_target_emi_t>(ompt_callback_target_emi);
  target(ompt_target, ompt_scope_end, 2, nullptr, nullptr, &nothing, nullptr);

  const auto parallel_begin = callback<ompt_callback_parallel_begin_t>(ompt_callback_parallel_begin);
  ompt_data_t regions[20]{};
  for (ompt_data_t& region : regions) parallel_begin(nullptr, nullptr, &region, 1, 0, nullptr);
  for (int at = 19; at >= 0; --at) parallel_end(&regions[at], nullptr, 0, nullptr);

  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.open == 0);
  CHECK(support::lost(profile, adaptyst::loss_reason::no_times) == 1 + 20 - 8);  // the inner; what is more than 8 deep
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 20 - 16);    // parallel regions
  CHECK(profile.accounting.unmatched == 20 - 16 + 2);  // and the ends of a loop and of a parallel region
  CHECK(support::find(profile, {"copy from device"}).count == 8);
}

// LLVM 14 and 19 free the data of a parallel region before they report its end.
TEST_CASE("an end with the data of another thread's construct ends the construct of its own thread") {
  begin(5);
  adaptyst::collector collector(support::options());
  const auto parallel_begin = callback<ompt_callback_parallel_begin_t>(ompt_callback_parallel_begin);
  const auto parallel_end = callback<ompt_callback_parallel_end_t>(ompt_callback_parallel_end);
  const auto implicit_task = callback<ompt_callback_implicit_task_t>(ompt_callback_implicit_task);
  ompt_data_t data{};
  parallel_begin(nullptr, nullptr, &data, 1, 0, nullptr);
  std::promise<void> has_begun;
  std::promise<void> has_ended;
  std::thread other([&] {
    parallel_begin(nullptr, nullptr, &data, 1, 0, nullptr);
    has_begun.set_value();
    has_ended.get_future().wait();
    ompt_data_t task{};
    implicit_task(ompt_scope_begin, &data, &task, 1, 0, ompt_task_implicit);
    implicit_task(ompt_scope_end, nullptr, &task, 1, 0, ompt_task_implicit);
    parallel_end(&data, nullptr, 0, nullptr);
  });
  has_begun.get_future().wait();
  parallel_end(&data, nullptr, 0, nullptr);
  has_ended.set_value();
  other.join();
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.unmatched == 0);
  REQUIRE(profile.regions.size() == 2);
  for (const adaptyst::region& region : profile.regions)
    CHECK(region.count == (region.path.back() == "thread" ? 1 : 2));
}

TEST_CASE("a construct that begins unobserved ends nothing that is observed") {
  begin(5);
  const auto parallel_begin = callback<ompt_callback_parallel_begin_t>(ompt_callback_parallel_begin);
  const auto parallel_end = callback<ompt_callback_parallel_end_t>(ompt_callback_parallel_end);
  const auto implicit_task = callback<ompt_callback_implicit_task_t>(ompt_callback_implicit_task);
  ompt_data_t data{};
  ompt_data_t task{};
  adaptyst::collector earlier(support::options());
  parallel_begin(nullptr, nullptr, &data, 1, 0, nullptr);
  implicit_task(ompt_scope_begin, &data, &task, 1, 0, ompt_task_implicit);
  implicit_task(ompt_scope_end, nullptr, &task, 1, 0, ompt_task_implicit);
  parallel_end(&data, nullptr, 0, nullptr);
  CHECK(earlier.stop().regions.size() == 2);

  parallel_begin(nullptr, nullptr, &data, 1, 0, nullptr);
  adaptyst::collector collector(support::options());
  implicit_task(ompt_scope_begin, &data, &task, 1, 0, ompt_task_implicit);
  implicit_task(ompt_scope_end, nullptr, &task, 1, 0, ompt_task_implicit);
  parallel_end(&data, nullptr, 0, nullptr);
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.regions.empty());
}

TEST_CASE("kinds of a later OpenMP keep their events, under names that claim nothing") {
  begin(5);
  adaptyst::collector collector(support::options());
  const auto wait = callback<ompt_callback_sync_region_t>(ompt_callback_sync_region);
  ompt_data_t parallel{};
  for (const int kind : {3, 10, 77})
    for (const ompt_scope_endpoint_t endpoint : {ompt_scope_begin, ompt_scope_end})
      wait(static_cast<ompt_sync_region_t>(kind), endpoint, &parallel, nullptr, nullptr);
  ompt_id_t number = 0;
  data_operation(ompt_scope_begin, number, 32 + 1, 0, 2, 8);  // not an allocation
  data_operation(ompt_scope_end, number, 32 + 1, 0, 2, 8);
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(support::find(profile, {"barrier"}).count == 1);
  CHECK(support::find(profile, {"synchronization"}).count == 1);
  CHECK(support::find(profile, {"other data operation"}).count == 1);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.regions.size() == 3);
}
