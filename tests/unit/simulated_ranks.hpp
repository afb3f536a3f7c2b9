// Profiles of ranks that there are not: simulated, on hosts of four ranks each.
#ifndef ADAPTYST_TESTS_UNIT_SIMULATED_RANKS_HPP
#define ADAPTYST_TESTS_UNIT_SIMULATED_RANKS_HPP

#include <adaptyst/profile.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "merge/tree.hpp"

namespace simulated {

constexpr std::uint32_t ranks_per_host = 4;

inline std::string host_name(std::uint32_t rank) { return "simulated" + std::to_string(rank / ranks_per_host); }

// Spread over 1 … 2 s, different in each region; every 16th rank has no "io", and rank 5 has no regions.
inline std::uint64_t time_in(std::uint32_t rank, std::uint64_t region) {
  std::uint64_t x = (rank + 1) * 0x9e3779b97f4a7c15 + region * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 31U) * 0x94d049bb133111eb;
  return 1'000'000'000 + (x ^ x >> 29U) % 1'000'000'000;
}

inline bool has_region(std::uint32_t rank, std::uint64_t region) {
  return rank != 5 && !(region == 2 && rank % 16 == 3);
}

inline const std::vector<std::vector<std::string>>& paths() {
  static const std::vector<std::vector<std::string>> all{
      {"main"}, {"main", "step"}, {"main", "io"}, {"main", "step", "mpi"}};
  return all;
}

inline adaptyst::profile make_profile(std::uint32_t rank) {
  adaptyst::profile made;
  made.engine = "inline";
  made.mechanism = "simulated";
  made.options["output"] = "simulated-" + std::to_string(rank) + ".json";
  made.devices.resize(1);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[0].name = "host";
  made.devices[0].observed_ns = 3'000'000'000;
  for (std::uint64_t at = 0; at != paths().size(); ++at) {
    if (!has_region(rank, at)) continue;
    adaptyst::region row;
    row.path = paths()[at];
    row.id = 100 + at;
    row.parent = at == 0 ? 0 : at == 3 ? 101 : 100;
    row.threads = 1;
    row.count = 10;
    row.total_ns = time_in(rank, at);
    row.self_ns = row.total_ns / 2;
    row.min_ns = row.total_ns / 20;
    row.max_ns = row.total_ns / 5;
    row.durations.add(row.total_ns / 10, 10);
    row.overhead_ns = 0.1 * (rank + 1);
    row.attributes["cells"] = {10, 0.1 * rank, 0, 0.1 * rank, 0};
    made.accounting.begun += row.count;
    made.accounting.ended += row.count;
    made.regions.push_back(std::move(row));
  }
  adaptyst::process_info process;
  process.pid = 1000 + rank % 4;
  process.command = rank == 7 ? "/bin/writer" : "/bin/solver";
  process.host = host_name(rank);
  process.duration_ns = 3'000'000'000;
  process.threads = 1;
  process.rank = rank;
  process.killed = rank == 9;
  process.thread_list = {{1000 + rank % 4, "solver", 3'000'000'000, 2'000'000'000 + rank, 1000, rank % 4}};
  made.processes.push_back(std::move(process));
  // A rank that may use a part of its machine only knows less of it.
  const std::uint64_t cpus = rank % ranks_per_host == 2 ? 16 : 4;
  made.machines.push_back(
      {host_name(rank), 1, {}, cpus, {{0, 0, "0-3", {}}}, {{"gpu", "0000:01:00.0", "10de:2330", 0}}});
  return made;
}

// Letters between ranks that take their turns on one thread. What was not sent does not come.
struct post_office {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::string>> letters;
  std::size_t longest = 0;  // of all that were sent
};

class post final : public adaptyst::rank_transport {
 public:
  post(post_office& office, std::uint32_t rank, std::uint32_t size) : office_(office), rank_(rank), size_(size) {}

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::chrono::nanoseconds limit() const override { return std::chrono::seconds(30); }
  bool send(std::string_view bytes, std::uint32_t destination, std::chrono::nanoseconds /*patience*/) override {
    office_.longest = bytes.size() > office_.longest ? bytes.size() : office_.longest;
    office_.letters[{rank_, destination}].emplace_back(bytes);
    return true;
  }
  std::optional<std::string> receive(std::uint32_t from, std::chrono::nanoseconds /*patience*/) override {
    const auto found = office_.letters.find({from, rank_});
    if (found == office_.letters.end() || found->second.empty()) return std::nullopt;
    std::string bytes = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) office_.letters.erase(found);
    return bytes;
  }

 private:
  post_office& office_;
  std::uint32_t rank_, size_;
};

}  // namespace simulated

#endif
