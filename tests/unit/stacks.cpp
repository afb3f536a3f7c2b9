// Stacks as files for flame graphs: what is added up, and that no name can break a line.
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "report/stacks.hpp"

using adaptyst::lib::sampled_stack;
using adaptyst::lib::thread_state;
using adaptyst::lib::to_folded;
using adaptyst::lib::to_speedscope;

namespace {

std::vector<sampled_stack> samples() {
  return {{"wave", {"solve", "flux"}, thread_state::on_cpu, {"main", "run(int)"}, 3'000'000},
          {"wave", {"solve", "flux"}, thread_state::blocked, {"main", "wait", "futex_wait"}, 7'000'400},
          {"wave", {}, thread_state::on_cpu, {"main"}, 1'000},
          {"wave", {"solve", "flux"}, thread_state::on_cpu, {"main", "run(int)"}, 2'000'000},
          {"wave", {"solve"}, thread_state::waiting, {}, 600}};
}

}  // namespace

TEST_CASE("equal stacks become one line, in microseconds") {
  CHECK(to_folded(samples()) ==
        "wave;(outside);[on-cpu];main 1\n"
        "wave;solve;[waiting] 1\n"
        "wave;solve;flux;[blocked];main;wait;futex_wait 7000\n"
        "wave;solve;flux;[on-cpu];main;run(int) 5000\n");
  CHECK(to_folded({}).empty());
}

TEST_CASE("many stacks of less than a microsecond add up before they are rounded") {
  const std::vector<sampled_stack> all(1000, {"p", {"r"}, thread_state::blocked, {"f"}, 400});
  CHECK(to_folded(all) == "p;r;[blocked];f 400\n");
  CHECK(to_folded({{"p", {"r"}, thread_state::blocked, {"f"}, 400}}).empty());
}

TEST_CASE("a name can break neither a frame nor a line") {
  const std::vector<sampled_stack> all{{"a;b", {"x\ny", ""}, thread_state::on_cpu, {"f;g\r\th i 5"}, 1'000}};
  CHECK(to_folded(all) == "a_b;x_y;(no name);[on-cpu];f_g__h i 5 1\n");
}

TEST_CASE("a speedscope file has a profile for each state, with shared frames") {
  const auto all = nlohmann::json::parse(to_speedscope(samples(), "wave"));
  const auto& profiles = all["profiles"];
  REQUIRE(profiles.size() == 3);
  const auto names = [&](const nlohmann::json& sample) {
    std::vector<std::string> list;
    for (const std::size_t frame : sample) list.push_back(all["shared"]["frames"].at(frame)["name"]);
    return list;
  };
  CHECK(profiles[0]["unit"] == "nanoseconds");
  CHECK(profiles[0]["endValue"] == 5'001'000);
  REQUIRE(profiles[0]["samples"].size() == 2);
  CHECK(profiles[0]["weights"] == nlohmann::json({5'000'000, 1'000}));
  CHECK(names(profiles[0]["samples"][0]) == std::vector<std::string>{"wave", "solve", "flux", "main", "run(int)"});
  CHECK(names(profiles[0]["samples"][1]) == std::vector<std::string>{"wave", "(outside)", "main"});
  CHECK(profiles[1]["weights"] == nlohmann::json({7'000'400}));
  CHECK(profiles[2]["weights"] == nlohmann::json({600}));
  CHECK(all["shared"]["frames"].size() == 8);
}

TEST_CASE("a name that is no UTF-8 makes a speedscope file all the same") {
  const std::string text = to_speedscope({{"p\xff", {}, thread_state::on_cpu, {"\xc3("}, 5}}, "\xff");
  CHECK(nlohmann::json::accept(text));
}
