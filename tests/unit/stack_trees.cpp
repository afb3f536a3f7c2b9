// Stacks added up by region: nothing is lost, large frames are listed, the others are added up.
#include "model/stack_trees.hpp"

#include <numeric>

#include "catch.hpp"

using adaptyst::region_stacks;
using adaptyst::sampled_frame;
using adaptyst::lib::stack_trees;
using adaptyst::lib::thread_state;

namespace {

std::uint64_t sum(const std::vector<region_stacks>& all) {
  std::uint64_t made = 0;
  for (const region_stacks& stacks : all)
    for (const sampled_frame& frame : stacks.frames) made += frame.on_cpu_ns + frame.blocked_ns + frame.waiting_ns;
  return made;
}

// "name:depth=on/blocked/waiting", a line each.
std::string spell(const std::vector<region_stacks>& all) {
  std::string text;
  for (const region_stacks& stacks : all) {
    text += "[" + std::to_string(stacks.region) + "]\n";
    for (const sampled_frame& frame : stacks.frames)
      text += std::string(2 * frame.depth, ' ') + frame.name + " " + std::to_string(frame.on_cpu_ns) + "/" +
              std::to_string(frame.blocked_ns) + "/" + std::to_string(frame.waiting_ns) + "\n";
  }
  return text;
}

stack_trees some() {
  stack_trees made;
  made.add(7, {"main", "solve"}, thread_state::on_cpu, 100);
  made.add(7, {"main", "solve", "flux"}, thread_state::on_cpu, 50);
  made.add(7, {"main", "solve", "flux"}, thread_state::blocked, 8);
  made.add(7, {"main"}, thread_state::waiting, 3);
  made.add(7, {"main", "tiny"}, thread_state::on_cpu, 1);
  made.add(0, {"idle"}, thread_state::blocked, 40);
  made.add(9, {}, thread_state::on_cpu, 1000);  // of which nothing is known
  return made;
}

}  // namespace

TEST_CASE("callers stand before what they call, with the time of stacks that end in them") {
  CHECK(spell(some().list()) ==
        "[0]\n"
        "idle 0/40/0\n"
        "[7]\n"
        "main 0/0/3\n"
        "  solve 100/0/0\n"
        "    flux 50/8/0\n"
        "  tiny 1/0/0\n");
  CHECK(stack_trees().list().empty());
}

TEST_CASE("of many frames the largest are listed, and no time is lost") {
  CHECK(spell(some().list(3)) ==
        "[0]\n"
        "(others) 0/40/0\n"
        "[7]\n"
        "main 0/0/3\n"
        "  solve 100/0/0\n"
        "    flux 50/8/0\n"
        "  (others) 1/0/0\n");
  CHECK(spell(some().list(0)) == "[0]\n(others) 0/40/0\n[7]\n(others) 151/8/3\n");
  for (std::size_t most = 0; most != 6; ++most) CHECK(sum(some().list(most)) == 202);
}

TEST_CASE("what was listed is listed again as it is, and adds up with more") {
  const std::vector<region_stacks> listed = some().list(3);
  stack_trees again;
  again.add(listed);
  CHECK(spell(again.list(3)) == spell(listed));
  again.add(listed);
  CHECK(sum(again.list(3)) == 404);
}

TEST_CASE("what was called by other frames is of these") {
  stack_trees made;
  made.add({{1, {{"f", 0, 1, 0, 0}, {"(others)", 1, 2, 0, 0}, {"g", 2, 4, 0, 0}, {"h", 1, 8, 0, 0}}}});
  CHECK(spell(made.list()) == "[1]\nf 1/0/0\n  h 8/0/0\n  (others) 6/0/0\n");
}

TEST_CASE("a tree may be as deep as a file says") {
  constexpr std::uint32_t deep = 100'000;
  region_stacks chain{1, {}};
  for (std::uint32_t depth = 0; depth != deep; ++depth) chain.frames.push_back({"f", depth, 1, 0, 0});
  stack_trees made;
  made.add({chain});
  const std::vector<region_stacks> listed = made.list();
  CHECK(listed.front().frames.size() == adaptyst::profile::max_frames + 1);
  CHECK(sum(listed) == deep);
}
