// Writes sampled stacks as a speedscope file: one profile for each thread state, all with one list of frames.
#include "stacks.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

// Frames are numbers into a list that all profiles share.
class frame_list {
 public:
  std::size_t find_number(const std::string& name) {
    const auto [entry, is_new] = numbers_.try_emplace(name, numbers_.size());
    if (is_new) frames_.push_back({{"name", name}});
    return entry->second;
  }
  const json& frames() const { return frames_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  json frames_ = json::array();
};

json make_profile(const std::vector<sampled_stack>& stacks, thread_state state, const char* name, frame_list& frames) {
  std::map<std::vector<std::size_t>, std::uint64_t> weights;
  for (const sampled_stack& stack : stacks) {
    if (stack.state != state || stack.weight_ns == 0) continue;
    std::vector<std::size_t> numbers{frames.find_number(stack.program)};
    for (const std::string& region : stack.region) numbers.push_back(frames.find_number(region));
    if (stack.region.empty()) numbers.push_back(frames.find_number("(outside)"));
    for (const std::string& frame : stack.frames) numbers.push_back(frames.find_number(frame));
    weights[std::move(numbers)] += stack.weight_ns;
  }
  std::vector<std::pair<std::vector<std::size_t>, std::uint64_t>> sorted(weights.begin(), weights.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  json samples = json::array();
  json values = json::array();
  std::uint64_t sum = 0;
  for (auto& [numbers, weight] : sorted) {
    samples.push_back(std::move(numbers));
    values.push_back(weight);
    sum += weight;
  }
  return {{"type", "sampled"}, {"name", name},       {"unit", "nanoseconds"},       {"startValue", 0},
          {"endValue", sum},   {"samples", samples}, {"weights", std::move(values)}};
}

}  // namespace

std::string to_speedscope(const std::vector<sampled_stack>& stacks, const std::string& name) {
  frame_list frames;
  json profiles = json::array();
  profiles.push_back(make_profile(stacks, thread_state::on_cpu, "on CPU", frames));
  profiles.push_back(make_profile(stacks, thread_state::blocked, "blocked", frames));
  profiles.push_back(make_profile(stacks, thread_state::waiting, "waiting for a core", frames));
  const json all = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                    {"shared", {{"frames", frames.frames()}}},
                    {"profiles", std::move(profiles)},
                    {"name", name},
                    {"activeProfileIndex", 0},
                    {"exporter", "adaptyst"}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace adaptyst::lib
