// What it takes to merge the profiles of many ranks, all of them simulated by two threads: rank_merge RANKS [linear].
//
// Each rank has 200 regions of its own, made up anew when its turn comes. The higher half of the ranks is merged by one
// thread, the lower half by the other, each from its highest rank on, so that a few messages wait at a time. With
// `linear`, they are then merged one after another, which must come to the same bytes.
#include <sys/resource.h>

#include <adaptyst/profile.hpp>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "merge/rank_merge.hpp"

namespace {

namespace lib = adaptyst::lib;
using adaptyst::profile;

constexpr std::uint32_t regions = 200, ranks_per_node = 64;

std::string node_name(std::uint32_t rank) { return "simulated" + std::to_string(rank / ranks_per_node); }

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 31U) * 0x94d049bb133111eb;
  return x ^ x >> 29U;
}

// Four levels of nesting, ten files, a payload in every fourth region, durations of a log-normal distribution.
profile make_profile() {
  profile made;
  made.engine = "inline";
  made.mechanism = "simulated ranks";
  made.devices.resize(1);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[0].name = "host";
  std::vector<std::string> path;
  for (std::uint32_t at = 0; at != regions; ++at) {
    path.resize(at % 4);
    path.push_back("region number " + std::to_string(at));
    adaptyst::region row;
    row.path = path;
    row.id = mix(at + 1);
    row.parent = at % 4 == 0 ? 0 : mix(at);
    row.site = {"source/physics/part" + std::to_string(at / 20) + ".cpp", 10 + at,
                "void physics::advance_" + std::to_string(at) + "(physics::grid&, double)"};
    row.threads = 1;
    row.overhead_ns = 0;
    made.regions.push_back(std::move(row));
  }
  adaptyst::process_info process;
  process.command = "/home/somebody/bin/solver";
  process.duration_ns = 100'000'000'000;
  process.threads = 1;
  made.processes.push_back(std::move(process));
  return made;
}

void become(profile& profile, std::uint32_t rank) {
  profile.accounting.begun = profile.accounting.ended = 0;
  for (std::uint32_t at = 0; at != regions; ++at) {
    adaptyst::region& row = profile.regions[at];
    std::uint64_t random = mix((std::uint64_t{rank} << 20U) + at + 1);
    row.durations = {};
    row.count = 0;
    row.total_ns = 0;
    row.min_ns = ~std::uint64_t{0};
    row.max_ns = 0;
    for (unsigned group = 0; group != 6; ++group) {
      random = mix(random + group + 1);
      // The sum of three is nearly normal.
      const double normal =
          static_cast<double>((random & 0xffff) + (random >> 16U & 0xffff) + (random >> 32U & 0xffff)) / 65536 - 1.5;
      // The longest first, so that the histogram has its size at once.
      const double of_group = normal + (group == 0 ? 1 : 0);
      const auto duration = static_cast<std::uint64_t>(std::exp(9.0 + at % 7 + of_group * (0.5 + at % 4 * 0.5)));
      const std::uint64_t times = 1 + (random >> 56U);
      row.durations.add(duration, times);
      row.count += times;
      row.total_ns += duration * times;
      row.min_ns = std::min(row.min_ns, duration);
      row.max_ns = std::max(row.max_ns, duration);
    }
    row.self_ns = row.total_ns / 3;
    row.per_thread = adaptyst::thread_spread{1, row.self_ns, row.self_ns, row.self_ns};
    row.overhead_ns = 12.5 * static_cast<double>(row.count);
    if (at % 4 == 0) row.attributes["bytes"] = {row.count, 1e6 * static_cast<double>(row.count), 5e5, 2e6, 0};
    profile.accounting.begun += row.count;
    profile.accounting.ended += row.count;
  }
  profile.processes[0].pid = 1000 + rank % ranks_per_node;
  profile.processes[0].host = node_name(rank);
  profile.processes[0].rank = rank;
}

class post_office {
 public:
  void put(std::uint32_t from, std::uint32_t destination, std::string bytes) {
    const std::lock_guard alone(lock_);
    longest_ = std::max(longest_, bytes.size());
    letters_[{from, destination}].push_back(std::move(bytes));
    came_.notify_all();
  }
  std::string take(std::uint32_t from, std::uint32_t destination) {
    std::unique_lock alone(lock_);
    came_.wait(alone, [&] { return letters_.count({from, destination}) != 0; });
    const auto found = letters_.find({from, destination});
    std::string bytes = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) letters_.erase(found);
    return bytes;
  }
  std::size_t take_longest() { return std::exchange(longest_, 0); }

 private:
  std::mutex lock_;
  std::condition_variable came_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::string>> letters_;
  std::size_t longest_ = 0;
};

class post final : public adaptyst::rank_transport {
 public:
  post(post_office& office, std::uint32_t rank, std::uint32_t size) : office_(office), rank_(rank), size_(size) {}
  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::chrono::nanoseconds limit() const override { return std::chrono::seconds(30); }
  bool send(std::string_view bytes, std::uint32_t destination, std::chrono::nanoseconds /*patience*/) override {
    office_.put(rank_, destination, std::string(bytes));
    return true;
  }
  std::optional<std::string> receive(std::uint32_t from, std::chrono::nanoseconds /*patience*/) override {
    return office_.take(from, rank_);
  }

 private:
  post_office& office_;
  std::uint32_t rank_, size_;
};

template <class Step>
void run_ranks(post_office& office, std::uint32_t size, const Step& step) {
  std::uint32_t half = 1;
  while (half * 2 < size) half *= 2;
  const auto run = [&](std::uint32_t begin, std::uint32_t end) {
    profile own = make_profile();
    for (std::uint32_t rank = end; rank-- != begin;) {
      become(own, rank);
      post over(office, rank, size);
      step(own, adaptyst::rank_place{rank, node_name(rank)}, over);
    }
  };
  std::thread higher([&] { run(half, size); });
  run(0, half);
  higher.join();
}

std::string merge_one_by_one(std::uint32_t size) {
  profile own = make_profile();
  std::string all;
  for (std::uint32_t rank = 0; rank != size; ++rank) {
    become(own, rank);
    const std::string message =
        lib::write_message(own, adaptyst::rank_place{rank, node_name(rank)}, lib::short_histograms);
    all = rank == 0 ? message : lib::merge_messages(all, message);
  }
  return all;
}

}  // namespace

int main(int count, char* arguments[]) {
  const auto size = count > 1 ? static_cast<std::uint32_t>(std::atoi(arguments[1])) : 0;
  if (size < 2) return 2;
  const auto begin = std::chrono::steady_clock::now();
  post_office office;
  std::vector<lib::absent_ranks> absent(size);
  std::string core;
  run_ranks(office, size, [&](const profile& own, const adaptyst::rank_place& place, adaptyst::rank_transport& over) {
    if (auto all = lib::reduce_core(own, place, over, absent[place.rank])) core = std::move(*all);
  });
  const std::size_t core_bytes = office.take_longest();
  profile merged = lib::read_message(core);
  const lib::details_plan plan = lib::make_plan(merged, lib::short_histograms);
  run_ranks(office, size, [&](const profile& own, const adaptyst::rank_place& place, adaptyst::rank_transport& over) {
    if (const auto details = lib::reduce_details(own, place, plan, over, absent[place.rank])) details->add_to(merged);
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  if (merged.ranks != size || merged.heat->rows.size() != adaptyst::heat_map::max_rows) return 1;
  if (count > 2 && merge_one_by_one(size) != core) {
    std::fputs("what the tree of simulated ranks made differs from the linear merge\n", stderr);
    return 1;
  }
  std::printf("seconds %.3f\ncore_kib %.2f\ndetails_kib %.1f\npeak_mib %.1f\n", took.count(),
              static_cast<double>(core_bytes) / 1024, static_cast<double>(office.take_longest()) / 1024,
              static_cast<double>(used.ru_maxrss) / 1024);
  return 0;
}
